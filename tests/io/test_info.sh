#!/usr/bin/env bash
# iktsne info: a data set and a result, as text and as JSON, on one rank and on three; the stored
# configuration repeats the run.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

# info ARGUMENTS...: the same output on one rank and on three, in out.txt.
info() {
    "$IKT_PROGRAM" info "$@" >out.txt || fail "info $* on one rank"
    $IKT_MPIRUN 3 "$IKT_PROGRAM" info "$@" 2>/dev/null >three.txt || fail "info $* on 3 ranks"
    cmp -s out.txt three.txt || fail "info $* prints differently on 3 ranks"
}

# shows TEXT...: lines of out.txt, blanks before them aside.
shows() {
    local text
    for text in "$@"; do
        sed 's/^ *//' out.txt | grep -qxF -- "$text" || fail "no line '$text'"
    done
}

is_json() {
    command -v python3 >/dev/null || return 0
    python3 -c 'import json, sys
def once(pairs):
    assert len(dict(pairs)) == len(pairs), "a key twice"
    return dict(pairs)
json.load(sys.stdin, object_pairs_hook=once)' <out.txt || fail "not valid JSON"
}

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 60 --dimensions 3 --clusters 2 --quiet ||
    exit 1
info data.h5
shows "data.h5:/X: 60 rows x 3 columns, float32, with labels"
info data.h5 --json
is_json
shows '"kind": "data",' '"rows": 60,' '"columns": 3,' '"type": "float32",' '"labels": true,' \
    '"marked": 0'

"$IKT_PROGRAM" embed input.file=data.h5 output.file=run.h5 isolation.psi=8 layout.iterations=20 \
    layout.exaggeration_iterations=5 run.seed=9 --quiet --json >run.json || exit 1
hash=$(sed -n 's/.*"hash": "\([0-9a-f]*\)".*/\1/p' run.json)
info run.h5
shows "run.h5: embedding of 60 rows in 2 dimensions, with labels" "this run"
grep -q "embedding_hash  *$hash\$" out.txt || fail "not the hash that embed printed: $hash"
# The file is written before the run has ended; the total is what had passed by then.
awk '$1 == "seconds_total" { total = $2 } $1 ~ /^seconds_(codes|layout)/ { parts += $2 }
    END { exit !(total > 0 && total >= 0.9 * parts) }' out.txt || fail "seconds_total: $(grep seconds_ out.txt)"
info run.h5 --json
is_json
shows '"kind": "embedding",' '"rows": 60,' '"labels": true,' "\"embedding_hash\": \"$hash\"," \
    '"run": {' '"ranks": "1",'

info run.h5 --config
shows "seed: 9" "psi: 8" 'file: "data.h5"'
"$IKT_PROGRAM" embed out.txt output.file=again.h5 --quiet --json >again.json || fail "no repetition"
grep -q "\"hash\": \"$hash\"" again.json || fail "the stored configuration gives another embedding"

"$IKT_PROGRAM" info data.h5 --config >out.txt 2>&1
[ $? -eq 3 ] || fail "data has no configuration: exit code 3 expected"
[ "$failed" -eq 0 ] && echo "info told what the files are"
exit "$failed"
