ikt_add_mpi_test(NAME reference_pca_real LABEL reference SOURCES reference/test_pca_real.c)
