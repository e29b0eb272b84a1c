#!/usr/bin/env bash
# That the thread sanitizer, as the preset `races` sets it up, would see a race: three planted ones are reported,
# and what barriers, reductions, atomics, critical regions and locks order is not. A missing Archer
# reports the latter; a suppression that is too wide hides the former.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
races=$(dirname "$IKT_PROGRAM")/tests/races

for trial in 1 2 3; do
    "$races" ordered >out.txt 2>err.txt || fail "threads that wait for each other are reported (trial $trial)"
    for planted in sum nowait thread; do
        "$races" $planted >out.txt 2>err.txt
        [ $? -eq 66 ] || fail "the race '$planted' is not reported (trial $trial)"
        grep -q 'WARNING: ThreadSanitizer: data race' err.txt || fail "no report of the race '$planted'"
    done
done
exit "$failed"
