if(IKT_SANITIZE STREQUAL "thread")
    ikt_test_executable(races SOURCES support/races.c)
    ikt_add_script_test(NAME fault_races LABEL fault SCRIPT fault/races.sh)
endif()
