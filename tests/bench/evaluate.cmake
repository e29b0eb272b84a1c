if(IKT_BUILD_BENCH)
    ikt_test_executable(bench_measures SOURCES bench/bench_measures.c)
endif()
