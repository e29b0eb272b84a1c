# Benchmarks are programs to run by hand, not tests: numbers need a quiet machine.
if(IKT_BUILD_BENCH)
    ikt_test_executable(bench_codes SOURCES bench/bench_codes.c bench/limits.c)
endif()
