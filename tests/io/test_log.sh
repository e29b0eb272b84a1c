#!/usr/bin/env bash
# What the verbs say on standard error: with --quiet nothing in a clean run, with --verbose more than
# without, at most two lines a stage, no carriage returns; and as JSON one object a line, with the
# stages, the trace and the costs in it, and what standard output has as one more such line.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
export OMP_NUM_THREADS=1
ranks=$(($(nproc --all) < 2 ? 1 : 2)) # no warning of too few processors

verb() { timeout 60 $IKT_MPIRUN "$ranks" "$IKT_PROGRAM" "$@" >out.txt 2>err.txt || fail "$*"; }
lines() { wc -l <err.txt; }

# Every line is an object that says when, how grave, where and what.
is_json() {
    command -v python3 >/dev/null || return 0
    python3 - <<'P' || fail "not JSON lines: $*"
import json, re, sys
for line in open("err.txt", encoding="utf-8"):
    fact = json.loads(line)
    assert list(fact)[:4] == ["time", "level", "stage", "message"], line
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", fact["time"]), line
    assert fact["level"] in ("error", "warning", "stage", "detail", "debug"), line
    assert all(v is None or isinstance(v, (int, float)) for v in list(fact.values())[4:]), line
results = [json.loads(line) for line in open("out.txt", encoding="utf-8")]
assert len(results) <= 1 and all(results), results
P
}

# speaks WORDS ARGUMENTS...: text at every level, and JSON; WORDS are in the details.
speaks() {
    local words=$1 normal
    shift
    verb "$@" --quiet
    [ -s err.txt ] && fail "--quiet is not: $*"
    cp out.txt quiet.txt
    verb "$@"
    normal=$(lines)
    grep -qvE '^iktsne: ' err.txt && fail "lines that do not begin with the program's name: $*"
    grep -qE ' (error|warning): ' err.txt && fail "a clean run warns: $*"
    grep -q $'\r' err.txt && fail "a carriage return: $*"
    verb "$@" --verbose
    [ "$(lines)" -gt "$normal" ] || fail "--verbose says no more: $*"
    grep -qE "$words" err.txt || fail "no '$words' with --verbose: $*"
    verb "$@" --log json
    is_json "$@"
    grep -q '^{.*}$' err.txt || [ "$normal" -eq 0 ] || fail "no JSON: $*"
    grep -q '^iktsne:' err.txt && fail "text among JSON: $*"
    [ -s quiet.txt ] && ! [ -s out.txt ] && fail "no result as JSON: $*"
    verb "$@" --log=json --quiet
    [ -s err.txt ] && fail "--quiet is not, as JSON: $*"
}

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 200 --dimensions 3 --clusters 2 --quiet || exit 1
settings="input.file=data.h5 output.file=run.h5 output.model=model.h5 output.overwrite=yes layout.iterations=120
    layout.exaggeration_iterations=20 isolation.psi=8 affinity.search=approximate layout.init=landmark"
seq 1 30 | sed 's/.*/&,1,2/' >table.csv
speaks "predicted memory" embed $settings
speaks "placement" transform model.h5 data.h5 placed.h5 --overwrite
speaks "placement" generate uniform-2d other.h5 --points 300 --overwrite
speaks "placement" convert table.csv table.h5 --overwrite
speaks "placement" evaluate run.h5 --input data.h5
speaks "placement" plot run.h5 run.png --overwrite
speaks "placement" align run.h5 run.h5 turned.h5 --overwrite
speaks "placement" view run.h5 page.html --overwrite
speaks "placement" export run.h5 places.csv --overwrite
speaks "placement" info run.h5
speaks "placement" plan $settings

# --quiet of every verb: results, and no report of what was done.
cat >few.yaml <<'END'
title: few
settings: {layout.iterations: 60, layout.exaggeration_iterations: 20}
methods: [{name: Isolation}]
measures: [10-NN accuracy]
data: [{name: d, file: data.h5}]
END
while read -r verb arguments; do
    $IKT_PROGRAM "$verb" $arguments --quiet >out.txt 2>err.txt || fail "$verb $arguments"
    [ ! -s err.txt ] || fail "--quiet is not: $verb"
    grep -qE 'Written: |Next: |It took |predicted\)\.' out.txt && fail "a report with --quiet: $verb"
    echo "$verb" >>quiet-verbs.txt
