ikt_add_mpi_test(NAME mpi_affinity LABEL mpi SOURCES mpi/test_affinity.c)
ikt_add_mpi_test(NAME mpi_fuzzy LABEL mpi SOURCES mpi/test_fuzzy.c)
ikt_add_mpi_test(NAME mpi_fisher LABEL mpi SOURCES mpi/test_fisher.c)
ikt_add_mpi_test(NAME mpi_fisher_labels LABEL mpi SOURCES mpi/test_fisher_labels.c)
