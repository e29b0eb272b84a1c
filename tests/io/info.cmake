ikt_add_script_test(NAME io_info LABEL io SCRIPT io/test_info.sh)
ikt_add_script_test(NAME io_map_example LABEL io SCRIPT io/test_map_example.sh)
