if(IKT_BUILD_BENCH)
    ikt_test_executable(bench_repulsion SOURCES bench/bench_repulsion.c)
    ikt_test_executable(bench_tree SOURCES bench/bench_tree.c)
endif()
