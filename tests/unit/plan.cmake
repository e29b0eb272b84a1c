ikt_add_test(NAME unit_plan LABEL unit SOURCES unit/test_plan.c)
ikt_add_test(NAME unit_recommend LABEL unit SOURCES unit/test_recommend.c)
