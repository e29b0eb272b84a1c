ikt_add_mpi_test(NAME unit_measure_tree LABEL unit SOURCES unit/test_measure_tree.c RANKS 1 THREADS 1 2)
