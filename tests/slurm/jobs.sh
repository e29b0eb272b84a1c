#!/usr/bin/env bash
# The scripts of jobs/ in a real Slurm of two pretended nodes: started by srun and by mpirun, over an
# array, stopped by the clock, by the death of a rank and by scancel, and gone on with; always with the
# bits of a run that nothing stopped. Launchers are tried side by side, and long waits used for others.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../support/script.sh"
. "$here/cluster.sh"
cluster_missing && exit 77
trap 'cluster_stop; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
PATH=$(dirname "$IKT_PROGRAM"):$PATH
jobs=$IKT_SOURCE/jobs
export IKT_JOBS=$jobs
unset "${!SLURM_@}" "${!SBATCH_@}" # of a job that this test may run in
# No shared memory between pretended nodes, and nothing leaves this machine. A rank's death is noted soon.
export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
export OMPI_MCA_odls_base_sigkill_timeout=3 SLURM_WAIT=3
two_nodes="--nodes=2 --ntasks-per-node=1 --cpus-per-task=1"

# submit NAME LAUNCHER SCRIPT OPTIONS -- ARGUMENTS: a job whose log is NAME.log; its number is id[NAME].
declare -A id
submit() {
    local name=$1 launcher=$2 script=$3 options=()
    shift 3
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    id[$name]=$(IKT_LAUNCH=$launcher sbatch --parsable --output="$name.log" $two_nodes \
        "${options[@]}" "$jobs/$script.sbatch" "$@") || fail "$name: not accepted"
}

field() { # NAME FIELD, of what Slurm says of the job
    scontrol -o show job "${id[$1]}" | grep -o " $2=[^ ]*" | head -n 1 | cut -d= -f2
}

# A process of the job, named $2 where that is given.
processes() {
    local process
    for process in $(cluster_processes "$cluster"); do
        [ -z "${2:-}" ] || [ "$(cat "/proc/$process/comm" 2>/dev/null)" = "$2" ] || continue
        grep -qz "^SLURM_JOB_ID=${id[$1]}\$" "/proc/$process/environ" 2>/dev/null && echo "$process"
    done
}

runs_no_more() { [ -z "$(processes "$1")" ]; }
holds_checkpoint() { compgen -G "$1.h5.checkpoint/*.h5" >/dev/null; } # complete, not half written

array_ended() { [ -z "$(squeue -h -j "${id[$1]}" -o %A)" ]; }
has_ended() { [[ $(field "$1" JobState) =~ ^(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL)$ ]]; }

# ends NAME STATE SECONDS: the job ends so, in so many seconds at most, and leaves nothing running.
ends() {
    wait_until "$3" has_ended "$1"
    [ "$(field "$1" JobState)" = "$2" ] ||
        fail "$1 is $(field "$1" JobState), not $2, after $3 s at most: $(cat "$1.log")"
    wait_until 10 runs_no_more "$1" || fail "$1 left processes: $(processes "$1")"
}

says() { # NAME WORDS
    grep -q -- "$2" "$1.log" || fail "the log of $1 does not say '$2': $(cat "$1.log")"
}

# The run is long enough to be stopped in; what is tried in haste takes fewer iterations.
cat >run.yaml <<'END'
input: {file: data.h5}
isolation: {psi: 64}
layout: {iterations: 8000, exaggeration_iterations: 60}
output: {measures: none}
END
hasty="layout.iterations=100"

run_alone() { # its hash
    iktsne embed run.yaml "$@" output.file=alone.h5 output.overwrite=yes --quiet |
        sed -n 's/^embedding hash *//p'
}

on_two_nodes() {
    local launcher
    for launcher in srun mpirun; do
        submit "nodes-$launcher" "$launcher" several-nodes -- run.yaml $hasty \
            --verbose output.file="nodes-$launcher.h5"
    done
    submit node srun several-nodes --nodes=1 --ntasks-per-node=2 -- run.yaml $hasty output.file=node.h5
    for launcher in srun mpirun; do
        ends "nodes-$launcher" COMPLETED 60
        says "nodes-$launcher" "; 2 ranks x 1 thread"
        says "nodes-$launcher" "seconds are left for the run" # of the job's time, asked of Slurm
        says "nodes-$launcher" "embedding hash   $hasty_hash"
    done
    ends node COMPLETED 60
    says node "embedding hash   $hasty_hash"
}

