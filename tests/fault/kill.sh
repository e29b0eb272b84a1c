#!/usr/bin/env bash
# A rank is killed at random moments of a run that writes checkpoints all the time; the job ends, and
# the same command on other ranks gives the hash of a run that was never stopped: for each way of
# searching and each support of P.
# IKT_KILLS: how often for each; IKT_KILL_SEED: of the moments.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checkpoints.sh"

RANDOM=${IKT_KILL_SEED:-7}
kills=${IKT_KILLS:-5}

# kill_runs NAME SETTING...
kill_runs() {
    local name=$1 arguments=("${common[@]}" "${@:2}")
    local begun whole milliseconds ranks started wait_for at killed=0 held=0 case
    begun=$(date +%s%N)
    embed 2 "${arguments[@]}" output.file=whole.h5 output.overwrite=yes
    [ $code -eq 0 ] || fail "$name: exit code $code"
    whole=$(hash_of)
    milliseconds=$((($(date +%s%N) - begun) / 1000000))
    for ((case = 0; killed < kills && case < 10 * kills; case++)); do
        ranks=$((RANDOM % 4 + 1))
        launch $ranks
        "${launcher[@]}" "$IKT_PROGRAM" embed "${arguments[@]}" output.file=killed.h5 output.overwrite=yes \
            run.checkpoint_every=0.00001 >out.txt 2>err.txt &
        started=$!
        # From before the first stage to after the last, and checkpoints take their time, too.
        wait_for=$((RANDOM % (3 * milliseconds / 2 + 1)))
        sleep $((wait_for / 1000)).$(printf %03d $((wait_for % 1000)))
        ranks_of "output.file=killed.h5 "
        if [ ${#pids[@]} -gt 0 ] && kill -9 "${pids[RANDOM % ${#pids[@]}]}" 2>/dev/null; then
            killed=$((killed + 1))
            wait $started 2>/dev/null
            code=$?
            [ $code -ne 0 ] || fail "$name: a killed rank, exit code 0"
            [ $code -ne 124 ] || fail "$name: a killed rank, and the others hang"
            [ $ranks -eq 1 ] || grep -qi 'killed\|signal' err.txt || fail "$name: no word about a killed rank"
            at=$(ls -t killed.h5.checkpoint 2>/dev/null | head -1)
            embed $((RANDOM % 4 + 1)) "${arguments[@]}" output.file=killed.h5 output.overwrite=yes
            [ $code -eq 0 ] && [ "$(hash_of)" = "$whole" ] && held=$((held + 1)) ||
                fail "$name: after ${at:-no checkpoint}: exit code $code, hash $(hash_of), not $whole"
            grep -q 'a checkpoint cannot be used' err.txt && fail "$name: a killed rank left a damaged checkpoint"
            echo "$name: killed after $wait_for ms on $ranks ranks: ${at:-no checkpoint}"
        else # it was done before: sooner next time
            wait $started
            milliseconds=$((milliseconds * 3 / 4 + 1))
        fi
        rm -rf killed.h5 killed.h5.checkpoint
    done
    echo "$name: kill -9: $killed tried, $held held"
    [ $killed -eq "$kills" ] && [ $held -eq $killed ] || fail "$name: not all held"
}

"$IKT_PROGRAM" generate glyphs data.h5 --points 4000 --seed 1 --quiet || exit 1
common=(input.file=data.h5 output.measures=none layout.iterations=150 layout.repulsion=fft --quiet)
kill_runs coarse-cells isolation.psi=64 affinity.search=approximate affinity.refinements=2
kill_runs near-centres isolation.psi=500 isolation.search=approximate isolation.candidates=400 \
    affinity.search=approximate
kill_runs all-pairs isolation.psi=64 affinity.support=dense
kill_runs whole-kernel isolation.psi=64 affinity.support=whole whole.partitionings=8
kills=$(((kills + 1) / 2)) kill_runs fisher input.rows=1500 affinity.kind=fisher fisher.support=200 fisher.euclidean=0 gaussian.perplexity=10
exit $failed
