ikt_add_script_test(NAME mpi_determinism LABEL mpi TIMEOUT 400 SCRIPT mpi/determinism.sh)
