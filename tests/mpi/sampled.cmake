ikt_add_mpi_test(NAME mpi_pool LABEL mpi SOURCES mpi/test_pool.c)
ikt_add_mpi_test(NAME mpi_trimap LABEL mpi SOURCES mpi/test_trimap.c THREADS 1 2)
ikt_add_mpi_test(NAME mpi_trimap_graph LABEL mpi SOURCES mpi/test_trimap_graph.c THREADS 1 2)
ikt_add_mpi_test(NAME mpi_negative_runs LABEL mpi SOURCES mpi/test_negative_runs.c)
