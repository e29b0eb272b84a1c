ikt_add_test(NAME unit_select LABEL unit SOURCES unit/test_select.c)
ikt_add_test(NAME unit_exp_lanes LABEL unit SOURCES unit/test_exp_lanes.c)
ikt_add_test(NAME unit_memory_limit LABEL unit SOURCES unit/test_memory_limit.c)
ikt_add_test(NAME unit_single LABEL unit SOURCES unit/test_single.c)
