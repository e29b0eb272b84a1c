ikt_add_mpi_test(NAME reference_kernelsum LABEL reference SOURCES reference/test_kernelsum.c THREADS 1 2)
