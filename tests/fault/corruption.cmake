# Verbs are of the program, not of the library, so the test brings them along.
set(ikt_verb_sources ${IKT_APP_SOURCES})
list(FILTER ikt_verb_sources EXCLUDE REGEX "/main\\.c$")
ikt_test_executable(fault_corruption SOURCES fault/corruption.c ${ikt_verb_sources})
foreach(part tables hdf5 ranks)
    ikt_add_script_test(NAME fault_corruption_${part} LABEL fault TIMEOUT 900
        SCRIPT fault/corruption.sh ARGUMENTS $<TARGET_FILE:fault_corruption> ${part})
endforeach()
ikt_add_script_test(NAME fault_corruption_models LABEL fault TIMEOUT 900
    SCRIPT fault/corruption.sh ARGUMENTS $<TARGET_FILE:fault_corruption> models 15)
ikt_add_script_test(NAME fault_corruption_all_models LABEL fault TIMEOUT 7200
    SCRIPT fault/corruption.sh ARGUMENTS $<TARGET_FILE:fault_corruption> models 400)
set_property(TEST fault_corruption_all_models APPEND PROPERTY LABELS long)
ikt_add_mpi_test(NAME fault_sandbox LABEL fault RANKS 1 SOURCES fault/sandbox.c)
