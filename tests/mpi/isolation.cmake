# The test itself compares one thread with two on every number of ranks.
ikt_add_mpi_test(NAME mpi_codes LABEL mpi SOURCES mpi/test_codes.c)
ikt_add_mpi_test(NAME mpi_codes_list LABEL mpi SOURCES mpi/test_codes_list.c)
ikt_add_mpi_test(NAME mpi_near_codes LABEL mpi SOURCES mpi/test_near_codes.c THREADS 1 2)
ikt_add_mpi_test(NAME mpi_forest LABEL mpi SOURCES mpi/test_forest.c)
ikt_add_mpi_test(NAME mpi_many_cells LABEL mpi SOURCES mpi/test_many_cells.c)
