ikt_add_test(NAME unit_float_text LABEL unit SOURCES unit/test_float_text.c)
ikt_add_test(NAME unit_procrustes LABEL unit SOURCES unit/test_procrustes.c)
