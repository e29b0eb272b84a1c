# PBS Professional, by its stand-in; sourced.
scheduler_missing() { return 1; }

scheduler_start() {
    standin qsub qstat
    path+=:$STANDIN/bin
}
scheduler_stop() { standin_stop; }

# submit NAME SCRIPT COUNT ARGUMENTS: as a user would; the time of the job is 100 s.
submit() {
    local name=$1 script=$2 count=$3 answer
    shift 3
    local array=(-l "select=2:ncpus=1:mpiprocs=1:ompthreads=1")
    [ "$count" -eq 0 ] || array=(-J "1-$count" -l "select=1:ncpus=2:mpiprocs=2:ompthreads=1")
    answer=$(qsub -N "$name" "${array[@]}" -l walltime=0:1:40 \
        -v "IKT_ARGS='$*'${IKT_TIME:+,IKT_TIME}" "$script.pbs") || return
    id[$name]=${answer%.standin}
}

has_ended() { standin_ended "${id[$1]}"; }
chain_has_ended() { standin_ended "*"; } # jobs that follow have numbers of their own
logs() { cat "$1".o* 2>/dev/null; }
