ikt_add_mpi_test(NAME mpi_structure LABEL mpi SOURCES mpi/test_structure.c)
