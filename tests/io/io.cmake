ikt_add_mpi_test(NAME io_binary LABEL io RANKS 1 SOURCES io/test_io_binary.c)
ikt_add_mpi_test(NAME io_csv LABEL io RANKS 1 SOURCES io/test_io_csv.c)
