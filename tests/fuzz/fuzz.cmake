# The fuzzers, a minute each, or IKT_FUZZ_SECONDS of the environment. They are built by a test, because they
# need another compiler; where there is none, all of them are skipped with a message.
set(ikt_fuzz_folder ${PROJECT_BINARY_DIR}/fuzz)
ikt_add_script_test(NAME fuzz_build LABEL fuzz TIMEOUT 600 SCRIPT fuzz/build.sh
    ARGUMENTS ${ikt_fuzz_folder})
set_tests_properties(fuzz_build PROPERTIES FIXTURES_SETUP fuzzers)
foreach(parser config study idx npy npz csv libsvm mtx ranges safetensors)
    add_test(NAME fuzz_${parser}
        COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/run.sh ${ikt_fuzz_folder} ${parser})
    ikt_test_properties(fuzz_${parser} fuzz 1 1 3600)
    set_tests_properties(fuzz_${parser} PROPERTIES FIXTURES_REQUIRED fuzzers)
endforeach()
