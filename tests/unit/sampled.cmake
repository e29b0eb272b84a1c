ikt_add_test(NAME unit_triplet LABEL unit SOURCES unit/test_triplet.c)
