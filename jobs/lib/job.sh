# shellcheck shell=bash disable=SC2034,SC2154 # names are shared with lib/SCHEDULER.sh
# What the job scripts of all schedulers have in common; sourced with the name of the scheduler by a
# head of a few lines, in which the scheduler finds nodes, cores and time. lib/SCHEDULER.sh knows what
# differs. It sets
#   ranks, per_node, threads   ranks of the job and of each node; threads of each rank
#   default_launcher           srun, flux or mpirun
#   mpi_component              of an Open MPI that learns the hosts from the scheduler; "": not asked for
#   hosts                      "NAME:RANKS" of each node, for an Open MPI without that component
#   task, tasks                of an array, from 1: the number of this job; how many there are, or ""
#   restarts                   how often the job was queued again; "" where that is not known
# and defines
#   time_left                  prints the seconds that the job has left, or nothing
#   queue_again                puts the job, whose program ended with 75, into the queue again, and exits
#
# In the environment of the job:
#   IKT_ARGS             the arguments, where the scheduler gives none to scripts (PBS, LSF), as a shell reads them
#   IKT_LAUNCH           srun, mpirun (of Open MPI or MPICH), flux, or the words of another launcher: "-n RANKS" follows
#   IKT_RANKS_PER_NODE   where the scheduler counts cores only: ranks of a node; by default its sockets
#   IKT_TIME             seconds until the job's time is up, or none; by default the scheduler is asked
#   IKT_TASK             where the scheduler has no arrays (Flux): the number of this job, from 1
#   IKT_RESTARTS         how often a job may queue itself again, where that can be counted; by default 100
#   IKT_JOBS             the folder of these scripts, where it is neither ./jobs nor that of the program
set -uo pipefail

die() {
    echo "iktsne job: $*" >&2
    exit 2
}

program=$(command -v iktsne) || die "iktsne is not on the PATH of the job: load its module in the script, or submit with the environment"

# Ranks of a node that has so many cores, where the job says only these: one a socket.
ranks_of_cores() {
    local sockets
    sockets=$(lscpu -p=SOCKET 2>/dev/null | grep -v '^#' | sort -u | wc -l)
    sockets=${IKT_RANKS_PER_NODE:-$sockets}
    [ "$sockets" -ge 1 ] || sockets=1
    echo $((sockets < $1 ? sockets : $1))
}

