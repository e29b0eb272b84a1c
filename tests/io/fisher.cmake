ikt_add_script_test(NAME io_fisher LABEL io TIMEOUT 400 SCRIPT io/test_fisher.sh)
