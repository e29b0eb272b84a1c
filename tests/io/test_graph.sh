#!/usr/bin/env bash
# Graphs in place of a kernel: weights compared with numpy, the same bits on any ranks, graphs that a
# run has kept and others take up, what is beside them, and bad graphs refused with their place.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"
. "$IKT_SOURCE/tests/support/embed.sh"

python=/usr/bin/python3
here=$IKT_SOURCE/tests/io
$python -c 'import h5py, numpy, scipy.sparse' 2>/dev/null || { echo "skipped: needs h5py and scipy"; exit 77; }
$python "$here/graph_files.py" make >out.txt 2>err.txt || fail "the graphs cannot be made"
common="layout.iterations=60 output.measures=none output.overwrite=yes run.checkpoint=none --quiet"


# --- weights, and the same bits on any ranks ---

cells="input.graph=cells.h5:obsp"
weighed() { # NAME ARGUMENTS...
    local name=$1
    shift
    embed 1 "$@" output.graph="$name.kept.h5"
    $python -W ignore "$here/graph_files.py" weights "$name.kept.h5" "$name" 2>err.txt ||
        fail "weights of $name"
}
weighed connectivities $cells/connectivities
of_hubs=$hash
weighed distances $cells/distances gaussian.perplexity=4
weighed similarities input.graph=similarities.h5
of_similarities=$hash
weighed knn input.graph=adjacency.h5
of_knn=$hash
weighed probabilities input.graph=probabilities.h5
for ranks in "${other_ranks[@]}"; do
    gives "$of_hubs" $ranks $cells/connectivities
    gives "$of_similarities" $ranks input.graph=similarities.h5 output.graph=again.h5
    h5diff similarities.kept.h5 again.h5 >out.txt || fail "graphs kept on 1 and $ranks ranks differ"
done
gives "$of_knn" 3 $cells/distances graph.values=none
gives "$of_knn" 2 $cells/distances graph.weights=knn
gives "$of_hubs" 2 input.graph=connectivities.kept.h5

# --- kept graphs of our own: exact search, and rows in the order of coarse cells ---

"$IKT_PROGRAM" generate gaussian-mixture mixture.h5 --points 1500 --seed 2 >out.txt 2>err.txt
own() { # SETTINGS of the layout: -- settings of the graph
    local layout=()
    while [ "$1" != -- ]; do layout+=("$1") && shift; done
    shift
    layout+=(run.seed=4)
    embed 3 input.file=mixture.h5 output.graph=own.h5 "${layout[@]}" "$@"
    local made=$hash
    embed 1 input.file=mixture.h5 output.graph=again.h5 "${layout[@]}" "$@"
    h5diff own.h5 again.h5 >out.txt || fail "graphs of 1 and 3 ranks differ: $*"
    gives "$made" 2 input.file=mixture.h5 input.graph=own.h5 "${layout[@]}"
    for ranks in 1 4; do gives "$made" $ranks input.graph=own.h5 "${layout[@]}"; done
}
own -- affinity.kind=gaussian gaussian.perplexity=10
own layout.init=random --
own layout.learning_rate=300 -- affinity.search=approximate isolation.psi=32
# Principal components are those of the rows, whatever the graph beside them began with.
embed 1 input.file=mixture.h5 layout.objective=pca layout.iterations=auto
gives "$hash" 1 input.file=mixture.h5 input.graph=own.h5 layout.objective=pca layout.iterations=auto
embed 1 input.graph=own.h5 layout.objective=trimap layout.iterations=20
for ranks in 2 3; do gives "$hash" $ranks input.graph=own.h5 layout.objective=trimap layout.iterations=20; done
"$IKT_PROGRAM" info own.h5 >out.txt 2>err.txt || fail "info of a kept graph"
grep -q 'by coarse cells' out.txt && grep -q '  psi: 32' out.txt || fail "info says something else"
"$IKT_PROGRAM" info own.h5 --json | $python -c 'import json, sys; assert json.load(sys.stdin)["rows"] == 1500' ||
    fail "info --json"
"$IKT_PROGRAM" plan input.graph=own.h5 >out.txt 2>err.txt || fail "plan of a kept graph"
grep -q '30 entries a row of input.graph' out.txt || fail "the plan knows nothing of the graph"
embed 2 input.file=mixture.h5 affinity.search=approximate affinity.neighbours=9 layout.init=landmark \
    output.graph=landmarks.h5
gives "$hash" 1 input.graph=landmarks.h5 layout.init=landmark
expect 4 'own.h5.*exists' embed input.file=mixture.h5 output.file=x.h5 output.graph=own.h5
"$IKT_PROGRAM" embed input.file=mixture.h5 output.file=y.h5 output.graph=own.h5 layout.iterations=5 run.seed=4 \
    affinity.search=approximate isolation.psi=32 >out.txt 2>err.txt || fail "a graph of the same run is in its way"
grep -q 'own.h5 is there already' err.txt || fail "nothing is said of a graph that is there"
expect 2 'was made with isolation.psi = 32' embed input.graph=own.h5 output.file=x.h5 isolation.psi=64
expect 2 'layout.init = landmark' embed input.graph=own.h5 output.file=x.h5 layout.init=landmark

