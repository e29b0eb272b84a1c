# Hosts of our own, whose network fails. Cases say how long a job may take to end: nothing runs beside them.
ikt_add_script_test(NAME fault_network LABEL fault TIMEOUT 600 SCRIPT fault/network.sh ARGUMENTS sample)
ikt_add_script_test(NAME fault_network_all LABEL fault TIMEOUT 1800 SCRIPT fault/network.sh ARGUMENTS all)
set_property(TEST fault_network_all APPEND PROPERTY LABELS long)
set_tests_properties(fault_network fault_network_all PROPERTIES RUN_SERIAL TRUE)
