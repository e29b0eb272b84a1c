ikt_add_mpi_test(NAME mpi_pool LABEL mpi SOURCES mpi/test_pool.c)
