#!/usr/bin/env bash
# New digits in a map of TriMap: 797 rows placed among 1,000 that were embedded lie among rows of their
# class nearly as often as those do (.96 of .96 to .97), by distances and by the Isolation kernel, with
# fixed triplets and with a pool. The program on two ranks, as its user runs it.
set -euo pipefail
digits=${IKT_TEST_DATA:-}/raw/digits.npy
labels=${IKT_TEST_DATA:-}/raw/digits-labels.npy
[ -r "$digits" ] && [ -r "$labels" ] || { echo "skipped: the real data are not there"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# part FILE ROW_BYTES FIRST COUNT: these rows of an NPY file of 1,797 with a header of 128 bytes.
part() {
    local shape
    shape=$(printf '%-5s' "$4,")
    head -c 128 "$1" | LC_ALL=C sed "s/(1797,/($shape/"
    tail -c +$((129 + $2 * $3)) "$1" | head -c $(($2 * $4)) || true
}

part "$digits" 256 0 1000 >old.npy
part "$digits" 256 1000 797 >new.npy
part "$labels" 4 0 1000 >old-labels.npy
part "$labels" 4 1000 797 >new-labels.npy

for kind in knn isolation; do
    for triplets in fixed pool; do
        $IKT_MPIRUN 2 "$IKT_PROGRAM" embed input.file=old.npy input.labels=old-labels.npy \
            output.file=map.h5 output.model=model.h5 output.overwrite=yes "affinity.kind=$kind" \
            layout.objective=trimap "trimap.triplets=$triplets" output.measures=none >log 2>&1 ||
            { cat log >&2; exit 1; }
        fitted=$("$IKT_PROGRAM" evaluate map.h5 --measures labels 2>/dev/null |
            sed -n 's/^accuracy of the 10 nearest neighbours *\([0-9.]*\).*/\1/p')
        $IKT_MPIRUN 2 "$IKT_PROGRAM" transform model.h5 new.npy placed.h5 --labels new-labels.npy \
            --picture none --overwrite --json >placed.json 2>log || { cat log >&2; exit 1; }
        placed=$(sed -n 's/.*"label_accuracy_among_old_rows": \([0-9.]*\).*/\1/p' placed.json)
        echo "$kind, $triplets: 10-NN accuracy $fitted of the map, $placed of the rows placed in it"
        awk -v is="$placed" 'BEGIN { exit !(is >= .93) }' ||
            { echo "10-NN accuracy of placed rows, $kind, $triplets: $placed is below .93" >&2; exit 1; }
    done
done
