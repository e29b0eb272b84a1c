ikt_add_mpi_test(NAME io_binary LABEL io RANKS 1 SOURCES io/test_io_binary.c)
ikt_add_mpi_test(NAME io_csv LABEL io RANKS 1 SOURCES io/test_io_csv.c)
ikt_add_mpi_test(NAME io_source LABEL io SOURCES io/test_io_source.c)
ikt_add_mpi_test(NAME io_table LABEL io SOURCES io/test_io_table.c)
