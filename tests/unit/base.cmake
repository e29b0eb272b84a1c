ikt_add_test(NAME unit_select LABEL unit SOURCES unit/test_select.c)
