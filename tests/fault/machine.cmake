add_library(no_room MODULE ${CMAKE_CURRENT_SOURCE_DIR}/support/no_room.c)
ikt_add_script_test(NAME fault_disk LABEL fault TIMEOUT 300 SCRIPT fault/disk.sh)
