#!/usr/bin/env bash
# A small sample of the studies that compare methods: every method and every value that they vary makes a
# run on a small set under the names of their data, with few iterations, and every measure has its value.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

mkdir -p small
for name in digits usps; do
    "$IKT_PROGRAM" generate gaussian-mixture "small/$name.h5" --points 400 --dimensions 110 --clusters 10 \
        --seed 3 >/dev/null 2>&1 || exit 1
done
for name in wine basehock sim_voting; do
    "$IKT_PROGRAM" generate gaussian-mixture "small/$name.h5" --points 170 --dimensions 5 --clusters 3 \
        >/dev/null 2>&1 || exit 1
done

# sample NAME COMMANDS ARGUMENTS...: the study with one seed and 30 iterations, changed by commands of sed.
sample() {
    local name=$1 commands=$2 runs
    shift 2
    sed -e 's/^seeds: .*/seeds: [1]/' -e "$commands" "$IKT_SOURCE/config/studies/$name.yaml" >"$name.yaml"
    grep -q '^settings:' "$name.yaml" || echo 'settings:' >>"$name.yaml"
    sed -i 's/^settings:/settings:\n  layout.iterations: 30\n  layout.exaggeration_iterations: 10/' "$name.yaml"
    study="$IKT_PROGRAM study $name.yaml --data small --output $name"
    runs=$($study "$@" --list 2>err.txt | wc -l)
    timeout 250 $study "$@" >out.txt 2>err.txt || fail "$name: $(cat err.txt)"
    [ "$runs" -ge "$least" ] || fail "$name: $runs runs"
    [ "$(grep -c ',ok,' "$name/results.csv")" -eq "$runs" ] ||
        fail "$name: $(grep -c ',ok,' "$name/results.csv") of $runs runs are good: $(grep warning err.txt | head -3)"
}

# column NAME HEADING: the numbers of a column of results.csv, of runs of the data set SET.
column() {
    python3 - "$1/results.csv" "$2" "$3" <<'PYTHON'
import csv
import sys
for row in csv.DictReader(open(sys.argv[1])):
    if row["data"] == sys.argv[3]:
        print(row["method"], row[sys.argv[2]], sep="\t")
PYTHON
}

command -v python3 >/dev/null || { echo "skipped: needs python3"; exit 77; }

least=46
sample trimap '' --only digits
least=24
sample pool 's/\[256, 1024, 4096\]/[16, 32, 64]/; s/pool_rows: 256/pool_rows: 20/'
least=40
sample structure 's/share: 0.1/share: 0.5/'
least=21
sample methods 's/{input.dataset: K.*}/{input.dataset: X}/; s|{input.dataset: /}|{input.dataset: X}|' \
    --only wine,BASEHOCK,voting

# Every run has its measures; the ratio of the data is the same whatever the method, and principal
# components have the global score 1.
for of in "trimap digits" "methods wine"; do
    read -r name set <<<"$of"
    for heading in "10-NN accuracy" "triplet accuracy" "global score" "outlier ratio"; do
        column "$name" "$heading" "$set" >column.txt && [ -s column.txt ] || fail "$name, $set: no column $heading"
        awk -F'\t' '$2 == "" { print }' column.txt >empty.txt
        [ ! -s empty.txt ] || fail "$name, $set has no $heading: $(head -2 empty.txt)"
    done
    [ "$(column "$name" "outlier ratio of the data" "$set" | cut -f2 | sort -u | wc -l)" -eq 1 ] ||
        fail "$name, $set: the data have several ratios"
    [ "$(column "$name" "global score" "$set" | awk -F'\t' '$1 == "PCA" && $2 > 1 - 1e-9 { n++ } END { print n }')" -eq 1 ] ||
        fail "$name, $set: principal components have another global score than 1"
done
exit $failed
