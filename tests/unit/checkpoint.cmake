ikt_add_mpi_test(NAME unit_time_limit LABEL unit RANKS 1 SOURCES unit/test_time_limit.c)
ikt_add_test(NAME unit_checkpoint LABEL unit SOURCES unit/test_checkpoint.c)
