# A program with sanitizers does not run under valgrind.
if(NOT IKT_SANITIZE)
    ikt_test_executable(lose SOURCES support/lose.c)
    ikt_add_script_test(NAME fault_leaks LABEL fault TIMEOUT 400 SCRIPT fault/leaks.sh)
endif()
