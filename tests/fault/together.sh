#!/usr/bin/env bash
# Processes without a launcher that begin and end at the same time do not disturb each other: where Open
# MPI gives all of them one folder, one start in a hundred fails.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../support/script.sh"

starts() {
    local code
    for _ in {1..100}; do
        timeout 60 "$IKT_PROGRAM" embed missing.h5 >"out$1.txt" 2>&1
        code=$?
        [ $code -eq 4 ] || { echo "exit code $code: $(tail -3 "out$1.txt")"; return 1; }
    done
}

for loop in 1 2 3 4; do
    starts $loop >"loop$loop.txt" &
    loops[loop]=$!
done
for loop in 1 2 3 4; do
    wait ${loops[loop]} || fail "a process does not begin beside others: $(cat loop$loop.txt)"
done
exit $failed
