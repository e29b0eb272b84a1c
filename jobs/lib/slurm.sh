# shellcheck shell=bash disable=SC2034
# Slurm, for job.sh. The program itself asks for the end of the job (run.max_time: auto).
# srun must start MPI in a way that MPI knows (srun --mpi=list; mostly SLURM_MPI_TYPE=pmix). Since Slurm
# 22.05 it does not take --cpus-per-task from the job.
ranks=$SLURM_NTASKS
per_node=${SLURM_NTASKS_PER_NODE:-$(((SLURM_NTASKS + SLURM_JOB_NUM_NODES - 1) / SLURM_JOB_NUM_NODES))}
threads=${SLURM_CPUS_PER_TASK:-1}
default_launcher=srun
export SRUN_CPUS_PER_TASK=$threads
export SLURM_WAIT=${SLURM_WAIT:-30} # seconds; a rank that dies ends the job
task=${SLURM_ARRAY_TASK_ID:-}
tasks=${SLURM_ARRAY_TASK_COUNT:-}
restarts=${SLURM_RESTART_COUNT:-0}

time_left() { :; }

queue_again() { # of an array this task alone
    if [ -n "${SLURM_ARRAY_JOB_ID:-}" ]; then
        scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
    else
        scontrol requeue "$SLURM_JOB_ID"
    fi
    exit 75
}
