ikt_add_script_test(NAME io_log LABEL io TIMEOUT 240 SCRIPT io/test_log.sh)
