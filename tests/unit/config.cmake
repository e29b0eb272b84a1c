ikt_add_test(NAME unit_config_parse LABEL unit SOURCES unit/test_config_parse.c)
ikt_add_test(NAME unit_config_print LABEL unit SOURCES unit/test_config_print.c)
ikt_add_test(NAME unit_config_fuzz LABEL unit SOURCES unit/test_config_fuzz.c)
# Options and JSON are of the program, not of the library, so the test brings them along.
file(GLOB ikt_help_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/app/help*.c)
ikt_add_test(NAME unit_config_options LABEL unit SOURCES unit/test_config_options.c
    ${PROJECT_SOURCE_DIR}/src/app/option.c ${PROJECT_SOURCE_DIR}/src/app/json.c
    ${PROJECT_SOURCE_DIR}/src/app/examples.c ${PROJECT_SOURCE_DIR}/src/app/overview.c
    ${ikt_help_sources})
ikt_add_mpi_test(NAME mpi_config_load LABEL mpi SOURCES unit/test_config_load.c)
