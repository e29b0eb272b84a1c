# A Flux of our own for tests, two brokers on this machine; sourced.
scheduler_missing() {
    command -v flux >/dev/null && return 1
    echo "no Flux to test with: flux not found"
}

scheduler_start() {
    path=$(dirname "$(command -v flux)"):$path
    # One instance, of which this script gets the address.
    flux start --test-size=2 bash -c 'echo "$FLUX_URI" >flux.uri; sleep 1000' >start.txt 2>&1 &
    flux_itself=$!
    wait_until 30 test -s flux.uri || return
    FLUX_URI=$(cat flux.uri)
    export FLUX_URI
}

scheduler_stop() {
    [ -n "${flux_itself:-}" ] || return 0
    flux cancel --all --quiet 2>/dev/null
    pkill -P "$flux_itself" sleep
    kill "$flux_itself" 2>/dev/null
    wait "$flux_itself" 2>/dev/null
}

submit() {
    local name=$1 script=$2 count=$3 task
    shift 3
    local options=(--job-name="$name" --time-limit=100s --env=IKT_RANKS_PER_NODE=$((count > 0 ? 2 : 1)))
    [ -z "${IKT_TIME:-}" ] || options+=(--env=IKT_TIME="$IKT_TIME")
    if [ "$count" -eq 0 ]; then
        flux batch -N 2 -n 2 --output="$name-{{id}}.log" "${options[@]}" "$script.flux" "$@" >/dev/null
        return
    fi
    for ((task = 1; task <= count; task++)); do
        flux batch -N 1 -n 1 --env=IKT_TASK=$task --output="$name-$task.log" "${options[@]}" "$script.flux" "$@" >/dev/null
    done
}

has_ended() { [ -z "$(flux jobs --no-header --format='{name}' | grep -x "$1")" ]; }
chain_has_ended() { has_ended "$1"; }
logs() { cat "$1".log "$1"-*.log 2>/dev/null; }
