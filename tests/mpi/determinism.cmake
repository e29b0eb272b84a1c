ikt_add_script_test(NAME mpi_determinism LABEL mpi TIMEOUT 1500 SCRIPT mpi/determinism.sh)
# The same bits where OpenMP starts fewer threads than it is asked for.
ikt_add_script_test(NAME mpi_thread_teams LABEL mpi TIMEOUT 1500 SCRIPT mpi/thread_teams.sh)
