ikt_add_mpi_test(NAME unit_segment LABEL unit RANKS 1 SOURCES unit/test_segment.c)
