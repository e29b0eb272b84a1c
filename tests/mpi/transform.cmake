ikt_add_mpi_test(NAME mpi_transform LABEL mpi SOURCES mpi/test_transform.c THREADS 1 2)
