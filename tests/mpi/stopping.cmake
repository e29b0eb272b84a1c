ikt_add_mpi_test(NAME mpi_stopping LABEL mpi SOURCES mpi/test_stopping.c)
