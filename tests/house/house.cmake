ikt_add_script_test(NAME house_rules LABEL unit SCRIPT house/check.sh)
ikt_add_script_test(NAME house_symbols LABEL unit SCRIPT house/symbols.sh
    ARGUMENTS $<TARGET_FILE:ikt_internal> ${PROJECT_BINARY_DIR}/CMakeFiles/iktsne_program.dir)
