# The scripts of jobs/ for schedulers other than Slurm. Grid Engine and Flux: one that the test starts, where its
# programs are installed. PBS and LSF: standin.sh.
foreach(scheduler pbs lsf sge flux)
    ikt_add_script_test(NAME schedulers_${scheduler} LABEL slurm TIMEOUT 240 SCRIPT schedulers/jobs.sh
        ARGUMENTS ${scheduler})
endforeach()
ikt_add_script_test(NAME schedulers_scripts LABEL slurm SCRIPT schedulers/scripts.sh)
