ikt_add_script_test(NAME io_doubtful LABEL io TIMEOUT 240 SCRIPT io/test_doubtful.sh)
