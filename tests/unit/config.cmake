ikt_add_test(NAME unit_config_parse LABEL unit SOURCES unit/test_config_parse.c)
ikt_add_test(NAME unit_config_print LABEL unit SOURCES unit/test_config_print.c)
ikt_add_test(NAME unit_config_fuzz LABEL unit SOURCES unit/test_config_fuzz.c)
