# Hosts of our own, whose network fails. Cases wait for what the launcher waits for, so they take few processors.
ikt_add_script_test(NAME fault_network LABEL fault TIMEOUT 600 SCRIPT fault/network.sh ARGUMENTS sample)
ikt_add_script_test(NAME fault_network_all LABEL fault TIMEOUT 1800 SCRIPT fault/network.sh ARGUMENTS all)
set_property(TEST fault_network_all APPEND PROPERTY LABELS long)
