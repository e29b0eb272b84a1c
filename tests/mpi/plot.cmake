ikt_add_mpi_test(NAME mpi_plot LABEL mpi SOURCES mpi/test_plot.c)
ikt_add_mpi_test(NAME mpi_places LABEL mpi SOURCES mpi/test_places.c)
ikt_add_mpi_test(NAME mpi_view LABEL mpi SOURCES mpi/test_view.c)
