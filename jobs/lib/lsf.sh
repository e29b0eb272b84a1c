# shellcheck shell=bash disable=SC2034
# LSF, for job.sh. A slot is a core; $LSB_MCPU_HOSTS is "HOST SLOTS HOST SLOTS ...".
default_launcher=mpirun
mpi_component=lsf
hosts_of_cores < <(xargs -n 2 <<<"$LSB_MCPU_HOSTS")
if [ "${LSB_JOBINDEX:-0}" -gt 0 ]; then
    task=$LSB_JOBINDEX
    tasks=${LSB_JOBINDEX_END:-}
fi

# "3:59 L": hours and minutes, by the limit (L) or by an estimate (E).
time_left() {
    bjobs -noheader -o time_left "$LSB_JOBID${task:+[$task]}" 2>/dev/null |
        sed -n 's/^ *\([0-9]*\):\([0-9]*\) L.*/\1 \2/p' | awk '{ print 3600 * $1 + 60 * $2 }'
}

queue_again() { exit 75; } # LSF does it: #BSUB -Q 75
