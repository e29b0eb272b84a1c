ikt_add_mpi_test(NAME mpi_order LABEL mpi SOURCES mpi/test_order.c)
ikt_add_mpi_test(NAME mpi_search LABEL mpi SOURCES mpi/test_search.c)
