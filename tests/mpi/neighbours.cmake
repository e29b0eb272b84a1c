ikt_add_mpi_test(NAME mpi_order LABEL mpi SOURCES mpi/test_order.c)
ikt_add_mpi_test(NAME mpi_search LABEL mpi SOURCES mpi/test_search.c)
ikt_add_mpi_test(NAME mpi_among LABEL mpi SOURCES mpi/test_among.c)
ikt_add_mpi_test(NAME mpi_refine LABEL mpi SOURCES mpi/test_refine.c)
