ikt_add_script_test(NAME io_generate_verb LABEL io SCRIPT io/test_generate_verb.sh)
