ikt_add_script_test(NAME io_fisher LABEL io TIMEOUT 400 SCRIPT io/test_fisher.sh)
ikt_add_script_test(NAME io_held_out LABEL io TIMEOUT 300 SCRIPT io/test_held_out.sh)
