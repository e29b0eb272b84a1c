ikt_add_mpi_test(NAME mpi_kernelsum LABEL mpi SOURCES mpi/test_kernelsum.c THREADS 1 2)
