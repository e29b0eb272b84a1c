ikt_add_mpi_test(NAME mpi_new_objective LABEL mpi SOURCES mpi/test_new_objective.c)
ikt_add_mpi_test(NAME mpi_layout_keys LABEL mpi SOURCES mpi/test_layout_keys.c RANKS 1 3)
ikt_add_mpi_test(NAME mpi_components LABEL mpi SOURCES mpi/test_components.c)
