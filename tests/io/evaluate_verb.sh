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
for name in Davies-Bouldin Calinski-Harabasz "10-NN accuracy" "1-NN error" AUC_RNX \
    "AUC_RNX (paper's k)" "trustworthiness (k 12)" "continuity (k 12)"; do
    [ -n "$(value "$name" one.json)" ] || fail "no '$name' in $(cat one.json)"
done

# The table has the same values; families and neighbours can be chosen.
"$IKT_PROGRAM" evaluate run.h5 --measures labels --k 3 >table 2>err || fail "--measures: $(cat err)"
[ "$(wc -l <table)" -eq 2 ] || fail "--measures labels printed: $(cat table)"
grep -q "^3-NN accuracy " table || fail "--k 3 printed: $(cat table)"

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

# The divergence is that of the run itself.
"$IKT_PROGRAM" evaluate run.h5 --input data.h5 --kl --json >kl.json 2>err || fail "--kl: $(cat err)"
awk -v a="$(value "KL divergence" kl.json)" \
    -v b="$(awk '/^KL divergence/ { print $3 }' embed.txt)" \
    'BEGIN { exit !(a > 0 && (a - b) ^ 2 < (0.01 * a) ^ 2) }' ||
    fail "--kl gives $(value "KL divergence" kl.json), the run $(grep '^KL' embed.txt)"

refused 2 "'nonsense' is no family" run.h5 --measures clusters,nonsense
refused 2 "need the input" run.h5 --measures ranks
refused 2 "choose k from 1 to 239" run.h5 --k 240
refused 2 "trust-k" run.h5 --input data.h5 --trust-k 120
refused 2 "preprocess.normalise" run.h5 --input data.h5 preprocess.normalize=none
refused 2 "--kl needs --input" run.h5 --kl
refused 3 "no data set 'species'" run.h5 --labels species
refused 3 "not the same data" run.h5 --input other.h5
refused 3 "/embedding" data.h5
refused 4 "missing.h5" missing.h5
refused 4 "missing.h5" run.h5 --input missing.h5

[ $failures -eq 0 ] || exit 1
