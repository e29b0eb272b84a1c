#!/usr/bin/env bash
# A run on a laptop or a workstation without Slurm, on all its cores, that may be stopped at any time.
#   jobs/local.sh config/mnist-10k.yaml output.file=run.h5
# Ctrl-C (or kill): a checkpoint is written, and the same command goes on from there later; Ctrl-C
# twice ends it at once. kill -USR1: writes a checkpoint and goes on. Where iktsne itself stops at a
# limit with a checkpoint (exit code 75), it is started again. IKT_RANKS and IKT_THREADS choose ranks
# and the threads of each, otherwise a rank for every four cores; IKT_LAUNCH the launcher, otherwise mpirun.
set -uo pipefail

cores() { # not counting the second threads of a core, nor what this shell may not use
    local all
    all=$(lscpu -p=CORE,SOCKET 2>/dev/null | grep -v '^#' | sort -u | wc -l)
    [ "$all" -gt 0 ] || all=$(sysctl -n hw.physicalcpu 2>/dev/null || echo 1)
    local usable
    usable=$(nproc 2>/dev/null || echo "$all")
    echo $((usable < all ? usable : all))
}
count=$(cores)
ranks=${IKT_RANKS:-$(((count + 3) / 4))}
export OMP_NUM_THREADS=${IKT_THREADS:-$((count > ranks ? count / ranks : 1))}
echo "local.sh: $ranks ranks of $OMP_NUM_THREADS threads" >&2

# In a session of its own, mpirun does not see Ctrl-C, which would make it kill the ranks: they are
# asked by SIGUSR2 instead, which it passes on. MPICH's ends at that, and passes SIGTERM on.
launcher=${IKT_LAUNCH:-mpirun}
signal=USR2
[[ $($launcher --version 2>/dev/null) != *HYDRA* ]] || signal=TERM
read -ra launch <<<"$launcher -n $ranks"
[ -n "${IKT_LAUNCH:-}" ] || launch+=(--bind-to none)
! command -v setsid >/dev/null || launch=(setsid "${launch[@]}")
stopping=
stop() {
    if [ -n "$stopping" ]; then kill -TERM "$program"; else kill -$signal "$program"; fi 2>/dev/null
    stopping=yes
}
trap stop INT TERM HUP
trap 'kill -USR1 "$program" 2>/dev/null' USR1

while true; do
    "${launch[@]}" iktsne embed "$@" &
    program=$!
    wait $program
    code=$?
    while kill -0 $program 2>/dev/null; do # a trap has ended wait
        wait $program
        code=$?
    done
    [ $code -eq 75 ] && [ -z "$stopping" ] || exit $code
    echo "local.sh: going on from the checkpoint" >&2
done