done <<END
embed $(echo $settings)
transform model.h5 data.h5 placed.h5 --overwrite
generate uniform-2d other.h5 --points 300 --overwrite
convert table.csv table.h5 --overwrite
evaluate run.h5 --input data.h5
plot run.h5 run.png --overwrite
view run.h5 run.html
info run.h5
plan $(echo $settings)
export run.h5 run.csv
align run.h5 run.h5 aligned.h5
landmarks data.h5 landmarks.h5 --count 20
study few.yaml
END
diff <(sort quiet-verbs.txt) <("$IKT_PROGRAM" --help | sed -n 's/^  \([a-z]*\)  *[A-Z].*/\1/p' | sort) ||
    fail "not every verb was tried with --quiet"

# A stage has a line for its end, where it is not short, and at most one of its own; that of preprocessing says
# what its automatic settings took.
verb embed $settings
end='^iktsne: [a-z]+: [0-9.]+ s$'
[ "$(grep -cE "$end" err.txt)" -le 13 ] && [ -z "$(grep -E "$end" err.txt | cut -d: -f2 | sort | uniq -d)" ] ||
    fail "a stage ends twice"
[ "$(grep -cvE "$end" err.txt)" -le 8 ] || fail "more lines than the stages have to say"

# run.log: the stages as they end, the trace, and the costs.
verb embed $settings run.log=json --verbose
is_json embed run.log=json --verbose
verb embed $settings run.log=json
is_json embed run.log=json
for stage in cells neighbours recall graph layout write measures landmarks; do
    [ "$(grep -c "\"stage\": \"$stage\", \"message\": \"$stage: .* s\", \"seconds\": " err.txt)" -eq 1 ] ||
        fail "not one end of the stage $stage"
    grep -q "\"message\": \"$stage: .* in all\".*\"mean_seconds\".*\"slowest_rank\"" err.txt ||
        fail "no cost of the stage $stage"
done
for iteration in 0 50 100 120; do
    grep -q "\"stage\": \"layout\".*\"iteration\": $iteration, \"kl\": [0-9.]*, \"gradient_norm\": " err.txt ||
        fail "iteration $iteration is not in the log"
done
grep -q '"peak_bytes_per_rank": [0-9]*,.*"predicted_bytes_per_rank": [0-9]*,' err.txt || fail "no memory"
grep -q '"rows": 200, "columns": 3, "ranks": ' err.txt || fail "no input"
verb embed $settings run.log=json --no-json
grep -q '^{' out.txt && fail "JSON on standard output with --no-json"
grep -q '^embedding hash ' out.txt || fail "no summary with --no-json"
"$IKT_PROGRAM" info run.h5 --config | grep '^  log: text$' >/dev/null || fail "the log is part of the result"

# Errors, too; and what is wrong with the choice itself.
"$IKT_PROGRAM" embed run.log=json input.file=none.h5 output.file=none2.h5 >out.txt 2>err.txt
[ $? -eq 4 ] || fail "none.h5: exit code 4 expected"
is_json "an error"
grep -q '"level": "error", "stage": null, "message": "none.h5 cannot be read' err.txt || fail "no error as JSON"
"$IKT_PROGRAM" info run.h5 --log jsn >out.txt 2>err.txt
[ $? -eq 2 ] && grep -q "^iktsne: error: --log: 'jsn' is not one of text, json" err.txt || fail "--log jsn"
"$IKT_PROGRAM" info run.h5 --log >out.txt 2>err.txt
[ $? -eq 2 ] && grep -q "^iktsne: error: --log needs a value" err.txt || fail "--log without a value"

# Too many threads: one warning for all ranks.
OMP_NUM_THREADS=500 timeout 60 $IKT_MPIRUN 3 "$IKT_PROGRAM" info run.h5 --quiet >out.txt 2>err.txt || fail "info"
[ "$(lines)" -eq 1 ] && grep -q "^iktsne: warning: more threads than processors .*(on all 3 ranks)$" err.txt ||
    fail "not one warning for three ranks"
exit "$failed"
