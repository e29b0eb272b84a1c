if(IKT_BUILD_BENCH)
    ikt_test_executable(bench_attraction SOURCES bench/bench_attraction.c)
endif()
