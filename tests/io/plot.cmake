# The verb is of the program, not of the library, so the test brings it along.
ikt_add_mpi_test(NAME io_plot_verb LABEL io RANKS 1 3
    SOURCES io/test_plot_verb.c ${PROJECT_SOURCE_DIR}/src/app/verb_plot.c
    ${PROJECT_SOURCE_DIR}/src/app/embedding_file.c
    ${ikt_option_sources})
