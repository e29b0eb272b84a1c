#!/usr/bin/env bash
# iktsne landmarks: rows of the input as they are, the same file on any ranks; a map of them in which all
# rows are placed; the same as a method of a study; what is refused.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checkpoints.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/python.sh"

"$IKT_PROGRAM" generate gaussian-mixture blobs.h5 --points 500 --dimensions 6 --clusters 4 --seed 3 --quiet || exit 1

choose() { # RANKS ARGUMENTS...
    launch "$1"
    shift
    "${launcher[@]}" "$IKT_PROGRAM" landmarks "$@" >out.txt 2>err.txt
    code=$?
}

rows() {
    local python
    choose 1 blobs.h5 some.h5 --count 60
    [ $code -eq 0 ] || fail "landmarks"
    grep -q '60 landmarks, after [0-9]* steps of k-means.* from [0-9.]* to [0-9.]*$' err.txt || fail "nothing is told"
    choose 1 blobs.h5 drawn.h5 --count 60 --steps 0
    [ $code -eq 0 ] || fail "rows drawn"
    python=$(find_python h5py numpy) || return 0
    "$python" - <<'PY' || fail "the rows in the file"
import h5py, numpy
data, some, drawn = (h5py.File(name) for name in ("blobs.h5", "some.h5", "drawn.h5"))
def distance(rows):
    x = data["X"][:].astype(float)
    return numpy.sqrt(((x[:, None] - x[rows][None]) ** 2).sum(2).min(1)).mean()
for file in (some, drawn):
    rows = file["rows"][:]
    assert len(rows) == 60 and (numpy.diff(rows) > 0).all(), rows
    assert file["X"].dtype == data["X"].dtype
    assert numpy.array_equal(file["X"][:], data["X"][:][rows])
    assert numpy.array_equal(file["labels"][:], data["labels"][:][rows])
assert distance(some["rows"][:]) < 0.95 * distance(drawn["rows"][:])
PY
}

# Their numbers are those of the file, also where rows before them are left out.
gaps() {
    local python ranks
    python=$(find_python h5py numpy) || return 0
    "$python" -c 'import h5py, numpy
x = numpy.random.default_rng(1).normal(size=(90, 3))
x[[2, 40, 41], [0, 1, 2]] = numpy.nan
with h5py.File("gaps.h5", "w") as f: f["X"], f["labels"] = x, numpy.arange(90)'
    for ranks in 1 3; do
        choose $ranks gaps.h5 left.h5 --count 20 --overwrite preprocess.missing=drop
        [ $code -eq 0 ] || fail "landmarks of rows with gaps"
        "$python" -c 'import h5py, numpy
f, x = h5py.File("left.h5"), h5py.File("gaps.h5")["X"][:]
assert numpy.array_equal(f["rows"][:], f["labels"][:]) and f["rows"][:].max() > 41
assert numpy.array_equal(f["X"][:], x[f["rows"][:]])' || fail "numbers of landmarks on $ranks ranks"
    done
}

bits() {
    local ranks threads how
    for how in "" "preprocess.normalise=zscore preprocess.pca=3" "preprocess.metric=cosine run.seed=5"; do
        # shellcheck disable=SC2086
        choose 1 blobs.h5 one.h5 --count 60 --overwrite $how
        [ $code -eq 0 ] || fail "landmarks $how"
        for ranks in "${other_ranks[@]}"; do
            threads=$((ranks % 2 + 1))
            # shellcheck disable=SC2086
            OMP_NUM_THREADS=$threads choose $ranks blobs.h5 "many.h5" --count 60 --overwrite $how
            h5diff one.h5 many.h5 >/dev/null || fail "landmarks $how differ on $ranks ranks"
        done
    done
    h5diff one.h5 some.h5 >/dev/null && fail "settings and seed do not matter"
}

