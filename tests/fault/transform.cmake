ikt_add_script_test(NAME fault_transform LABEL fault TIMEOUT 300 SCRIPT fault/transform.sh)
