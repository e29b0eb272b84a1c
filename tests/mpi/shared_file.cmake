ikt_add_mpi_test(NAME mpi_shared_file LABEL mpi SOURCES mpi/test_shared_file.c RANKS 1 3)
