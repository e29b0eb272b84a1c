ikt_add_mpi_test(NAME mpi_affinity LABEL mpi SOURCES mpi/test_affinity.c)
