ikt_add_script_test(NAME fault_usage LABEL fault TIMEOUT 240 SCRIPT fault/test_usage.sh)
