ikt_add_script_test(NAME io_info LABEL io SCRIPT io/test_info.sh)
