ikt_add_mpi_test(NAME reference_kernelsum LABEL reference SOURCES reference/test_kernelsum.c RANKS 1)
