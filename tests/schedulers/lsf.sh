# LSF, by its stand-in; sourced.
scheduler_missing() { return 1; }

scheduler_start() {
    standin bsub bjobs
    path+=:$STANDIN/bin
}
scheduler_stop() { standin_stop; }

submit() {
    local name=$1 script=$2 count=$3 answer
    shift 3
    local options=(-J "$name" -n 2 -R "span[ptile=1]" -o "$name.log")
    [ "$count" -eq 0 ] || options=(-J "$name[1-$count]" -n 2 -R "span[ptile=2]" -o "$name-%I.log")
    answer=$(IKT_RANKS_PER_NODE=2 IKT_ARGS="$*" bsub "${options[@]}" -W 2 <"$script.lsf") || return
    id[$name]=$(sed 's/.*<\([0-9]*\)>.*/\1/;q' <<<"$answer")
}

has_ended() { standin_ended "${id[$1]}"; }
chain_has_ended() { has_ended "$1"; }
logs() { cat "$1".log "$1"-[0-9]*.log 2>/dev/null; }
