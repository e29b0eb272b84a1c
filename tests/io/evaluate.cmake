ikt_add_script_test(NAME io_evaluate_verb LABEL io SCRIPT io/evaluate_verb.sh)
