# shellcheck shell=bash disable=SC2034
# Grid Engine (Sun's, Son of, Altair's), for job.sh. A slot is a core; lines of $PE_HOSTFILE begin with
# "HOST SLOTS". Without a parallel environment the job has one core.
default_launcher=mpirun
mpi_component=gridengine
if [ -r "${PE_HOSTFILE:-}" ]; then
    hosts_of_cores <"$PE_HOSTFILE"
else
    hosts_of_cores <<<"$(uname -n) 1"
fi
if [[ "${SGE_TASK_ID:-undefined}" =~ ^[0-9]+$ ]]; then
    task=$SGE_TASK_ID
    tasks=$((SGE_TASK_LAST - SGE_TASK_FIRST + 1))
fi

time_left() { # h_rt is seconds, whatever form it had
    qstat -j "$JOB_ID" 2>/dev/null | sed -n 's/^hard resource_list:.*h_rt=\([0-9]*\).*/\1/p' |
        awk -v here="$SECONDS" '{ print ($1 > here ? $1 - here : 0) }'
}

queue_again() { exit 99; } # Grid Engine queues a job again that ends so
