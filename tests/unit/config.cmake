ikt_add_test(NAME unit_hints LABEL unit SOURCES unit/test_hints.c)
ikt_add_test(NAME unit_config_parse LABEL unit SOURCES unit/test_config_parse.c)
ikt_add_test(NAME unit_config_print LABEL unit SOURCES unit/test_config_print.c)
ikt_add_test(NAME unit_config_fuzz LABEL unit SOURCES unit/test_config_fuzz.c)
ikt_add_test(NAME unit_config_options LABEL unit SOURCES unit/test_config_options.c
    ${PROJECT_SOURCE_DIR}/src/app/json.c ${ikt_option_sources})
ikt_add_mpi_test(NAME mpi_config_load LABEL mpi SOURCES unit/test_config_load.c)
