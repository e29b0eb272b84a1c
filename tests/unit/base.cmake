ikt_add_test(NAME unit_select LABEL unit SOURCES unit/test_select.c)
ikt_add_test(NAME unit_exp_lanes LABEL unit SOURCES unit/test_exp_lanes.c)
ikt_add_test(NAME unit_memory_limit LABEL unit SOURCES unit/test_memory_limit.c)
ikt_add_test(NAME unit_control_group LABEL unit SOURCES unit/test_control_group.c)
ikt_add_test(NAME unit_waiting LABEL unit SOURCES unit/test_waiting.c)
# Without what the other tests are told: how threads wait is what is tested.
set_tests_properties(unit_waiting PROPERTIES ENVIRONMENT "IKT_TEST_RANKS=1")
ikt_add_test(NAME unit_single LABEL unit SOURCES unit/test_single.c)
