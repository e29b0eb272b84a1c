#!/usr/bin/env bash
# preprocess.metric in whole runs: Manhattan distances of dense, sparse and reduced rows by every way
# of finding cells and neighbours, cosine and correlation, and matrices of distances or similarities
# in place of rows, which give the bits that the rows give; on any ranks.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"
. "$IKT_SOURCE/tests/support/embed.sh"

python=/usr/bin/python3
here=$IKT_SOURCE/tests/io
$python -c 'import h5py, numpy' 2>/dev/null || { echo "skipped: needs h5py"; exit 77; }
$python "$here/metric_files.py" make >out.txt 2>err.txt || fail "the matrices cannot be made"
common="layout.iterations=40 output.measures=none output.overwrite=yes run.checkpoint=none --quiet"

refuses() { # WORDS ARGUMENTS...
    local words=$1
    shift
    "$IKT_PROGRAM" embed output.file=refused.h5 $common "$@" >out.txt 2>err.txt && fail "$* is taken"
    grep -q -- "$words" err.txt || fail "$*: no '$words' in the message"
}

# --- a matrix gives the bits that its rows give, from the same initial positions ---

rows="input.file=rows.h5 preprocess.normalise=none layout.init_file=start.npy"
pairs="preprocess.metric=precomputed layout.init_file=start.npy"
embed 1 $rows
wanted=$hash
for ranks in 1 "${other_ranks[@]}"; do
    gives "$wanted" $ranks input.file=pairs.h5 input.dataset=D $pairs
    gives "$wanted" $ranks input.file=distances.npy $pairs
done
gives "$wanted" 1 input.file=pairs.h5 input.dataset=K preprocess.matrix=similarities $pairs
gives "$wanted" 3 input.file=pairs.h5 input.dataset=K preprocess.matrix=similarities $pairs
for kind in "affinity.kind=gaussian" "affinity.kind=gaussian affinity.support=dense" "affinity.kind=knn" \
    "affinity.kind=adaptive" "isolation.psi=590 isolation.partitionings=9" "isolation.pool=100 isolation.psi=20" \
    "affinity.support=whole" "affinity.support=dense" "layout.objective=nerv"; do
    embed 2 $rows $kind
    wanted=$hash
    gives "$wanted" 1 input.file=distances.npy $pairs $kind
    gives "$wanted" 3 input.file=pairs.h5 input.dataset=D $pairs $kind
done
embed 1 $rows preprocess.metric=manhattan
gives "$hash" 3 input.file=gaps.npy $pairs
gives "$hash" 1 input.file=pairs.h5 input.dataset=L1 $pairs

# --- the usual start, measures, checkpoints and plans of a matrix ---

embed 1 input.file=distances.npy preprocess.metric=precomputed
for ranks in 2 7; do gives "$hash" $ranks input.file=distances.npy preprocess.metric=precomputed; done
# Of Euclidean distances the start is principal components, up to the sign of an axis and the noise on both.
embed 1 input.file=rows.h5 preprocess.normalise=none layout.iterations=0
mv run.h5 components.h5
embed 2 input.file=distances.npy preprocess.metric=precomputed layout.iterations=0
$python - <<'PYTHON' >out.txt 2>err.txt || fail "principal coordinates are not principal components"
import h5py
import numpy as np
a, b = (h5py.File(f)["embedding"][:] for f in ("components.h5", "run.h5"))
for axis in range(2):
    assert abs(np.corrcoef(a[:, axis], b[:, axis])[0, 1]) > 0.99
PYTHON
embed 2 input.file=pairs.h5 input.dataset=D preprocess.metric=precomputed
"$IKT_PROGRAM" evaluate run.h5 --input pairs.h5 >of_pairs.txt 2>err.txt || fail "evaluate with a matrix"
"$IKT_PROGRAM" evaluate run.h5 --input rows.h5 input.dataset=X preprocess.metric=euclidean \
    preprocess.normalise=none >of_rows.txt 2>err.txt || fail "evaluate with rows"
grep -v '^global score\|^outlier ratio of the data' of_rows.txt | cmp -s - of_pairs.txt || fail "a matrix is measured otherwise than its rows"
"$IKT_PROGRAM" evaluate run.h5 --input pairs.h5 --measures global >out.txt 2>err.txt && fail "a global score without columns"
grep -q 'rows with coordinates' err.txt || fail "no reason why there is no global score"
"$IKT_PROGRAM" evaluate run.h5 --input pairs.h5 --kl --kernel >out.txt 2>err.txt || fail "evaluate --kl --kernel"
"$IKT_PROGRAM" embed input.file=distances.npy preprocess.metric=precomputed output.file=planned.h5 --dry-run \
    >out.txt 2>err.txt || fail "a plan"
