ikt_add_script_test(NAME slurm_jobs LABEL slurm TIMEOUT 400 SCRIPT slurm/jobs.sh)
# It waits more than it works: others may run beside it.
set_tests_properties(slurm_jobs PROPERTIES PROCESSORS 1)
