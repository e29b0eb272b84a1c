ikt_add_script_test(NAME io_whole LABEL io SCRIPT io/test_whole.sh)
