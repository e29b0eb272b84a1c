ikt_add_script_test(NAME fault_checkpoint LABEL fault TIMEOUT 900 SCRIPT fault/checkpoint.sh)
ikt_add_script_test(NAME fault_kill LABEL fault TIMEOUT 900 SCRIPT fault/kill.sh)
