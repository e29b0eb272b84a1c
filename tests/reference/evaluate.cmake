ikt_add_mpi_test(NAME reference_measures LABEL reference SOURCES reference/test_measures.c THREADS 1 2)
