ikt_add_script_test(NAME mpi_determinism LABEL mpi TIMEOUT 700 SCRIPT mpi/determinism.sh)
