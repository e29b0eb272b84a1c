ikt_add_script_test(NAME fault_bad_input LABEL fault TIMEOUT 300 SCRIPT fault/bad_input.sh)
