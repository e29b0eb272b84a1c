ikt_add_mpi_test(NAME mpi_generate_file LABEL mpi SOURCES mpi/test_generate_file.c)
