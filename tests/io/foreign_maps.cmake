ikt_add_script_test(NAME io_foreign_maps LABEL io TIMEOUT 400 SCRIPT io/test_foreign_maps.sh)
