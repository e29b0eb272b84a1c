ikt_add_mpi_test(NAME reference_objective LABEL reference SOURCES reference/test_objective.c THREADS 1 2)
ikt_add_mpi_test(NAME reference_divergences LABEL reference SOURCES reference/test_divergences.c THREADS 1 2)
ikt_add_mpi_test(NAME reference_whole LABEL reference SOURCES reference/test_whole.c THREADS 1 2)
ikt_add_mpi_test(NAME reference_negative LABEL reference SOURCES reference/test_negative.c RANKS 1 2 3 4 7 THREADS 1 2)
ikt_add_mpi_test(NAME reference_laplacian LABEL reference SOURCES reference/test_laplacian.c RANKS 1 2 3 4 7 THREADS 1 2)
ikt_add_mpi_test(NAME reference_sammon LABEL reference SOURCES reference/test_sammon.c RANKS 1 2 3 7 THREADS 1 2)
ikt_test_executable(laplacian_of_map SOURCES reference/laplacian_of_map.c)
ikt_add_script_test(NAME reference_laplacian_maps LABEL reference SCRIPT reference/test_laplacian_maps.sh
    ARGUMENTS $<TARGET_FILE:laplacian_of_map> PROCESSORS 2 TIMEOUT 900)