# Without a launcher, and with one that MPI does not know: refused, not made twice by one rank each.
without_launcher() {
    id[alone]=$(sbatch --parsable --output=alone.log $two_nodes \
        --wrap "iktsne embed run.yaml $hasty output.file=apart.h5")
    SLURM_MPI_TYPE=none submit apart srun several-nodes -- run.yaml $hasty output.file=apart.h5
    ends alone FAILED 60
    says alone "SLURM_NTASKS announces 2 tasks but this MPI sees a single rank"
    ends apart FAILED 60
    [ ! -e apart.h5 ] || fail "ranks that did not know each other made a result"
}

over_psi() {
    submit psi mpirun array --array=1-3 --nodes=1 -- isolation.psi=64,128,256 run.yaml $hasty --verbose
    submit few srun array --array=1-2 --nodes=1 -- isolation.psi=64,128,256 run.yaml $hasty
    wait_until 60 array_ended psi || fail "the array did not end: $(squeue)"
    [ "$(grep -c "seconds are left for the run" psi.log)" -eq 3 ] ||
        fail "not every task of the array knows its end: $(cat psi.log)"
    wait_until 60 array_ended few
    says few "there are 3 values of isolation.psi and 2 jobs in the array"
    local psi
    for psi in 64 128 256; do
        iktsne info "psi-$psi.h5" --config 2>>err.txt | grep " psi: $psi\b" >/dev/null ||
            fail "psi-$psi.h5 is not the run of psi $psi: $(cat psi.log)"
        [ -s "psi-$psi.png" ] || fail "no picture of psi $psi"
    done
}

scaling() {
    submit strong srun scaling -- run.yaml $hasty
    submit weak mpirun scaling -- ranks=1,2 rows=400 run.yaml $hasty
    ends strong COMPLETED 90
    ends weak COMPLETED 90
    local ranks
    for ranks in 1 2; do
        grep -q "\"hash\": \"$hasty_hash\"" "strong-$ranks.json" || fail "strong-$ranks.json: other bits"
        iktsne info "weak-$ranks.h5" | grep "$((400 * ranks))" >/dev/null || fail "weak-$ranks.h5: rows"
    done
    [ -s strong-machine.yaml ] || fail "no strong-machine.yaml"
}

# hold NAME: waits until the job's run has written a checkpoint, and keeps it from going on.
hold() {
    wait_until 60 holds_checkpoint "$1" || fail "$1 writes no checkpoint: $(cat "$1.log")"
    kill -STOP $(processes "$1" iktsne) || fail "$1 was over before it could be stopped"
}

let_go() {
    kill -CONT $(processes "$1" iktsne)
}

# What all long runs are started with: a checkpoint every 0.3 s.
long() { # NAME LAUNCHER SCRIPT OPTIONS...
    submit "$@" -- run.yaml output.file="$1.h5" run.checkpoint_every=0.005
}

# again NAME LAUNCHER: the same command goes on from the checkpoint and gives the same bits.
again() {
    holds_checkpoint "$1" || fail "$1 left no checkpoint"
    long "$1" "$2" requeue
}

complete() {
    ends "$1" COMPLETED 90
    says "$1" "embedding hash   $hash"
    ! holds_checkpoint "$1" || fail "$1 is complete, but its checkpoint is still there"
}

# Slurm warns before the time limit; its clock ticks every 30 s, in which other things are tried.
time_limit_begins() {
    local launcher
    for launcher in srun mpirun; do
        long "limit-$launcher" "$launcher" requeue --time=1 --signal=B:USR2@60
    done
    for launcher in srun mpirun; do hold "limit-$launcher"; done
}

is_requeued() { [ "$(field "$1" Restarts)" -ge 1 ]; }
is_warned() { grep -q "warning signal .* JobId=${id[$1]}\b" "$cluster/slurmctld.log"; }

time_limit_ends() {
    local launcher
    for launcher in srun mpirun; do
        wait_until 70 is_warned "limit-$launcher" || fail "Slurm does not warn limit-$launcher"
    done
    sleep 1 # for the signal to reach the ranks
    for launcher in srun mpirun; do let_go "limit-$launcher"; done
    for launcher in srun mpirun; do # once is enough: the rest has more time
        wait_until 30 is_requeued "limit-$launcher" || fail "limit-$launcher is not requeued"
        scontrol update JobId="${id[limit-$launcher]}" TimeLimit=30
    done
    for launcher in srun mpirun; do
        complete "limit-$launcher"
        says "limit-$launcher" "stopped by SIGUSR2 in the stage 'layout' at iteration"
        says "limit-$launcher" "the loop goes on at iteration"
    done
}

