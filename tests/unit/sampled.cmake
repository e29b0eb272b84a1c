ikt_add_test(NAME unit_triplet LABEL unit SOURCES unit/test_triplet.c)
ikt_add_test(NAME unit_scales LABEL unit SOURCES unit/test_scales.c)
ikt_add_test(NAME unit_delta_bar_delta LABEL unit SOURCES unit/test_delta_bar_delta.c)
ikt_add_test(NAME unit_descent LABEL unit SOURCES unit/test_descent.c)
