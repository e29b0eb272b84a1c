ikt_test_executable(write_h5 SOURCES support/write_h5.c)
ikt_add_script_test(NAME fault_bad_input LABEL fault TIMEOUT 300 SCRIPT fault/bad_input.sh)
ikt_add_script_test(NAME fault_input_files LABEL fault TIMEOUT 400 SCRIPT fault/input_files.sh)
