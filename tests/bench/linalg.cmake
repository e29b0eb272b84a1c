if(IKT_BUILD_BENCH)
    ikt_test_executable(bench_pca SOURCES bench/bench_pca.c)
endif()
