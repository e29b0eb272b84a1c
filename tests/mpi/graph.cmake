ikt_add_mpi_test(NAME mpi_graph LABEL mpi SOURCES mpi/test_graph.c)
ikt_add_mpi_test(NAME mpi_graph_rows LABEL mpi SOURCES mpi/test_graph_rows.c)
ikt_add_mpi_test(NAME mpi_mirror LABEL mpi SOURCES mpi/test_mirror.c THREADS 1 2)
ikt_add_mpi_test(NAME mpi_uniform_p LABEL mpi SOURCES mpi/test_uniform_p.c)