# --- one graph, many layouts ---

cat >study.yaml <<END
data: [{name: mixture, file: mixture.h5}]
settings: {input.graph: own.h5, layout.iterations: 40}
methods:
  - {name: two, settings: {layout.exaggeration: 12}}
  - {name: four, settings: {layout.exaggeration: 4}}
seeds: [1, 2]
measures: [1-NN error]
END
"$IKT_PROGRAM" study study.yaml --output study --quiet >out.txt 2>err.txt || fail "study on a graph"

# --- a run that goes on, and one that is extended ---

embed 2 $cells/connectivities layout.iterations=90
wanted=$hash
embed 1 $cells/connectivities layout.iterations=60
gives "$wanted" 3 $cells/connectivities layout.iterations=60 --extend 30
expect 2 'is of other data' embed $cells/distances gaussian.perplexity=4 output.file=run.h5 --extend 5

# --- what is beside a graph, rows without an edge ---

embed 2 $cells/connectivities
h5diff run.h5 cells.h5 labels labels >out.txt || fail "labels beside the graph are not those of the run"
h5diff run.h5 cells.h5 marked marked >out.txt || fail "nor are the marked rows"
embed 3 $cells/connectivities input.labels=other.h5:kind
h5diff run.h5 other.h5 labels kind >out.txt || fail "labels of another file"
embed 1 input.graph=bad-empty.h5 graph.values=similarities input.file=data.h5 output.graph=adopted.h5
adopted=$hash
gives "$adopted" 3 input.graph=bad-empty.h5 graph.values=similarities input.file=data.h5
gives "$adopted" 2 input.graph=adopted.h5
"$IKT_PROGRAM" evaluate run.h5 --kl >out.txt 2>err.txt || fail "evaluate --kl without --input"
grep -q 'KL divergence' out.txt || fail "no divergence"

# --- a graph of scipy is as good as our own search ---

embed 2 input.file=data.h5 affinity.kind=gaussian gaussian.perplexity=4 layout.iterations=300
own_error=$($python "$here/graph_files.py" error run.h5)
embed 2 $cells/distances gaussian.perplexity=4 input.file=data.h5 layout.iterations=300
graph_error=$($python "$here/graph_files.py" error run.h5)
echo "1-NN error: $own_error by our search, $graph_error by the graph of scipy"
$python -c "assert abs($own_error - $graph_error) <= 0.02" || fail "the graph of scipy does worse"

# --- refused, with the place ---

refused() { # CODE WORDS ARGUMENTS...
    local code=$1 words=$2
    shift 2
    expect "$code" "$words" embed output.file=x.h5 graph.values=distances gaussian.perplexity=4 "$@"
}
refused 3 'row 5 has an entry in column 240, but' input.graph=bad-column.h5
refused 3 'row 5 has an entry in column -1,' input.graph=bad-before.h5
refused 3 'row 5, column [0-9]*: two entries' input.graph=bad-twice.h5
refused 3 'row 5, column [0-9]*: -1 is negative' input.graph=bad-negative.h5
refused 3 'row 5, column [0-9]* .*: value is NaN' input.graph=bad-nan.h5
refused 3 'indptr descends from [0-9]* to 2 at row 5' input.graph=bad-starts.h5
refused 3 'indptr has 240 numbers' input.graph=bad-length.h5
refused 3 '240 rows but 241 columns' input.graph=bad-shape.h5
refused 3 'csc_matrix' input.graph=bad-csc.h5
refused 3 '1 of 240 rows have no edge to another row, first row 9' input.graph=bad-empty.h5 \
    graph.values=similarities gaussian.perplexity=auto
refused 3 'row 0 has 12 distances.*perplexity = 13' input.graph=bad-far.h5 gaussian.perplexity=13
refused 3 'is not symmetric: row' input.graph=bad-symmetry.h5 graph.values=probabilities gaussian.perplexity=auto
refused 3 'row 11, column [0-9]* holds 0, and' input.graph=bad-half.h5 graph.values=probabilities gaussian.perplexity=auto
refused 2 'gaussian.perplexity = 5 .* goes with graph.values=distances and graph.weights=gaussian' input.graph=bad-far.h5 \
    graph.values=similarities gaussian.perplexity=5
refused 3 'several\|2 square sparse' input.graph=cells.h5
refused 3 'has 240 rows, the data has 1500' input.graph=bad-far.h5 input.file=mixture.h5
refused 2 'affinity.kind = gaussian does not go' input.graph=bad-far.h5 affinity.kind=gaussian
refused 2 'affinity.support = dense' input.graph=bad-far.h5 affinity.support=dense
refused 2 'layout.init = pca needs' input.graph=bad-far.h5 layout.init=pca
refused 2 'output.measures = all' input.graph=bad-far.h5 output.measures=all
refused 2 'input.graph is not set' affinity.kind=graph input.file=data.h5
refused 4 'cannot be read' input.graph=nowhere.h5:obsp/distances
expect 2 'does not say what its numbers are' embed output.file=x.h5 input.graph=bad-far.h5

exit $failed
