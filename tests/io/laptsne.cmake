ikt_add_script_test(NAME io_laptsne LABEL io SCRIPT io/test_laptsne.sh)
