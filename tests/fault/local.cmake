ikt_add_script_test(NAME fault_local_launcher LABEL fault TIMEOUT 240 SCRIPT fault/local.sh)
ikt_add_script_test(NAME fault_together LABEL fault TIMEOUT 240 SCRIPT fault/together.sh)
ikt_add_script_test(NAME fault_same_output LABEL fault SCRIPT fault/same_output.sh)
