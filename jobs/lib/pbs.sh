# shellcheck shell=bash disable=SC2034
# PBS Professional and OpenPBS, for job.sh. $PBS_NODEFILE names the host of each rank (mpiprocs of
# select), OMP_NUM_THREADS is ompthreads of select.
mapfile -t hosts < <(awk '!($1 in count) { name[++n] = $1 } { count[$1]++ }
    END { for (i = 1; i <= n; i++) print name[i] ":" count[name[i]] }' "$PBS_NODEFILE")
per_node=$(printf '%s\n' "${hosts[@]##*:}" | sort -n | head -n 1)
ranks=$((per_node * ${#hosts[@]})) # nodes alike: PBS may place chunks otherwise without place=scatter
threads=${OMP_NUM_THREADS:-1}
default_launcher=mpirun
mpi_component=tm
task=${PBS_ARRAY_INDEX:-}
restarts=${IKT_RESTARTED:-0}

# NAME of what PBS knows of a job, this one by default.
attribute() { qstat -f -w "${2:-$PBS_JOBID}" 2>/dev/null | sed -n "s/^ *$1 = //p"; }

# 1-6 or 1-6:1, of the whole array: number[7] is a job of number[].
if [ -n "$task" ]; then
    tasks=$(attribute array_indices_submitted "${PBS_JOBID%%\[*}[]" |
        sed -n 's/^\([0-9]*\)-\([0-9]*\)\(:1\)\{0,1\}$/\1 \2/p' | awk '{ print $2 - $1 + 1 }')
fi

time_left() {
    local limit used
    limit=$(attribute Resource_List.walltime)
    used=$(attribute resources_used.walltime)
    awk -F: -v limit="$limit" -v used="${used:-0:0:0}" -v here="$SECONDS" 'BEGIN {
        if (split(limit, l) != 3) exit
        split(used, u)
        used = 3600 * u[1] + 60 * u[2] + u[3] # which PBS renews now and then
        left = 3600 * l[1] + 60 * l[2] + l[3] - (used > here ? used : here)
        print (left > 0 ? left : 0) }'
}

# qrerun is for operators only: a job like this one is submitted in its place. PBS gives scripts no
# arguments, so that the last word of its command is the script.
queue_again() {
    local options=() option name value script names
    for option in N=Job_Name q=queue P=project A=Account_Name; do
        value=$(attribute "${option#*=}")
        [ -z "$value" ] || [ "$value" = _pbs_project_default ] || options+=("-${option%%=*}" "$value")
    done
    for name in select place walltime; do
        value=$(attribute "Resource_List.$name")
        [ -z "$value" ] || options+=(-l "$name=$value")
    done
    script=$(attribute Submit_arguments)
    script=${script##* }
    export IKT_RESTARTED=$((restarts + 1))
    names=$(compgen -e IKT_ | paste -sd,)
    (cd "$PBS_O_WORKDIR" && qsub "${options[@]}" -v "$names" "$script") ||
        echo "iktsne job: the next job could not be submitted; the same command goes on later" >&2
    exit 75
}
