ikt_add_mpi_test(NAME reference_measures LABEL reference SOURCES reference/test_measures.c THREADS 1 2)
ikt_add_mpi_test(NAME reference_map_measures LABEL reference SOURCES reference/test_map_measures.c THREADS 1 2)
ikt_add_mpi_test(NAME reference_input_measures LABEL reference SOURCES reference/test_input_measures.c THREADS 1 2)
