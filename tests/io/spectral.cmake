ikt_add_script_test(NAME io_spectral LABEL io TIMEOUT 400 SCRIPT io/test_spectral.sh)
