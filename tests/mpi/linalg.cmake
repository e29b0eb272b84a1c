ikt_add_mpi_test(NAME mpi_pca LABEL mpi SOURCES mpi/test_pca.c)
ikt_add_mpi_test(NAME mpi_normalise LABEL mpi SOURCES mpi/test_normalise.c)
ikt_add_mpi_test(NAME mpi_dataset LABEL mpi SOURCES mpi/test_dataset.c)
ikt_add_mpi_test(NAME mpi_automatic LABEL mpi SOURCES mpi/test_automatic.c)
