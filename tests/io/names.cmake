ikt_add_script_test(NAME io_names LABEL io SCRIPT io/test_names.sh)
