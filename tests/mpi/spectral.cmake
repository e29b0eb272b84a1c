ikt_add_mpi_test(NAME mpi_block LABEL mpi SOURCES mpi/test_block.c)
ikt_add_mpi_test(NAME mpi_spectrum LABEL mpi SOURCES mpi/test_spectrum.c)
