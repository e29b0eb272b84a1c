ikt_add_script_test(NAME io_plan LABEL io TIMEOUT 900 PROCESSORS 2 SCRIPT io/test_plan_verb.sh)
# It measures the machine: nothing runs beside it.
set_tests_properties(io_plan PROPERTIES RUN_SERIAL TRUE)
ikt_add_script_test(NAME io_plan_memory LABEL io TIMEOUT 900 PROCESSORS 4 SCRIPT
                    io/test_plan_memory.sh)
