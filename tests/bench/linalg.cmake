if(IKT_BUILD_BENCH)
    ikt_test_executable(bench_distance SOURCES bench/bench_distance.c)
    ikt_test_executable(bench_pca SOURCES bench/bench_pca.c)
endif()
