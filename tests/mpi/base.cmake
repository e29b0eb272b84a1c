ikt_add_mpi_test(NAME mpi_base LABEL mpi SOURCES mpi/test_base.c)
ikt_add_mpi_test(NAME mpi_traffic LABEL mpi SOURCES mpi/test_traffic.c)
ikt_add_mpi_test(NAME mpi_log LABEL mpi SOURCES mpi/test_log.c)
