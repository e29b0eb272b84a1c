ikt_add_test(NAME unit_plan LABEL unit SOURCES unit/test_plan.c)
