ikt_add_mpi_test(NAME unit_halves LABEL unit RANKS 1 SOURCES unit/test_halves.c)
ikt_add_mpi_test(NAME unit_segment LABEL unit RANKS 1 SOURCES unit/test_segment.c)
ikt_add_mpi_test(NAME unit_segment_same LABEL unit RANKS 1 SOURCES unit/test_segment_same.c)
