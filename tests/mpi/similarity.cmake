ikt_add_mpi_test(NAME mpi_kernel_map LABEL mpi SOURCES mpi/test_kernel_map.c)
