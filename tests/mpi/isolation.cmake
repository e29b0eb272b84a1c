ikt_add_mpi_test(NAME mpi_codes LABEL mpi SOURCES mpi/test_codes.c THREADS 1 2)