# Ranks, ranks of a node and hosts from "NAME CORES" lines, one a node.
hosts_of_cores() {
    local name cores least='' names=()
    while read -r name cores _; do
        names+=("$name")
        [ -n "$least" ] && [ "$least" -le "$cores" ] || least=$cores
    done
    [ ${#names[@]} -gt 0 ] || die "the scheduler names no hosts"
    per_node=$(ranks_of_cores "$least")
    threads=$((least / per_node))
    ranks=$((per_node * ${#names[@]}))
    for name in "${names[@]}"; do hosts+=("$name:$per_node"); done
}

# MPICH's launcher, which ends at SIGUSR2, and passes SIGTERM on, by which the program stops as well.
is_hydra() { [[ $("$1" --version 2>/dev/null) == *HYDRA* ]]; }

# set_hydra RANKS RANKS-OF-A-NODE: it asks Slurm, PBS, LSF and Grid Engine for the hosts, where they are not given.
set_hydra() {
    stop_signal=TERM
    launch=(mpirun -n "$1" -ppn "$2" -bind-to "core:$threads")
    [ ${#hosts[@]} -eq 0 ] || launch+=(-hosts "$(IFS=,; echo "${hosts[*]}")")
}

# The launcher for so many ranks, on as few nodes as hold them: `launch`.
set_launch() {
    local count=$1 on=$(($1 < per_node ? $1 : per_node)) list
    case ${IKT_LAUNCH:-$default_launcher} in
    srun) launch=(srun --ntasks="$count" --nodes="$(((count + per_node - 1) / per_node))") ;;
    flux) launch=(flux run --ntasks="$count" --nodes="$(((count + per_node - 1) / per_node))"
        --cores-per-task="$threads") ;;
    mpirun) if is_hydra mpirun; then set_hydra "$count" "$on"; return; fi
        # a host that is gone is missed after 25 s; Open MPI would take 8 minutes (docs/cluster.md)
        export OMPI_MCA_oob_tcp_keepalive_time="${OMPI_MCA_oob_tcp_keepalive_time:-5}"
        export OMPI_MCA_oob_tcp_keepalive_intvl="${OMPI_MCA_oob_tcp_keepalive_intvl:-5}"
        export OMPI_MCA_oob_tcp_keepalive_probes="${OMPI_MCA_oob_tcp_keepalive_probes:-4}"
        launch=(mpirun -n "$count" --map-by "ppr:$on:node:pe=$threads")
        if [ ${#hosts[@]} -gt 0 ] && ! ompi_info --parsable 2>/dev/null | grep -q "ras:$mpi_component:"; then
            list=$(IFS=,; echo "${hosts[*]}")
            launch+=(--host "$list" -x OMP_NUM_THREADS)
            [ -z "${LD_LIBRARY_PATH:-}" ] || launch+=(-x LD_LIBRARY_PATH)
        fi
        ;;
    *)
        read -ra launch <<<"$IKT_LAUNCH"
        ! is_hydra "${launch[0]}" || stop_signal=TERM
        launch+=(-n "$count")
        ;;
    esac
}

# The arguments of the job: of the script, or those of IKT_ARGS. `arguments`
set_arguments() {
    arguments=("$@")
    [ $# -gt 0 ] || eval "arguments=(${IKT_ARGS:-})"
    [ ${#arguments[@]} -gt 0 ] || die "no arguments: give CONFIG.yaml and SECTION.KEY=VALUE words, to the script or in IKT_ARGS"
}

# The program stops in time with a checkpoint: `limit` is run.max_time, where nobody set it.
set_limit() {
    local left=${IKT_TIME:-}
    limit=()
    [[ " $* " != *" run.max_time="* && " $* " != *" run.checkpoint=none "* ]] || return 0
    [ -n "$left" ] || left=$(time_left)
    [[ "$left" =~ ^[0-9]+$ ]] || return 0
    limit=("run.max_time=0:0:$left")
}

# One run on all ranks.
job_embed() {
    set_arguments "$@"
    set_launch "$ranks"
    set_limit "${arguments[@]}"
    exec "${launch[@]}" "$program" embed "${arguments[@]}" "${limit[@]}"
}

# One run of a verb, which is told what the job is told, and is queued again as long as it is not complete.
job_chain() {
    local verb=$1 code
    shift
    set_arguments "$@"
    set_launch "$ranks"
    limit=()
    [ "$verb" != embed ] || set_limit "${arguments[@]}"
    "${launch[@]}" "$program" "$verb" "${arguments[@]}" "${limit[@]}" &
    local started=$!
    # shellcheck disable=SC2064
    trap "kill -USR1 $started" USR1
    # shellcheck disable=SC2064
    trap "kill -$stop_signal $started" USR2 # a scheduler's warning
    wait $started
    code=$?
    while [ $code -gt 128 ] && kill -0 $started 2>/dev/null; do # a trap has ended wait
        wait $started
        code=$?
    done
    [ $code -ne 75 ] || [ "${restarts:-0}" -ge "${IKT_RESTARTS:-100}" ] || queue_again
    exit $code
}

# This job's value of KEY=VALUE,VALUE,..., the first argument; names of outputs are made from it.
job_array() {
    local key values value name
    set_arguments "$@"
    [[ "${arguments[0]}" =~ ^[a-z_]+\.[a-z_.]+=. ]] ||
        die "the first argument must be SECTION.KEY=VALUE,VALUE,..., not '${arguments[0]}'"
    key=${arguments[0]%%=*}
    IFS=, read -ra values <<<"${arguments[0]#*=}"
    [ -z "$tasks" ] || [ "$tasks" -eq ${#values[@]} ] ||
        die "there are ${#values[@]} values of $key and $tasks jobs in the array: submit it with the indices 1-${#values[@]}"
    [[ "$task" =~ ^[0-9]+$ ]] || die "this job has no number in an array: submit it with the indices 1-${#values[@]}"
    ((task >= 1 && task <= ${#values[@]})) ||
        die "there are ${#values[@]} values of $key and none for the index $task: submit it with the indices 1-${#values[@]}"
    value=${values[task - 1]}
    name=${key##*.}-$value
    job_embed "${arguments[@]:1}" "$key=$value" output.file="$name.h5" output.picture="$name.png"
}

# A number of a JSON file of embed: NAME at the first place below "seconds".
seconds_of() { sed -n '/"seconds": {/,/}/p' "$1" | sed -n "s/.*\"$2\": \([0-9.e+-]*\).*/\1/p" | head -n 1; }

# The same run on one number of ranks after the other. [ranks=1,2,4] [rows=N] CONFIG.yaml WORDS...
#   ranks   by default 1, 2, 4, ... up to those of the job
#   rows    weak scaling: so many rows on each rank, of a file that holds as many; else strong scaling
job_scaling() {
    local series='' rows='' kind=strong count words
    set_arguments "$@"
    while [[ "${arguments[0]:-}" =~ ^(ranks|rows)= ]]; do
        case ${arguments[0]} in
        ranks=*) series=${arguments[0]#*=} ;;
        rows=*) rows=${arguments[0]#*=} kind=weak ;;
        esac
        arguments=("${arguments[@]:1}")
    done
    if [ -z "$series" ]; then
        for ((count = 1; count <= ranks; count *= 2)); do series+=${series:+,}$count; done
    fi
    [[ "$series" =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || die "ranks=$series: write numbers with commas between them"
    [[ "$rows" =~ ^([1-9][0-9]*)?$ ]] || die "rows=$rows: write the rows of each rank"
    [ ${#arguments[@]} -gt 0 ] || die "no CONFIG.yaml and no SECTION.KEY=VALUE words"
    for count in ${series//,/ }; do
        [ "$count" -le "$ranks" ] || die "ranks=$series: the job has $ranks ranks only"
    done
    # What this launch can do, for iktsne plan.
    set_launch "$ranks"
    "${launch[@]}" "$program" plan --calibrate --machine "$kind-machine.yaml" || exit
    for count in ${series//,/ }; do
        words=()
        [ -z "$rows" ] || words=("input.rows=$((rows * count))")
        set_launch "$count"
        "${launch[@]}" "$program" embed "${arguments[@]}" "${words[@]}" output.file="$kind-$count.h5" \
            output.measures=none --json >"$kind-$count.json" || exit
    done
    echo "ranks  seconds  of the loop" # and a file for each, with bytes and messages
    for count in ${series//,/ }; do
        printf '%5d %8.2f %12.2f\n' "$count" "$(seconds_of "$kind-$count.json" total)" \
            "$(seconds_of "$kind-$count.json" layout)"
    done
}

hosts=() mpi_component='' task='' tasks='' restarts='' stop_signal=USR2
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/$1.sh"
export OMP_NUM_THREADS=$threads
# mpirun kills ranks so many seconds after SIGTERM; 1, its default, is short for a checkpoint.
export OMPI_MCA_odls_base_sigkill_timeout=${OMPI_MCA_odls_base_sigkill_timeout:-10}
