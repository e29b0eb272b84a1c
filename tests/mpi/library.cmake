ikt_add_mpi_test(NAME mpi_row_blocks LABEL mpi SOURCES mpi/test_row_blocks.c)
ikt_add_mpi_test(NAME mpi_library LABEL mpi SOURCES mpi/test_library.c)
ikt_add_mpi_test(NAME mpi_library_data LABEL mpi SOURCES mpi/test_library_data.c)
ikt_add_mpi_test(NAME mpi_library_maps LABEL mpi SOURCES mpi/test_library_maps.c)
