ikt_add_mpi_test(NAME mpi_kernel_map LABEL mpi SOURCES mpi/test_kernel_map.c)
ikt_add_mpi_test(NAME mpi_discriminant LABEL mpi SOURCES mpi/test_discriminant.c)
ikt_add_mpi_test(NAME mpi_definite LABEL mpi SOURCES mpi/test_definite.c)
