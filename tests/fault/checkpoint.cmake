ikt_add_script_test(NAME fault_checkpoint LABEL fault TIMEOUT 900 SCRIPT fault/checkpoint.sh)
ikt_add_script_test(NAME fault_changed_inputs LABEL fault TIMEOUT 600 SCRIPT fault/changed_inputs.sh)
ikt_add_script_test(NAME fault_kill LABEL fault TIMEOUT 900 SCRIPT fault/kill.sh)
ikt_add_script_test(NAME fault_long_path LABEL fault TIMEOUT 240 SCRIPT fault/long_path.sh)
