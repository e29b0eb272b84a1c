ikt_add_mpi_test(NAME mpi_sparse LABEL mpi SOURCES mpi/test_sparse.c)
