ikt_add_mpi_test(NAME mpi_stopping LABEL mpi SOURCES mpi/test_stopping.c)
ikt_add_mpi_test(NAME mpi_stopping_at_once LABEL mpi SOURCES mpi/test_stopping_at_once.c)
