ikt_add_script_test(NAME io_plan LABEL io TIMEOUT 900 PROCESSORS 2 SCRIPT io/test_plan_verb.sh)
