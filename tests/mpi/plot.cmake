ikt_add_mpi_test(NAME mpi_plot LABEL mpi SOURCES mpi/test_plot.c)
