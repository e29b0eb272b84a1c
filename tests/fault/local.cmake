ikt_add_script_test(NAME fault_local_launcher LABEL fault TIMEOUT 240 SCRIPT fault/local.sh)
ikt_add_script_test(NAME fault_together LABEL fault TIMEOUT 240 SCRIPT fault/together.sh)
