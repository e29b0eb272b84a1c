#!/usr/bin/env bash
# iktsne study: what is refused before anything runs; runs, their lines and the report; the same on
# any ranks and groups; failing runs; going on where a study was stopped; jobs that share a study.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

study() { timeout 120 "$IKT_PROGRAM" study "$@" >out.txt 2>err.txt; }
on_ranks() {
    local launch
    read -ra launch <<<"$IKT_MPIRUN $1"
    shift
    timeout 120 "${launch[@]}" "$IKT_PROGRAM" study "$@" >out.txt 2>err.txt
}

# refused CODE WORDS ARGUMENTS...
refused() {
    local code=$1 words=$2 got
    shift 2
    study "$@"
    got=$?
    [ "$got" -eq "$code" ] || fail "exit code $got instead of $code: $*"
    grep -q "^iktsne: error: .*$words" err.txt || fail "no '$words': $*"
    [ "$(grep -c '^iktsne: error' err.txt)" -eq 1 ] || fail "more than one message: $*"
}

# Columns of results.csv that do not change from run to run, by identity.
facts() {
    sed 's/"blobs, three"/blobs/' "$1/results.csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) skip[i] = $i ~ /seconds|MB/ }
        { line = ""; for (i = 1; i <= NF; i++) if (!skip[i]) line = line $i ","; print line }' |
        sort
}

cat >small.yaml <<'Y'
title: "A | small <study>"
data:
  - {name: "blobs, three", generate: gaussian-mixture, options: {points: 90, dimensions: 4, clusters: 3}}
  - {name: gone, file: gone.h5, optional: yes}
settings: {affinity.support: dense, layout.iterations: 60}
methods:
  - {name: Gaussian, settings: {affinity.kind: gaussian}, vary: {gaussian.perplexity: [5, 0.1n, 200]}}
  - {name: Isolation, vary: {isolation.psi: [4, 8, .., 16]}}
seeds: [1, 2]
measures: [Davies-Bouldin, AUC_RNX, seconds]
Y

# Refused before anything runs.
refused 4 "none.yaml cannot be read" none.yaml
sed 's/isolation.psi/isolation.psj/' small.yaml >bad.yaml
refused 2 "bad.yaml, line 8: .*did you mean 'isolation.psi'" bad.yaml --output r
sed 's/AUC_RNX/AUC_RMX/' small.yaml >bad.yaml
refused 2 "bad.yaml, line 10: there is no measure 'AUC_RMX'" bad.yaml --output r
sed 's/, optional: yes//' small.yaml >bad.yaml
refused 4 "the data set 'gone' (gone.h5) is neither beside the study nor" bad.yaml --output r
refused 2 "has no data set 'other'" small.yaml --output r --only other
refused 2 "did you mean --retry" small.yaml --retyr
# The landmarks of a start are a run of their own.
sed 's/affinity.support: dense, /layout.objective: trimap, layout.init: landmark, layout.landmarks: 2, /
     /name: Gaussian/d' small.yaml >bad.yaml
refused 2 "layout.objective=trimap needs at least 4 rows, the data has 2" bad.yaml --output r
[ ! -e r/results.csv ] || fail "a refused study left results"

