#!/usr/bin/env bash
# A stopped run that goes on with another number of iterations than it was begun with: where nothing but the end depends
# on the number it is the run of that number, bit for bit; where more does, one sentence says what; fewer than are done
# are refused. The rehearsal says the same, and so does a finished run that is extended.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checkpoints.sh"

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 600 --dimensions 6 --clusters 5 --seed 2 --quiet || exit 1
base=(input.file=data.h5 output.measures=none isolation.psi=16 affinity.neighbours=20 output.overwrite=yes --quiet)

# stopped_at LEAST ITERATIONS ARGUMENTS...: leaves a checkpoint of the loop, LEAST iterations or more into a run
stopped_at() {
    local least=$1 all=$2 done=-1 start
    shift 2
    rm -rf part.h5 part.h5.checkpoint
    for ((start = 0; done < least && start < 60; start++)); do
        embed 1 "${base[@]}" "$@" output.file=part.h5 layout.iterations="$all" run.max_time=0
        [ $code -eq 75 ] || fail "not stopped: exit code $code, $*: $(cat err.txt)"
        [ -e part.h5.checkpoint/loop.h5 ] && done=$("$IKT_PROGRAM" info part.h5.checkpoint/loop.h5 --json | sed -n 's/.*"iterations_done": \([0-9]*\).*/\1/p')
    done
    [ "$done" -ge "$least" ] || fail "only $done iterations after $start starts: $*"
}

# goes_on SAME WORDS ARGUMENTS...: begun with 5 iterations, ended with 30. SAME: whether it is one run of 30.
goes_on() {
    local same=$1 words=$2 wanted
    shift 2
    embed 2 "${base[@]}" "$@" output.file=whole.h5 layout.iterations=30 run.checkpoint=none
    wanted=$(hash_of)
    stopped_at 4 5 "$@"
    for how in --dry-run --quiet; do
        embed 3 "${base[@]}" "$@" output.file=part.h5 layout.iterations=30 $how
        [ $code -eq 0 ] || fail "exit code $code: $*, $how: $(cat err.txt)"
        if [ -n "$words" ]; then
            grep -q "^iktsne: warning: layout.iterations was 5 at the start before and is 30 now: .*$words" err.txt || fail "$*, $how: $(cat err.txt)"
            [ "$(grep -c 'layout.iterations was' err.txt)" -eq 1 ] || fail "not one sentence: $*, $how: $(cat err.txt)"
        else
            grep -q 'layout.iterations was' err.txt && fail "a warning without a reason: $*, $how: $(cat err.txt)"
        fi
    done
    [ "$(hash_of)" = "$wanted" ] && is=yes || is=no
    [ $is = "$same" ] || fail "$*: $(hash_of), one run gives $wanted"
}
goes_on yes ""
goes_on no "shorter towards its last iteration, which is another one now, so that the embedding will not be that of one longer run" layout.objective=umap
goes_on no "draw from more partitionings and take shorter steps, so that the embedding may not be that of one longer run" affinity.neighbours=auto affinity.support=whole whole.partitionings=8 whole.last_iterations=3
goes_on no "shorter towards its last iteration, which is another one now, so that the embedding may not be" layout.objective=trimap trimap.triplets=pool
goes_on no "the landmarks that it started from were embedded in as many iterations as it had then, so that the embedding will not be" layout.init=landmark layout.landmarks=50
goes_on no "a run begins with more iterations of t-SNE the longer it is, so that the embedding may not be" layout.objective=nerv layout.exaggeration_iterations=2
echo "six kinds of run went on with more iterations"

# A start that waits for the loop knows its landmarks, too: only P, order and start are there.
chain=(layout.init=landmark layout.landmarks=50 affinity.search=approximate)
stopped_at 1 12 "${chain[@]}"
rm part.h5.checkpoint/loop*.h5
embed 2 "${base[@]}" "${chain[@]}" output.file=part.h5 layout.iterations=30
[ $code -eq 0 ] && [ "$(grep -c 'layout.iterations was 12 .*the landmarks that it started from' err.txt)" -eq 1 ] || fail "a start from other landmarks: $(cat err.txt)"

# Fewer: as many as are left, or none.
embed 1 "${base[@]}" output.file=whole.h5 layout.iterations=9 run.checkpoint=none
wanted=$(hash_of)
stopped_at 5 40
embed 2 "${base[@]}" output.file=part.h5 layout.iterations=9
[ $code -eq 0 ] && [ "$(hash_of)" = "$wanted" ] || fail "fewer iterations: exit code $code, $(hash_of), not $wanted"
stopped_at 5 40
for how in --dry-run --quiet; do
    embed 2 "${base[@]}" output.file=part.h5 layout.iterations=2 $how
    [ $code -eq 2 ] && grep -q '^iktsne: error: part.h5.checkpoint/loop.h5 has [1-9][0-9]* iterations behind it, and layout.iterations = 2 asks for fewer: take [1-9][0-9]* or more, or begin anew with run.resume=no' err.txt ||
        fail "fewer than are done: exit code $code: $(cat err.txt)"
done
embed 2 "${base[@]}" output.file=part.h5 layout.iterations=2 run.resume=no
[ $code -eq 0 ] && [ ! -e part.h5.checkpoint ] || fail "run.resume=no: exit code $code: $(cat err.txt)"

# The same number in other words is the same number: auto is that of the preset.
stopped_at 1 auto
embed 2 "${base[@]}" output.file=part.h5 layout.iterations=750 --dry-run
[ $code -eq 0 ] || fail "auto as a number: $(cat err.txt)"
"$IKT_PROGRAM" info part.h5.checkpoint/loop.h5 >out.txt && grep -q "'loop', [0-9]* iterations done, 750 in all" out.txt || fail "info of a checkpoint: $(cat out.txt)"
grep -q 'layout.iterations was' err.txt && fail "auto is taken for another number: $(cat err.txt)"
rm -r part.h5.checkpoint

# A finished run whose start depends on the number is no longer run when it is extended.
embed 1 "${base[@]}" "${chain[@]}" output.file=part.h5 layout.iterations=12
for how in --dry-run --quiet; do
    embed 2 "${base[@]}" "${chain[@]}" output.file=part.h5 layout.iterations=12 --extend 18 $how
    [ $code -eq 0 ] && grep -q '^iktsne: warning: the landmarks that it started from were .* will not be that of one longer run' err.txt || fail "--extend $how: $(cat err.txt)"
done
# An extension that is stopped is gone on with by as much or more.
embed 2 "${base[@]}" output.file=part.h5 layout.iterations=12
for start in 1 2 3 4 5 6 7 8; do
    embed 1 "${base[@]}" output.file=part.h5 layout.iterations=12 --extend 30 run.max_time=0
done
[ $code -eq 75 ] && [ -e part.h5.checkpoint/loop.h5 ] || fail "an extension is not stopped: exit code $code"
embed 2 "${base[@]}" output.file=part.h5 layout.iterations=12 --extend 1
[ $code -eq 2 ] && grep -q '^iktsne: error: 1[4-9] iterations are done already, and 13 are asked for: ' err.txt || fail "a shorter extension: exit code $code: $(cat err.txt)"
exit $failed
