ikt_add_test(NAME unit_study LABEL unit SOURCES unit/test_study.c)
