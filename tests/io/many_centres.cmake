ikt_add_script_test(NAME io_many_centres LABEL io TIMEOUT 300 SCRIPT io/test_many_centres.sh)
