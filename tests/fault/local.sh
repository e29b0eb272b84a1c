#!/usr/bin/env bash
# jobs/local.sh: a run that stops with a checkpoint is started again until it is complete; a signal to
# the script stops the run with a checkpoint, leaves nothing running, and the same command goes on.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../support/script.sh"
PATH=$(dirname "$IKT_PROGRAM"):$PATH
export IKT_RANKS=2 IKT_THREADS=1 IKT_LAUNCH=${IKT_MPIRUN%% *}
settings="input.file=data.h5 isolation.psi=64 layout.iterations=15000 output.measures=none --quiet"

ranks() { # process numbers of the run in this folder
    local entry name
    for entry in /proc/[0-9]*; do
        read -r name 2>/dev/null <"$entry/comm" && [ "$name" = iktsne ] || continue
        [ "$(readlink "$entry/cwd")" != "$work" ] || echo "${entry#/proc/}"
    done 2>/dev/null
}
have_checkpoint() { [ -n "$(ls -A run.h5.checkpoint 2>/dev/null)" ]; }
are_gone() { [ -z "$(ranks)" ]; }

# A run in the background, until it has written a checkpoint; its ranks are then held still.
begin() {
    "$IKT_SOURCE/jobs/local.sh" $settings output.file=run.h5 run.checkpoint_every=0.005 \
        >out.txt 2>err.txt &
    script=$!
    wait_until 60 have_checkpoint || fail "no checkpoint"
    kill -STOP $(ranks) || fail "the run was over too soon"
}

finish() { # the run goes on and ends with the bits of an unbroken one
    wait $script || fail "exit code $? of local.sh"
    grep -q "embedding hash   $hash" out.txt || fail "other bits than without a stop"
    ! have_checkpoint || fail "the run is complete, but its checkpoint is still there"
    rm -f run.h5
}

stopped_from_outside() {
    begin
    kill -USR2 $(ranks)
    kill -CONT $(ranks)
    finish
    grep -q "local.sh: going on from the checkpoint" err.txt || fail "it was not started again"
}

stopped_for_good() {
    begin
    kill -TERM $script
    sleep 1 # for mpirun to pass it on
    kill -CONT $(ranks)
    wait $script
    local code=$?
    [ $code -eq 75 ] || fail "exit code $code after a stop"
    have_checkpoint || fail "no checkpoint after a stop"
    wait_until 10 are_gone || fail "still running: $(ranks)"
    "$IKT_SOURCE/jobs/local.sh" $settings output.file=run.h5 >out.txt 2>err.txt &
    script=$!
    finish
}

iktsne generate gaussian-mixture data.h5 --points 1000 --dimensions 10 --clusters 5 --quiet
hash=$(iktsne embed $settings output.file=plain.h5 | sed -n 's/^embedding hash *//p')
[ -n "$hash" ] || fail "no run to compare with"
try stopped_from_outside "a run that stops with a checkpoint is started again until it is complete"
try stopped_for_good "a signal to the script stops the run; the same command goes on with it"
exit $failed
