#!/usr/bin/env bash
# Partitionings of more centres than two bytes can number, from rows to new rows: the same map and model
# on one rank and on three, and in a run that was stopped; old rows placed anew are similar to themselves.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checkpoints.sh"

# 35,000 points of a plane, each twice, and 300 of them.
awk 'BEGIN { for (i = 0; i < 70000; i++) { j = i % 35000; print j % 200 "," int(j / 200) + j % 7 / 10 } }' >data.csv
awk 'BEGIN { for (j = 0; j < 30000; j += 100) print j % 200 "," int(j / 200) + j % 7 / 10 }' >some.csv
for name in data some; do
    "$IKT_PROGRAM" convert $name.csv $name.h5 >out.txt 2>err.txt || fail "convert $name.csv"
done

common=(input.file=data.h5 isolation.psi=66000 isolation.partitionings=4 affinity.neighbours=10
    layout.iterations=3 layout.exaggeration_iterations=1 output.measures=none --quiet)

# run NAME RANKS ARGUMENTS...: expects exit code 0, and `first` as the hash where there is one.
first=
run() {
    local name=$1 ranks=$2
    shift 2
    embed "$ranks" "${common[@]}" output.file=$name.h5 output.model=$name-model.h5 "$@"
    [ $code -eq 0 ] || fail "$name: exit code $code"
    [ -n "$first" ] || first=$(hash_of)
    [ "$(hash_of)" = "$first" ] || fail "$name: hash $(hash_of), not $first"
}

run one 1
run three 3
embed 3 "${common[@]}" output.file=parts.h5 output.model=parts-model.h5 run.max_time=0
[ $code -eq 75 ] || fail "a run without time: exit code $code"
grep -q "in the stage 'codes'" err.txt || fail "the run did not stop in its codes"
run parts 2
for name in three parts; do
    same_result one.h5 $name.h5
    same_result one-model.h5 $name-model.h5
done
h5dump -a format_version one-model.h5 >out.txt
grep -q '(0): 2$' out.txt || fail "a model with codes of four bytes does not say version 2"

for ranks in 1 3; do
    launch $ranks
    "${launcher[@]}" "$IKT_PROGRAM" transform one-model.h5 some.h5 placed$ranks.h5 --quiet >out.txt 2>err.txt ||
        fail "transform on $ranks ranks"
    hash_of >hash$ranks.txt
done
cmp -s hash1.txt hash3.txt || fail "transform gives other places on 3 ranks"
h5dump -y -w 1 -d /diagnostics/similarity placed1.h5 >out.txt
[ "$(grep -cE '^ *1,?$' out.txt)" -eq 300 ] || fail "old rows are not similar to themselves"
exit $failed