refuses "row 3, column 400 is .*row 400, column 3 is" input.file=asymmetric.npy preprocess.metric=precomputed
refuses "100 rows and 600 columns" input.file=wide.npy preprocess.metric=precomputed
refuses "is sparse" input.file=sparse.h5 preprocess.metric=precomputed
for words in "affinity.search=approximate" "isolation.form=forest" "layout.init=landmark" "output.model=model.h5" \
    "isolation.model_from=rows.h5"; do
    refuses "precomputed gives distances only" input.file=distances.npy preprocess.metric=precomputed $words
done
refuses "would have no effect" input.file=distances.npy preprocess.metric=precomputed preprocess.pca=3
refuses "would have no effect" input.file=rows.h5 preprocess.matrix=similarities

# --- Manhattan distances: the same bits on any ranks, and of sparse rows as of dense ones ---

manhattan="preprocess.metric=manhattan preprocess.normalise=none layout.init_file=start.npy"
for kind in "isolation.psi=64" "isolation.psi=300 isolation.partitionings=3" "affinity.kind=gaussian" \
    "affinity.search=approximate affinity.candidates=90 isolation.psi=60 isolation.pool=130" \
    "isolation.search=approximate isolation.candidates=70 isolation.psi=250 affinity.search=approximate" \
    "affinity.kind=gaussian gaussian.perplexity=5 affinity.search=approximate affinity.refinements=1" \
    "isolation.form=forest affinity.search=approximate affinity.candidates=90" "layout.init_file= layout.init=landmark"; do
    embed 1 input.file=rows.h5 $manhattan $kind
    gives "$hash" 3 input.file=rows.h5 $manhattan $kind
done
for kind in "isolation.psi=64" "isolation.psi=200 isolation.partitionings=3" "affinity.kind=gaussian"; do
    embed 1 input.file=rows.h5 $manhattan $kind
    gives "$hash" 4 input.file=sparse.h5 $manhattan $kind
done
embed 1 input.file=rows.h5 preprocess.metric=manhattan preprocess.pca=4
gives "$hash" 7 input.file=rows.h5 preprocess.metric=manhattan preprocess.pca=4

# --- cosine and correlation: the bits of rows that were mapped before ---

start="layout.init_file=start.npy preprocess.normalise=none"
embed 1 input.file=rows.h5 preprocess.normalise=unit layout.init_file=start.npy
gives "$hash" 3 input.file=rows.h5 preprocess.metric=cosine $start
gives "$hash" 2 input.file=sparse.h5 preprocess.metric=cosine $start
embed 1 input.file=rows.h5 preprocess.metric=correlation $start
gives "$hash" 3 input.file=rows.h5 preprocess.metric=correlation $start
refuses "preprocess.metric=cosine" input.file=sparse.h5 preprocess.metric=correlation $start

# --- models: new rows are placed by the distance of the run ---

for metric in manhattan cosine correlation; do
    embed 1 input.file=rows.h5 preprocess.metric=$metric $start output.model=$metric.model.h5 layout.iterations=250
    "$IKT_PROGRAM" transform $metric.model.h5 rows.h5 placed.h5 --overwrite --quiet >out.txt 2>err.txt ||
        fail "transform by $metric"
    cp out.txt alone.txt
    $IKT_MPIRUN 3 "$IKT_PROGRAM" transform $metric.model.h5 rows.h5 placed3.h5 --overwrite --quiet >out.txt 2>err.txt ||
        fail "transform by $metric on 3 ranks"
    h5diff placed.h5 placed3.h5 embedding embedding >out.txt || fail "$metric: other places on 3 ranks"
    $python - run.h5 placed.h5 <<'PYTHON' >out.txt 2>err.txt || fail "$metric: rows are not placed where they are"
import sys
import h5py
import numpy as np
a, b = (h5py.File(f)["embedding"][:] for f in sys.argv[1:])
away = np.linalg.norm(a - b, axis=1)
assert np.median(away) < 0.05 * a.std(), np.median(away) / a.std()
PYTHON
done

[ $failed -eq 0 ] && echo "ok: metrics and matrices"
exit $failed
