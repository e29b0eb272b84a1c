ikt_add_script_test(NAME io_settings LABEL io SCRIPT io/test_settings.sh)
