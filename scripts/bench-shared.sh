#!/usr/bin/env bash
# What a run takes on a machine that others use: alone, beside 1, 2 and 4 busy processes, and under a quota of
# 1.5 cores, on one rank of two threads and on two ranks of one. Programs take turns; wants two quiet cores, and a
# control group that may be made for the quota (root; else that line is left out).
#   scripts/bench-shared.sh PROGRAM [PROGRAM ...]        e.g. OLD/iktsne build/release/iktsne
# ROWS (10000), TURNS (5). Prints a table: median seconds, and how many times the fair share they are, which is the
# time of the first program alone, times the cores over the cores that such a run is due.
set -euo pipefail
[ $# -gt 0 ] || { sed -n '2,8s/^# //p' "$0" >&2; exit 2; }
unset OMP_WAIT_POLICY GOMP_SPINCOUNT KMP_BLOCKTIME OMP_NUM_THREADS
if [ "$(id -u)" -eq 0 ]; then # Open MPI asks root to say twice that it means it
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
work=$(mktemp -d)
group=/sys/fs/cgroup/cpu/iktsne-bench-$$ # version 1; version 2 has no folder of controllers
[ -d /sys/fs/cgroup/cpu ] || group=/sys/fs/cgroup/iktsne-bench-$$
busy=()
end() {
    [ ${#busy[@]} -eq 0 ] || kill "${busy[@]}" 2>/dev/null || true
    rm -rf "$work"
    [ ! -d "$group" ] || rmdir "$group" || true
}
trap end EXIT
"$1" generate glyphs "$work/data.h5" --points "${ROWS:-10000}" --seed 3 --quiet

# run LAUNCHER THREADS PROGRAM: seconds of one run.
run() {
    local begun ended
    begun=$(date +%s.%N)
    $1 "$3" embed input.file="$work/data.h5" output.file="$work/map.h5" output.overwrite=yes \
        output.measures=none run.threads="$2" --quiet >/dev/null </dev/null
    ended=$(date +%s.%N)
    echo "$ended - $begun" | bc
}

declare -A quiet
# row NAME SHARE RANKS PROGRAM...: a line for each program; SHARE: of the cores, what a run is due.
row() {
    local name=$1 share=$2 ranks=$3 launcher="" program turn seconds
    shift 3
    [ "$ranks" -eq 1 ] || launcher="mpirun -n $ranks"
    rm -f "$work"/*.seconds
    for ((turn = 0; turn < ${TURNS:-5}; turn++)); do
        for program in "$@"; do
            run "$launcher" $((3 - ranks)) "$program" >>"$work/$(echo "$program" | tr / _).seconds"
        done
    done
    for program in "$@"; do
        seconds=$(sort -n "$work/$(echo "$program" | tr / _).seconds" | sed -n "$(((${TURNS:-5} + 1) / 2))p")
        : "${quiet[$ranks]:=$seconds}"
        printf '| %s | %s | %s | %.2f | %.2f |\n' "$name" "$ranks x $((3 - ranks))" "$program" "$seconds" \
            "$(echo "scale=4; $seconds * $share / ${quiet[$ranks]}" | bc)"
    done
}

sed -n 's/^model name[^:]*: /Processor: /p' /proc/cpuinfo | head -1
echo
echo "| beside | ranks x threads | program | seconds | x fair share |"
echo "|---|---|---|--:|--:|"
for count in 0 1 2 4; do
    while [ ${#busy[@]} -lt $count ]; do
        sh -c 'while :; do :; done' &
        busy+=($!)
    done
    for ranks in 1 2; do
        row "$count busy" "$(echo "scale=4; 2 / (2 + $count)" | bc)" $ranks "$@"
    done
done
kill "${busy[@]}" && busy=()
mkdir "$group" 2>/dev/null || { echo; echo "No control group could be made: no line for the quota."; exit; }
if [ -e "$group/cpu.max" ]; then
    echo "150000 100000" >"$group/cpu.max"
else
    echo 150000 >"$group/cpu.cfs_quota_us"
fi
for ranks in 1 2; do
    (echo $BASHPID >"$group/cgroup.procs" && row "quota 1.5" .75 $ranks "$@")
done