# Two tasks share a study; both are warned and go on with each other's runs, or their own.
cat >study.yaml <<'END'
settings: {layout.iterations: 6000, run.checkpoint_every: 0.005}
methods:
  - {name: Isolation, vary: {isolation.psi: [16, 32, 64, 128]}}
measures: [10-NN accuracy]
data:
  - {name: mixture, generate: gaussian-mixture, options: {points: 1000, dimensions: 10}}
END
study_has_checkpoint() { compgen -G "results/best/*.checkpoint/*"; }

study_begins() {
    id[study]=$(sbatch --parsable --array=0-1 --nodes=1 --ntasks-per-node=2 --cpus-per-task=1 \
        --output=study-%a.log "$jobs/study-array.sbatch" study.yaml --output results)
    wait_until 60 study_has_checkpoint || fail "the study writes no checkpoint: $(cat study-*.log)"
    scancel --batch --signal=USR2 "${id[study]}"
}

study_ends() {
    wait_until 90 array_ended study || fail "the study did not end: $(squeue)"
    grep -q "stopped by SIGUSR2" study-*.log || fail "the study was not stopped: $(cat study-*.log)"
    [ "$(grep -c '^[0-9a-f]*,mixture,.*,ok,' results/results.csv)" -eq 4 ] ||
        fail "not four good runs: $(cat results/results.csv study-*.log)"
    ! study_has_checkpoint || fail "the study is complete, but a checkpoint is still there"
}

# The end of the allocation is all that the program goes by; the run is held until it has come.
end_time() {
    local end=$(($(date +%s) + 5))
    SLURM_JOB_END_TIME=$end IKT_RESTARTS=0 long end srun requeue
    hold end
    while [ "$(date +%s)" -le $end ]; do sleep 0.2; done
    let_go end
    ends end FAILED 60
    [ "$(field end ExitCode)" = 75:0 ] || fail "exit code $(field end ExitCode) at the end of time"
    again end srun
    complete end
}

rank_dies() {
    local launcher victim
    for launcher in srun mpirun; do
        long "death-$launcher" "$launcher" several-nodes
        hold "death-$launcher"
        victim=$(processes "death-$launcher" iktsne | tail -n 1)
        kill -KILL "$victim"
        let_go "death-$launcher"
    done
    for launcher in srun mpirun; do
        ends "death-$launcher" FAILED 30
        grep -q -i "killed" "death-$launcher.log" || fail "no word of the death under $launcher"
        again "death-$launcher" "$launcher"
    done
    for launcher in srun mpirun; do complete "death-$launcher"; done
}

is_in_loop() { grep -q "repulsion:" "$1.log"; }

# The only checkpoint before scancel is one that was asked for by a signal.
cancelled() {
    local launcher
    for launcher in srun mpirun; do
        submit "cancel-$launcher" "$launcher" requeue -- run.yaml output.file="cancel-$launcher.h5" \
            run.checkpoint_every=0
        wait_until 60 is_in_loop "cancel-$launcher" || fail "cancel-$launcher does not begin"
        scancel --batch --signal=USR1 "${id[cancel-$launcher]}"
        wait_until 20 holds_checkpoint "cancel-$launcher" || fail "cancel-$launcher: no checkpoint"
        scancel "${id[cancel-$launcher]}"
    done
    for launcher in srun mpirun; do
        ends "cancel-$launcher" CANCELLED 20
        again "cancel-$launcher" "$launcher"
    done
    for launcher in srun mpirun; do complete "cancel-$launcher"; done
}

cluster_start || exit 1
iktsne generate gaussian-mixture data.h5 --points 1000 --dimensions 10 --clusters 5 --quiet
hasty_hash=$(run_alone $hasty) hash=$(run_alone)
[ -n "$hasty_hash" ] && [ -n "$hash" ] || fail "no runs to compare with"
time_limit_begins
study_begins
try on_two_nodes "on one node and on two, by srun and by mpirun: the bits of one rank"
try without_launcher "ranks that do not know each other are refused"
try over_psi "a job array over psi"
try scaling "strong scaling by srun, weak scaling by mpirun"
try study_ends "a study shared by two jobs, stopped and requeued: every run made"
try time_limit_ends "stopped before the time limit, requeued until complete: the bits of an unbroken run"
try end_time "a run that knows the end of its allocation stops before it and goes on later"
try rank_dies "the death of a rank ends the job with a message; its last checkpoint is good"
try cancelled "scancel ends everything and requeues nothing; the checkpoint is good"
exit $failed
