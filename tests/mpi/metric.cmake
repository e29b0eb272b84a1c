ikt_add_mpi_test(NAME mpi_metric LABEL mpi SOURCES mpi/test_metric.c)
