ikt_add_script_test(NAME io_without_mpi LABEL io SCRIPT io/test_without_mpi.sh)
