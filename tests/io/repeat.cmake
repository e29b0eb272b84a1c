ikt_add_script_test(NAME io_repeat LABEL io TIMEOUT 300 SCRIPT io/test_repeat.sh)
