ikt_add_script_test(NAME io_format_table LABEL io SCRIPT io/test_format_table.sh)
