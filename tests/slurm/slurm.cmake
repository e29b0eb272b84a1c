ikt_add_script_test(NAME slurm_jobs LABEL slurm TIMEOUT 400 SCRIPT slurm/jobs.sh)
