#!/usr/bin/env bash
# Maps of 1,797 digits by TriMap are as good as those of the published program, whose 10-NN accuracy is
# .984 and whose global score .908: fixed triplets and a pool, distances and the Isolation kernel. The
# program on two ranks, as its user runs it.
set -euo pipefail
digits=${IKT_TEST_DATA:-}/digits.h5
[ -r "$digits" ] || { echo "skipped: the real data are not there"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# measure MAP NAME: the number of a measure.
measure() {
    "$IKT_PROGRAM" evaluate "$1" --input "$digits" --measures labels,global 2>/dev/null |
        awk -v name="$2" 'index($0, name) == 1 { sub(name, ""); print $1 }'
}

at_least() {
    awk -v is="$2" -v least="$3" 'BEGIN { exit !(is >= least) }' ||
        { echo "$1: $2 is below $3" >&2; exit 1; }
}

for kind in knn isolation; do
    for triplets in fixed pool; do
        $IKT_MPIRUN 2 "$IKT_PROGRAM" embed "input.file=$digits" output.file=map.h5 \
            output.overwrite=yes "affinity.kind=$kind" layout.objective=trimap \
            "trimap.triplets=$triplets" output.measures=none >log 2>&1 || { cat log >&2; exit 1; }
        accuracy=$(measure map.h5 "accuracy of the 10 nearest neighbours")
        score=$(measure map.h5 "global score")
        echo "$kind, $triplets: 10-NN accuracy $accuracy, global score $score"
        at_least "10-NN accuracy, $kind, $triplets" "$accuracy" .96
        at_least "global score, $kind, $triplets" "$score" .895
    done
done
