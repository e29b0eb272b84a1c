ikt_add_mpi_test(NAME mpi_curve LABEL mpi SOURCES mpi/test_curve.c)
