#!/bin/bash
# The verb evaluate from the command line: the same numbers on any ranks, what the options change,
# what is refused and with which exit code.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# refused CODE WORDS ARGUMENTS...: exit code and a part of the message
refused() {
    local code=$1 words=$2
    shift 2
    "$IKT_PROGRAM" evaluate "$@" >out 2>err
    local got=$?
    [ $got -eq "$code" ] || fail "evaluate $*: exit code $got, not $code"
    grep -qF -- "$words" err || fail "evaluate $*: '$words' is not in: $(cat err)"
    [ -s out ] && fail "evaluate $*: wrote to standard output"
}

# value NAME FILE: a value from the JSON
value() {
    awk -v name="\"$1\":" 'index($0, name) { found = 1 } found && /"value"/ {
        gsub(/[",]/, ""); print $2; exit }' "$2"
}

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 240 --seed 3 >/dev/null 2>&1 || exit 1
"$IKT_PROGRAM" generate gaussian-mixture other.h5 --points 100 --seed 3 >/dev/null 2>&1 || exit 1
"$IKT_PROGRAM" embed input.file=data.h5 output.file=run.h5 layout.iterations=80 isolation.psi=16 \
    isolation.partitionings=50 >embed.txt 2>&1 || { cat embed.txt; exit 1; }

all="evaluate run.h5 --input data.h5 --json"
OMP_NUM_THREADS=1 "$IKT_PROGRAM" $all >one.json 2>err || fail "$all: $(cat err)"
OMP_NUM_THREADS=2 $IKT_MPIRUN 3 "$IKT_PROGRAM" $all >three.json 2>err || fail "3 ranks: $(cat err)"
cmp one.json three.json || fail "1 and 3 ranks give different numbers"
for name in Davies-Bouldin Calinski-Harabasz "10-NN accuracy" "1-NN error" silhouette \
    "NMI of k-means" "silhouette of k-means" "Davies-Bouldin of k-means" \
    "10-NN accuracy, self included" "visualisation epsilon" AUC_RNX "AUC_RNX (paper's k)" \
    "trustworthiness (k 12)" "continuity (k 12)" "precision-recall area" "triplet accuracy" \
    "global score" "outlier ratio" "outlier ratio of the data" gamma "gamma spherical" "gamma separated"; do
    [ -n "$(value "$name" one.json)" ] || fail "no '$name' in $(cat one.json)"
done

# The table has the same values; families and neighbours can be chosen.
"$IKT_PROGRAM" evaluate run.h5 --measures labels --k 3 >table 2>err || fail "--measures: $(cat err)"
[ "$(wc -l <table)" -eq 3 ] || fail "--measures labels printed: $(cat table)"
grep -q "^accuracy of the 3 nearest neighbours .* 3-NN accuracy: " table || fail "--k 3 printed: $(cat table)"

# A sample is named; other preprocessing and another seed give other numbers.
sampled="--input data.h5 --measures ranks --exact-limit 100 --sample 40 --json"
"$IKT_PROGRAM" evaluate run.h5 $sampled >sample.json 2>err || fail "$sampled: $(cat err)"
grep -q '"sample": 40' sample.json || fail "the sample is not named: $(cat sample.json)"
for other in "--seed 2" preprocess.normalise=zscore preprocess.pca=1; do
    "$IKT_PROGRAM" evaluate run.h5 $sampled $other >other.json 2>err || fail "$other: $(cat err)"
    [ "$(value AUC_RNX sample.json)" != "$(value AUC_RNX other.json)" ] || fail "$other did nothing"
done
"$IKT_PROGRAM" evaluate run.h5 $sampled --memory 1 >other.json 2>err || fail "--memory: $(cat err)"
cmp sample.json other.json || fail "--memory changes numbers"

# The other options: triplets and restarts reach their measures, every family is in the help.
one="run.h5 --input data.h5 --json --measures"
"$IKT_PROGRAM" evaluate $one triplets >few.json 2>err || fail "triplets: $(cat err)"
"$IKT_PROGRAM" evaluate $one triplets --triplets 50 >many.json 2>err ||
    fail "--triplets: $(cat err)"
[ "$(value "triplet accuracy" few.json)" != "$(value "triplet accuracy" many.json)" ] ||
    fail "--triplets did nothing"
"$IKT_PROGRAM" evaluate $one kmeans --restarts 3 >kmeans.json 2>err || fail "--restarts: $(cat err)"
grep -q "best of 3 restarts" kmeans.json || fail "--restarts did nothing: $(cat kmeans.json)"
"$IKT_PROGRAM" evaluate --help >help.txt 2>err || fail "--help: $(cat err)"
for family in clusters labels silhouette kmeans visible ranks retrieval triplets global \
    separation kernel; do
    grep -q "$family:" help.txt || fail "the help does not know the family $family"
done

# The curve: a line for every k, the same on any ranks, and its weighted mean is AUC_RNX.
"$IKT_PROGRAM" evaluate run.h5 --input data.h5 --measures ranks --curve one.csv --json \
    >curve.json 2>err || fail "--curve: $(cat err)"
$IKT_MPIRUN 3 "$IKT_PROGRAM" evaluate run.h5 --input data.h5 --measures ranks --curve three.csv \
    >out 2>err || fail "--curve on 3 ranks: $(cat err)"
cmp one.csv three.csv || fail "1 and 3 ranks give different curves"
[ "$(wc -l <one.csv)" -eq 239 ] || fail "the curve has $(wc -l <one.csv) lines"
awk -F, -v auc="$(value AUC_RNX curve.json)" 'NR > 1 { sum += $3 / $1; weight += 1 / $1 }
    END { exit !((sum / weight - auc) ^ 2 < 1e-24) }' one.csv ||
    fail "the curve is not that of AUC_RNX"

# Ranks by the kernel: the run's own codes, the same on any ranks, not those by distance.
kernel="evaluate run.h5 --input data.h5 --measures ranks,kernel --kernel --json"
"$IKT_PROGRAM" $kernel >kernel.json 2>err || fail "--kernel: $(cat err)"
$IKT_MPIRUN 3 "$IKT_PROGRAM" $kernel >three.json 2>err || fail "--kernel on 3 ranks: $(cat err)"
cmp kernel.json three.json || fail "1 and 3 ranks give different ranks by the kernel"
[ -n "$(value "AUC_RNX, kernel" kernel.json)" ] || fail "no ranks by the kernel"
[ "$(value "AUC_RNX, kernel" kernel.json)" != "$(value AUC_RNX kernel.json)" ] ||
    fail "ranks by the kernel are those by distance"

# Marked rows: the median and the mean of their ranks. The origin of five-subspace is of class 1.
"$IKT_PROGRAM" generate five-subspace five.h5 --seed 3 >/dev/null 2>&1 || exit 1
"$IKT_PROGRAM" embed input.file=five.h5 output.file=five_run.h5 layout.iterations=60 \
    output.measures=all --json >five.json 2>err || fail "five-subspace: $(cat err)"
for name in "row 0 to class 1" "row 0 to class 1, mean" silhouette AUC_RNX; do
    [ -n "$(value "$name" five.json)" ] || fail "output.measures=all lacks '$name'"
done
"$IKT_PROGRAM" embed input.file=five.h5 output.file=five_run.h5 output.overwrite=yes \
    layout.iterations=60 --json >five.json 2>err || fail "five-subspace: $(cat err)"
[ -n "$(value Davies-Bouldin five.json)" ] || fail "output.measures=map lacks Davies-Bouldin"
[ -z "$(value silhouette five.json)" ] || fail "output.measures=map does what is not cheap"

# The divergence is that of the run itself, where P has its rows in the order of coarse cells, too.
for search in exact approximate; do
    "$IKT_PROGRAM" embed input.file=data.h5 output.file=$search.h5 layout.iterations=80 isolation.psi=16 \
        affinity.search=$search --verbose >embed.txt 2>err || fail "affinity.search=$search: $(cat err)"
    "$IKT_PROGRAM" evaluate $search.h5 --input data.h5 --kl --json >kl.json 2>err || fail "--kl: $(cat err)"
    awk -v a="$(value "KL divergence" kl.json)" \
        -v b="$(awk '/^KL divergence  / { print $3 }' embed.txt)" \
        'BEGIN { exit !(a > 0 && (a - b) ^ 2 < (0.01 * a) ^ 2) }' ||
        fail "$search: --kl gives $(value "KL divergence" kl.json), the run $(grep '^KL divergence  ' embed.txt)"
done

# P that follows labels is made from those of the run, whatever --labels names.
"$IKT_PROGRAM" embed data.h5 fisher.h5 affinity.kind=fisher layout.iterations=60 --verbose >embed.txt 2>err ||
    fail "affinity.kind=fisher: $(cat err)"
"$IKT_PROGRAM" evaluate fisher.h5 --input data.h5 --kl --measures clusters --json >kl.json 2>err ||
    fail "--kl of a fisher run: $(cat err)"
awk -v a="$(value "KL divergence" kl.json)" -v b="$(awk '/^KL divergence  / { print $3 }' embed.txt)" \
    'BEGIN { exit !(a > 0 && (a - b) ^ 2 < (1e-4 * a) ^ 2) }' ||
    fail "fisher: --kl gives $(value "KL divergence" kl.json), the run $(grep '^KL divergence  ' embed.txt)"

# Other data of the same shape are warned of, and those of the run are not, however they were prepared.
other="the values of same.h5, or their type, are not those that the run of run.h5 has read"
"$IKT_PROGRAM" generate gaussian-mixture same.h5 --points 240 --seed 4 >/dev/null 2>&1 || exit 1
"$IKT_PROGRAM" evaluate run.h5 --input same.h5 --measures trustworthiness >out 2>err || fail "other data: $(cat err)"
grep -qF "$other" err || fail "nothing is said of other data: $(cat err)"
{ echo "a,b,kind"; for i in $(seq 60); do
    echo "$((i * 7 % 31 + 40 * (i % 2))),$((i * i % 29)),$([ $((i % 5)) = 0 ] || echo "c$((i % 2))")"; done; } >some.csv
sed '5s/^[0-9]*,/,/' some.csv >gaps.csv
for run in "data.h5 input.rows=200" "data.h5 preprocess.pca=2 preprocess.normalise=zscore" \
    "gaps.csv preprocess.missing=mean" "gaps.csv preprocess.missing=drop" "some.csv input.labels=kind"; do
    "$IKT_PROGRAM" embed $run layout.iterations=30 isolation.psi=16 output.file=same.out.h5 \
        output.overwrite=yes output.picture=none >out 2>err || fail "$run: $(cat err)"
    "$IKT_PROGRAM" evaluate same.out.h5 --input ${run%% *} --measures trustworthiness >out 2>err || fail "$run: $(cat err)"
    grep -q "are not those" err && fail "$run: the data of the run are called others"
done

# Labels -1 and 1 alone are two classes, as programs that tell two apart write them; with others -1 is none.
{ echo "a,b,label"; for i in $(seq 60); do echo "$((i * 7 % 31 + 40 * (i % 2))),$((i * i % 29)),$((2 * (i % 2) - 1))"; done; } >two.csv
sed '2s/,1$/,2/' two.csv >three.csv
for run in two.csv: three.csv:30; do
    "$IKT_PROGRAM" embed ${run%:*} two.h5 layout.iterations=30 isolation.psi=16 output.overwrite=yes output.picture=none \
        output.measures=none >/dev/null 2>err || fail "$run: $(cat err)"
    "$IKT_PROGRAM" evaluate two.h5 --measures clusters --json >two.json 2>err || fail "$run: $(cat err)"
    [ "$(sed -n 's/.*"rows_without_label": \([0-9]*\).*/\1/p' two.json)" = "${run#*:}" ] || fail "$run: $(cat two.json)"
done
"$IKT_PROGRAM" embed two.csv two.h5 layout.objective=kda output.overwrite=yes output.picture=none >/dev/null 2>err ||
    fail "two classes of kda: $(cat err)"

# Rows without a label: how many there are is told.
"$IKT_PROGRAM" evaluate same.out.h5 --input some.csv --json >one.json 2>err || fail "without labels: $(cat err)"
OMP_NUM_THREADS=1 $IKT_MPIRUN 3 "$IKT_PROGRAM" evaluate same.out.h5 --input some.csv --json >three.json 2>/dev/null
cmp one.json three.json || fail "1 and 3 ranks give different numbers of rows with a label"
grep -q "12 of 60 rows have no label (below 0, or an empty name)" err || fail "rows without a label: $(cat err)"
grep -q '"rows_without_label": 12' one.json || fail "rows without a label in JSON"
grep -q 'class -1' one.json && fail "rows without a label are a class"
"$IKT_PROGRAM" embed some.csv same.out.h5 input.labels=kind layout.iterations=30 isolation.psi=16 output.overwrite=yes \
    output.picture=none 2>/dev/null | tr '\n' ' ' |
    grep -q 'of the 48 rows with a label have the class of most of their 10 nearest such rows' || fail "the summary counts rows without a label"

# Of few rows fewer neighbours are taken, which is said, unless the number is asked for.
"$IKT_PROGRAM" generate gaussian-mixture few.h5 --points 8 --dimensions 3 --clusters 2 --quiet
"$IKT_PROGRAM" embed few.h5 few-run.h5 output.picture=none output.measures=none --quiet >/dev/null 2>err || fail "8 rows: $(cat err)"
"$IKT_PROGRAM" evaluate few-run.h5 --input few.h5 --json >few.json 2>err || fail "measures of 8 rows: $(cat err)"
[ -n "$(value "trustworthiness (k 2)" few.json)" ] && [ -n "$(value "7-NN accuracy" few.json)" ] || fail "neighbours among 8 rows"
grep -q 'of 8 rows, 2 neighbours are taken (--trust-k)' err && grep -q 'of 8 rows with a label, 7 neighbours are taken (k)' err ||
    fail "fewer neighbours are not told: $(cat err)"
refused 2 "over 12 neighbours needs" few-run.h5 --input few.h5 --trust-k 12
refused 2 "'nonsense' is no measure" run.h5 --measures clusters,nonsense
refused 2 "need the input" run.h5 --measures ranks
refused 2 "choose k from 1 to 239" run.h5 --k 240
refused 2 "trust-k" run.h5 --input data.h5 --trust-k 120
refused 2 "preprocess.normalise" run.h5 --input data.h5 preprocess.normalize=none
refused 2 "--kl needs --input" run.h5 --kl
refused 2 "--kernel needs --input" run.h5 --kernel
refused 2 "another affinity.kind" run.h5 --input data.h5 --kernel affinity.kind=gaussian
refused 2 "need codes" run.h5 --input data.h5 --measures kernel
refused 2 "--curve needs --input" run.h5 --curve new.csv
refused 2 "the family ranks" run.h5 --input data.h5 --curve new.csv --measures labels,rank
refused 4 "one.csv" run.h5 --input data.h5 --curve one.csv
refused 4 "nowhere" run.h5 --input data.h5 --curve nowhere/new.csv
refused 3 "no data set 'species'" run.h5 --labels species
refused 3 "not the same data" run.h5 --input other.h5
refused 3 "/embedding" data.h5
refused 4 "missing.h5" missing.h5
refused 4 "missing.h5" run.h5 --input missing.h5

[ $failures -eq 0 ] || exit 1
