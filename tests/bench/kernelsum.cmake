if(IKT_BUILD_BENCH)
    ikt_test_executable(bench_repulsion SOURCES bench/bench_repulsion.c)
endif()
