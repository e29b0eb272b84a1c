ikt_add_mpi_test(NAME mpi_kernelsum LABEL mpi SOURCES mpi/test_kernelsum.c THREADS 1 2)
ikt_add_mpi_test(NAME mpi_tree LABEL mpi SOURCES mpi/test_tree.c THREADS 1 2)
ikt_add_mpi_test(NAME mpi_charges LABEL mpi SOURCES mpi/test_charges.c THREADS 1 2)
