ikt_add_script_test(NAME io_dimensions LABEL io SCRIPT io/test_dimensions.sh)
