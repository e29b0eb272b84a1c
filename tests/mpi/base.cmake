ikt_add_mpi_test(NAME mpi_base LABEL mpi SOURCES mpi/test_base.c)
