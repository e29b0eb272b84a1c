ikt_add_mpi_test(NAME mpi_laplacian LABEL mpi SOURCES mpi/test_laplacian.c RANKS 1 2 3 4 7 THREADS 1 2)
ikt_add_mpi_test(NAME mpi_batch LABEL mpi SOURCES mpi/test_batch.c RANKS 1 2 3 4 7 THREADS 1 2)