# The studies that come with the program are read, down to the choice of their data.
for file in "$IKT_SOURCE"/config/studies/*.yaml; do
    refused 2 "has no data set 'none at all'" "$file" --output r --only "none at all"
done

# 6 Gaussian runs, of which perplexity 200 is too much for 90 rows, and 8 of isolation.
study small.yaml --output one --list || fail "--list"
[ "$(wc -l <out.txt)" -eq 14 ] || fail "not 14 runs"
study small.yaml --output one || fail "a study with failing runs must go on"
grep -q "'gone' (gone.h5) is left out" err.txt || fail "no word about the data set left out"
[ "$(tail -n +2 one/results.csv | wc -l)" -eq 14 ] || fail "not 14 lines"
[ "$(grep -c ',failed,.*perplexity = 200' one/results.csv)" -eq 2 ] || fail "not 2 failed lines"
[ "$(grep -c ',ok,' one/results.csv)" -eq 12 ] || fail "not 12 good lines"
grep -q '12 succeeded, 2 failed' one/report/report.md || fail "the report's count"
grep -q 'A &lt;' one/report/report.html && fail "odd title" # escaped once, not twice
grep -q '<h1>A | small &lt;study&gt;</h1>' one/report/report.html || fail "the page's title"
grep -q 'src="data:image/png;base64,iVBOR' one/report/report.html || fail "no picture in the page"
grep -c '<svg' one/report/report.html | grep -q '^[1-9]' || fail "no curve in the page"
grep -qE '(src|href)="(http|figure|picture)' one/report/report.html && fail "the page needs files"
for figure in $(sed -n 's/^!\[.*\](\(.*\))$/\1/p' one/report/report.md); do
    [ -s "one/report/$figure" ] || fail "report.md shows $figure, which is not there"
done
# Embeddings of the best runs only: two measures, two methods, at most four.
[ "$(ls one/best | wc -l)" -le 4 ] && [ "$(ls one/best | wc -l)" -ge 2 ] || fail "best: $(ls one/best)"
ls one/best | grep -qv '^[0-9a-f]*\.h5$' && fail "other files among the best"

# Nothing is done twice; failed runs only where asked for.
study small.yaml --output one || fail "again"
grep -q "14 of them done before" err.txt || fail "done before"
[ "$(tail -n +2 one/results.csv | wc -l)" -eq 14 ] || fail "runs were made twice"
study small.yaml --output one --retry || fail "--retry"
[ "$(tail -n +2 one/results.csv | wc -l)" -eq 16 ] || fail "--retry did not try 2 runs"

# The same lines from any number of groups, and from groups of two ranks.
facts one >expected.txt
on_ranks 3 small.yaml --output three || fail "3 ranks"
sort -u expected.txt | diff - <(facts three | sort -u) >diff.txt || fail "3 groups: $(head -3 diff.txt)"
on_ranks 4 small.yaml --output four --ranks 2 || fail "4 ranks"
sort -u expected.txt | diff - <(facts four | sort -u) >diff.txt || fail "groups of 2: $(head -3 diff.txt)"

# A study that was killed in the middle of a line goes on, and ends as one that was not.
mkdir -p killed
head -5 one/results.csv >killed/results.csv
sed -n 6p one/results.csv | head -c 40 >>killed/results.csv
study small.yaml --output killed || fail "going on"
grep -q "4 of them done before" err.txt || fail "4 whole lines were not taken over"
sort -u expected.txt | diff - <(facts killed | grep -E '^id|,(ok|failed),' | sort -u) >diff.txt ||
    fail "a stopped study ends otherwise: $(head -3 diff.txt)"

# Two tasks of an array share the runs, also where one of them was requeued: none is made twice.
export SLURM_ARRAY_JOB_ID=7
SLURM_ARRAY_TASK_ID=1 SLURM_RESTART_COUNT=1 timeout 120 "$IKT_PROGRAM" study small.yaml --output shared >other.txt 2>&1 &
SLURM_ARRAY_TASK_ID=2 study small.yaml --output shared || fail "the first of two tasks"
wait $! || fail "the second of two tasks"
[ "$(tail -n +2 shared/results.csv | wc -l)" -eq 14 ] || fail "two tasks made $(tail -n +2 shared/results.csv | wc -l) runs"
sort -u expected.txt | diff - <(facts shared | sort -u) >diff.txt || fail "two tasks: $(head -3 diff.txt)"

# What another task of the array has begun is left to it; what an earlier start of the same task,
# and what another job began, is taken again.
study small.yaml --output claims --list
mapfile -t ids < <(awk '{ print $1 }' out.txt)
mkdir -p claims
printf '%s\n' "slurm-7_12-0 ${ids[0]}" "slurm-7_1-0 ${ids[1]}" "slurm-70_12-0 ${ids[2]}" >claims/queue
SLURM_ARRAY_TASK_ID=1 SLURM_RESTART_COUNT=1 study small.yaml --output claims || fail "a requeued task"
for i in "${!ids[@]}"; do
    lines=$(grep -c "^${ids[i]}," claims/results.csv)
    [ "$lines" -eq $((i > 0)) ] || fail "run $i of a requeued task has $lines lines"
done
unset SLURM_ARRAY_JOB_ID

# A map whose rows are all in one place is a result without measures, and best in nothing.
cat >flat.yaml <<'Y'
data: [{name: blobs, generate: gaussian-mixture, options: {points: 90, dimensions: 4, clusters: 3}}]
settings: {layout.iterations: 0}
methods: [{name: Isolation}]
measures: [Davies-Bouldin]
Y
study flat.yaml --output flat || fail "a flat map"
grep -q ',ok,.*all rows are in one place' flat/results.csv || fail "a flat map is not told"
[ -z "$(ls flat/best)" ] || fail "a flat map is among the best"

# KL is a divergence; what other objectives minimise is their cost.
cat >cost.yaml <<'Y'
data: [{name: blobs, generate: gaussian-mixture, options: {points: 90, dimensions: 4, clusters: 3}}]
settings: {layout.iterations: 60}
methods: [{name: t-SNE}, {name: PCA, settings: {layout.objective: pca}}]
measures: [KL, cost]
Y
study cost.yaml --output cost || fail "objectives of two kinds"
awk -F, 'NR == 1 { for (c = 1; c <= NF; c++) at[$c] = c; next }
    { kl = $at["KL"]; cost = $at["cost"] }
    $3 == "t-SNE" { good += kl > 0 && cost == "" }
    $3 == "PCA" { good += kl == "" && cost < 0 }
    END { exit good != 2 }' cost/results.csv || fail "KL and cost: $(cat cost/results.csv)"

# A source that other sets and settings refer to; fewer seeds for one of the sets.
cat >refer.yaml <<'Y'
data:
  - {name: base, generate: gaussian-mixture, options: {points: 200, dimensions: 4, clusters: 3}, embed: no}
  - {name: small, generate: gaussian-mixture, options: {points: 60, dimensions: 4, clusters: 3}, seeds: 1}
  - {name: other, generate: gaussian-mixture, options: {points: 70, dimensions: 4, clusters: 3}, reference: small}
settings: {layout.iterations: 60}
methods: [{name: Isolation, settings: {isolation.psi: 150, isolation.model_from: "data:base"}}]
seeds: [1, 2]
measures: [arrangement error]
Y
study refer.yaml --output refer || fail "a study with a source"
[ "$(grep -c ',ok,' refer/results.csv)" -eq 3 ] || fail "not 3 runs: $(cat refer/results.csv)"
grep -q '^[0-9a-f]*,base,' refer/results.csv && fail "a source was embedded"
[ "$(awk -F, '$2 == "other" && $15 != "" { n++ } END { print n }' refer/results.csv)" -eq 2 ] ||
    fail "no comparison with the reference"

# Results of another study are not mixed up with ours.
sed 's/AUC_RNX, //' small.yaml >fewer.yaml
refused 2 "has other columns than this study" fewer.yaml --output one

# A run that three sessions began and none ended is given up; a folder that cannot be made.
mkdir -p hopeless
study small.yaml --output hopeless --list
id=$(awk 'NR == 1 { print $1 }' out.txt)
printf 'a %s\nb %s\nc %s\n' "$id" "$id" "$id" >hopeless/queue
study small.yaml --output hopeless || fail "a hopeless run"
given_up=".*begun 3 times before where it stands"
grep -q "^$id,$given_up" hopeless/results.csv || fail "not given up"
# Sessions count that got no further than the checkpoint that is there.
cat >one.yaml <<'Y'
data: [{name: blobs, generate: gaussian-mixture, options: {points: 90, dimensions: 4, clusters: 3}}]
settings: {layout.iterations: 600, run.checkpoint_every: 0.00001, run.checkpoint_keep: yes}
methods: [{name: Isolation, settings: {isolation.psi: 8}}]
measures: [Davies-Bouldin]
Y
study one.yaml --output hopeful || fail "a run that keeps its checkpoint"
id=$(cut -d' ' -f2 hopeful/queue)
now=$(stat -c %.9Y hopeful/best/"$id".h5.checkpoint/*.h5 | tr -d ., | sort -n | tail -1)
[ -n "$now" ] || fail "no checkpoint"
for begun in 0 $((now - 1)) "$now"; do
    rm hopeful/results.csv
    printf "%s $id $begun\n" a b c >hopeful/queue
    study one.yaml --output hopeful || fail "a run that was killed three times"
    expected="^$id,.*,ok,"
    [ "$begun" != "$now" ] || expected=$given_up
    grep -q "$expected" hopeful/results.csv ||
        fail "begun with a checkpoint of $begun, and now it is of $now: $(tail -1 hopeful/results.csv)"
    now=$(stat -c %.9Y hopeful/best/"$id".h5.checkpoint/*.h5 | tr -d ., | sort -n | tail -1)
done
refused 4 "cannot be made" small.yaml --output /proc/none/here
exit $failed
