ikt_add_test(NAME unit_distance LABEL unit SOURCES unit/test_distance.c)
