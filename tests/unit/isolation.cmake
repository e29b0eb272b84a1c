ikt_add_test(NAME unit_similarity LABEL unit SOURCES unit/test_similarity.c)
ikt_add_test(NAME unit_isolation_model LABEL unit SOURCES unit/test_isolation_model.c)
ikt_add_test(NAME unit_centre_table LABEL unit SOURCES unit/test_centre_table.c)
