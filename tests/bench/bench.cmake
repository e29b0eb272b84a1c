# Hot paths beside the machine's limits: `cmake --build build/release --target bench`. Numbers need
# a quiet machine, so only the test that it all works is run with the other tests.
if(IKT_BUILD_BENCH)
    set(ikt_bench_sources harness limits scene report path_machine path_codes path_lists path_trees path_pairs
        path_graph path_negatives path_triplets path_map path_charges path_rows path_ranks)
    list(TRANSFORM ikt_bench_sources PREPEND bench/)
    list(TRANSFORM ikt_bench_sources APPEND .c)
    ikt_test_executable(bench_paths SOURCES bench/bench.c ${ikt_bench_sources}
        ${PROJECT_SOURCE_DIR}/src/app/json.c)
    # FFTW's own transforms use as many threads as ours where its library for that is there.
    find_library(IKT_FFTW_THREADS NAMES fftw3f_omp fftw3f_threads)
    if(IKT_FFTW_THREADS)
        target_link_libraries(bench_paths PRIVATE ${IKT_FFTW_THREADS})
        target_compile_definitions(bench_paths PRIVATE IKT_BENCH_FFTW_THREADS)
    endif()

    list(JOIN IKT_MPIEXEC_FLAGS " " ikt_bench_flags)
    add_custom_target(bench
        COMMAND ${CMAKE_COMMAND} -E env "IKT_BENCH=$<TARGET_FILE:bench_paths>"
            "IKT_MPIRUN=${MPIEXEC_EXECUTABLE} ${ikt_bench_flags} ${MPIEXEC_NUMPROC_FLAG}"
            bash ${PROJECT_SOURCE_DIR}/scripts/bench.sh ${PROJECT_BINARY_DIR}/bench
        DEPENDS bench_paths USES_TERMINAL VERBATIM)

    ikt_add_script_test(NAME bench_works LABEL unit SCRIPT bench/check_bench.sh
        ARGUMENTS $<TARGET_FILE:bench_paths>)
endif()
