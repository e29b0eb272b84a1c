ikt_add_mpi_test(NAME mpi_pca LABEL mpi SOURCES mpi/test_pca.c)
