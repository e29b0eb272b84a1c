ikt_add_mpi_test(NAME mpi_graph LABEL mpi SOURCES mpi/test_graph.c)
