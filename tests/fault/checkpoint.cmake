ikt_add_script_test(NAME fault_checkpoint LABEL fault TIMEOUT 900 SCRIPT fault/checkpoint.sh)
ikt_add_script_test(NAME fault_kill LABEL fault TIMEOUT 900 SCRIPT fault/kill.sh)
# Mostly starts of short runs: others may run beside it.
set_tests_properties(fault_checkpoint PROPERTIES PROCESSORS 1)
