ikt_add_mpi_test(NAME reference_field LABEL reference SOURCES reference/test_field.c RANKS 1 THREADS 1 2)
ikt_add_mpi_test(NAME reference_placing LABEL reference SOURCES reference/test_placing.c RANKS 1 THREADS 1 2)
ikt_add_mpi_test(NAME reference_triplet_placing LABEL reference SOURCES reference/test_triplet_placing.c RANKS 1 THREADS 1 2)
ikt_add_script_test(NAME reference_trimap_transform LABEL reference TIMEOUT 300 SCRIPT reference/test_trimap_transform.sh PROCESSORS 2)