# Three commands, and the method of a study that does the three.
map() {
    local usual=(isolation.psi=16 layout.iterations=60 layout.exaggeration_iterations=20) hash=() study ranks
    embed 1 some.h5 map.h5 "${usual[@]}" output.picture=none output.measures=none output.model=model.h5
    [ $code -eq 0 ] || fail "a map of landmarks"
    "$IKT_PROGRAM" transform model.h5 blobs.h5 placed.h5 --picture none >out.txt 2>err.txt || fail "placing all rows"
    grep -q '^500 new rows\|500 rows' out.txt || fail "not all rows are placed"
    cat >study.yaml <<'YAML'
data:
  - {name: blobs, file: blobs.h5}
settings: {isolation.psi: 16, layout.iterations: 60, layout.exaggeration_iterations: 20}
methods:
  - {name: landmarks, landmarks: 60}
  - {name: all}
seeds: [1]
measures: [10-NN accuracy, KL, seconds]
YAML
    for ranks in 1 3; do
        launch $ranks
        "${launcher[@]}" "$IKT_PROGRAM" study study.yaml --ranks $ranks --output "study$ranks" >out.txt 2>err.txt ||
            fail "a study"
        hash+=("$(awk -F, '$3 == "landmarks" && $5 == "ok" && $7 == 500 { print $6 }' "study$ranks/results.csv")")
        study=$(awk -F, '$3 == "landmarks" { print $1 }' "study$ranks/results.csv")
        [ "$(ls "study$ranks/best/$study"*)" = "study$ranks/best/$study.h5" ] || fail "more than the map is left"
        h5diff "study$ranks/best/$study.h5" placed.h5 embedding >/dev/null || fail "the study's map is another"
    done
    [ -n "${hash[0]}" ] && [ "${hash[0]}" = "${hash[1]}" ] || fail "the study's maps: ${hash[*]}"
}

# refused SENTENCE ARGUMENTS...
refused() {
    local sentence=$1
    shift
    choose 1 "$@"
    [ $code -eq 2 ] && grep -q -- "$sentence" err.txt || fail "$* is refused otherwise: $code"
    [ ! -e no.h5 ] || fail "$* leaves a file"
}

sentences() {
    refused '500 landmarks of 500 rows: choose fewer' blobs.h5 no.h5 --count 500
    refused 'an integer from 1 to' blobs.h5 no.h5 --count 0
    refused 'needs coordinates and Euclidean distances' blobs.h5 no.h5 --count 5 preprocess.metric=manhattan
    refused 'is read and cannot be the output' blobs.h5 blobs.h5 --count 5
    refused 'name the data and the file of the landmarks first' blobs.h5 run.seed=2 --count 5
    refused 'too few arguments' blobs.h5 --count 5
    choose 1 blobs.h5 some.h5 --count 60
    [ $code -eq 4 ] && grep -q 'exists' err.txt || fail "a file is replaced: $code"
    "$IKT_PROGRAM" generate gaussian-mixture few.h5 --points 3 --dimensions 2 --clusters 1 --quiet
    "$IKT_PROGRAM" generate copies twice.h5 --source few.h5 --separation 0 --quiet
    choose 2 twice.h5 twins.h5 --count 5
    [ $code -eq 0 ] && grep -q 'there are 3 landmarks' err.txt || fail "rows in few places"
    sed 's/landmarks: 60}/landmarks: 0}/' study.yaml >bad.yaml
    "$IKT_PROGRAM" study bad.yaml --output bad >out.txt 2>err.txt && fail "no landmarks are taken"
    grep -q 'line 5: landmarks' err.txt || fail "no landmarks are refused otherwise"
    sed 's/landmarks: 60}/landmarks: 60, given: {blobs: map.h5}}/' study.yaml >bad.yaml
    "$IKT_PROGRAM" study bad.yaml --output bad >out.txt 2>err.txt && fail "given landmarks are taken"
    grep -q 'either `given` maps' err.txt || fail "given landmarks are refused otherwise"
}

try rows "landmarks are rows of the input"
try gaps "landmarks have their numbers in the file"
try bits "landmarks are the same on any ranks and threads"
try map "all rows are placed in a map of landmarks"
try sentences "what cannot be is refused"
exit $failed
