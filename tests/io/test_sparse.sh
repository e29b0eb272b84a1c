#!/bin/bash
# Embedding sparse rows: the bits of the same rows held dense, on any number of ranks; and a matrix that
# would take 10 GB dense in little memory.
. "$IKT_SOURCE/tests/support/script.sh"

python=""
for candidate in /usr/bin/python3 python3; do
    if [ -z "$python" ] && $candidate -c 'import h5py' 2>/dev/null; then python=$candidate; fi
done
if [ -z "$python" ]; then
    echo "h5py is not there: not tested"
    exit 77
fi
text=$IKT_TEST_DATA/basehock.h5

# embed RANKS WORDS...: hash of the embedding in `hash`, all that was said in out.txt.
embed() {
    local ranks=$1
    shift
    timeout 100 $IKT_MPIRUN "$ranks" "$IKT_PROGRAM" embed "$@" output.file=y.h5 output.overwrite=yes \
        >out.txt 2>&1 || fail "embed on $ranks ranks: $*"
    hash=$(sed -n 's/^embedding hash *//p' out.txt)
    [ -n "$hash" ] || fail "no hash on $ranks ranks: $*"
}

bits_are_those_of_dense_rows() {
    local as_is="preprocess.normalise=none layout.init=random layout.iterations=30 isolation.partitionings=100 isolation.psi=280
        layout.exaggeration_iterations=20 output.measures=none" expected search ranks
    "$python" - "$text" <<'PYTHON' || fail "writing the rows dense"
import sys
import h5py
import numpy as np
with h5py.File(sys.argv[1]) as f, h5py.File("dense.h5", "w") as g:
    n, d = f.attrs["shape"]
    x = np.zeros((n, d), "f4")
    x[np.repeat(np.arange(n), np.diff(f["indptr"][:])), f["indices"][:]] = f["data"][:]
    g["X"] = x
PYTHON
    for search in exact approximate; do
        # So many rows to a centre that they are searched for among coarse cells: the order of finer
        # ones is another for sparse rows.
        [ $search = exact ] || as_is="$as_is isolation.psi=10 isolation.pool=15"
        embed 2 input.file=dense.h5 affinity.search=$search $as_is
        expected=$hash
        for ranks in 1 "${other_ranks[@]}"; do
            [ $search = exact ] || [ $((ranks % 2)) = 1 ] || continue
            embed $ranks input.file="$text" input.dataset=/ affinity.search=$search $as_is
            [ "$hash" = "$expected" ] || fail "$search search on $ranks ranks: $hash, not $expected"
        done
    done
}

# has_psi RESULT PSI WORDS...: that of the run, and of its plan.
has_psi() {
    local result=$1 psi=$2
    shift 2
    h5dump -a /provenance/configuration "$result" >configuration.txt 2>&1
    grep -q " psi: $psi\b" configuration.txt || fail "$result: psi is not $psi"
    "$IKT_PROGRAM" plan "$@" >out.txt 2>&1
    grep -q "^isolation, psi $psi," out.txt || fail "plan: $(grep '^isolation' out.txt), not psi $psi"
}

# Two of these rows share five columns on average, which is too many for a finer psi.
rows_that_share_columns_have_few_centres() {
    local as_is="input.file=full.h5 preprocess.normalise=none affinity.search=approximate layout.iterations=5 layout.exaggeration_iterations=2"
    "$python" - <<'PYTHON' || fail "writing rows that share columns"
import h5py
import numpy as np
rng = np.random.default_rng(6)
n, d, held = 1100, 20, 10
with h5py.File("full.h5", "w") as f:
    g = f.create_group("X")
    g["indices"] = np.sort(np.argsort(rng.random((n, d)), axis=1)[:, :held], axis=1).ravel().astype("i4")
    g["data"] = rng.random(n * held).astype("f4")
    g["indptr"] = np.arange(n + 1, dtype="i8") * held
    g.attrs["shape"] = np.array([n, d])
    g.attrs["encoding-type"] = "csr_matrix"
PYTHON
    embed 2 $as_is output.measures=none
    has_psi y.h5 64 $as_is
}

near_centres_find_similar_rows() {
    local as_is="preprocess.normalise=unit layout.iterations=30 layout.exaggeration_iterations=20 affinity.search=approximate"
    local expected ranks
    for ranks in 1 "${other_ranks[@]}"; do
        embed $ranks input.file="$text" input.dataset=/ $as_is
        : "${expected:=$hash}"
        [ "$hash" = "$expected" ] || fail "near centres on $ranks ranks: $hash, not $expected"
    done
    awk 'match($0, /and [0-9.]+ % of their similarity/) { found = substr($0, RSTART + 4) + 0 } END { exit !(found > 97) }' out.txt ||
        fail "$(grep 'neighbours' out.txt)"
    has_psi y.h5 280 input.file="$text" input.dataset=/ $as_is
}

starts_do_not_depend_on_ranks() {
    local init expected
    for init in pca landmark; do
        embed 1 input.file="$text" input.dataset=/ preprocess.normalise=unit layout.init=$init \
            layout.iterations=30 layout.exaggeration_iterations=20
        expected=$hash
        embed 3 input.file="$text" input.dataset=/ preprocess.normalise=unit layout.init=$init \
            layout.iterations=30 layout.exaggeration_iterations=20
        [ "$hash" = "$expected" ] || fail "init $init on 3 ranks: $hash, not $expected"
    done
}

# Columns of very different sizes, which preprocess.normalise brings to scale before the rows are reduced:
# a model that forgets the scale places the rows that it was made from elsewhere.
models_of_reduced_rows_keep_their_scale() {
    awk 'BEGIN {
        srand(3)
        for (i = 0; i < 400; i++) {
            printf "%d", i % 4
            for (c = 1; c <= 60; c++)
                if (c > 10 * (i % 4) && c <= 30 + 10 * (i % 4) && rand() < 0.3)
                    printf " %d:%g", c, int(1 + 4 * rand()) * 10 ^ (c % 5)
            print ""
        }
    }' >scaled.libsvm
    rm -f model.h5 placed.h5
    "$IKT_PROGRAM" convert scaled.libsvm scaled.h5 --quiet || fail "convert"
    embed 1 input.file=scaled.h5 preprocess.pca=5 preprocess.normalise=minmax layout.iterations=300 \
        output.model=model.h5 output.picture=none
    "$IKT_PROGRAM" transform model.h5 scaled.h5 placed.h5 --picture none --quiet >out.txt 2>err.txt ||
        fail "transform: $(cat err.txt)"
    "$python" - <<'PYTHON' || fail "rows of the model do not come back to their places"
import h5py
import numpy as np
y, placed = h5py.File("y.h5")["embedding"][:], h5py.File("placed.h5")["embedding"][:]
off = np.median(np.linalg.norm(y - placed, axis=1)) / np.ptp(y)
assert off < 0.02, off
PYTHON
}

wide_rows_need_little_memory() {
    local peak
    "$python" - <<'PYTHON' || fail "writing wide rows"
import h5py
import numpy as np
rng = np.random.default_rng(5)
n, d, held = 2000, 1300000, 300
own = (np.arange(n) % 4)[:, None] * 40000 + (rng.random((n, held // 2)) ** 3 * 40000).astype(int)
other = rng.integers(0, d, (n, held - held // 2))
with h5py.File("wide.h5", "w") as f:
    g = f.create_group("X")
    g["indices"] = np.concatenate([own, other], axis=1).ravel().astype("i4")
    g["data"] = np.ones(n * held, "u1")
    g["indptr"] = np.arange(n + 1, dtype="i8") * held
    g.attrs["encoding-type"] = "csr_matrix"
    g.attrs["shape"] = np.array([n, d])
    f["labels"] = np.arange(n) % 4
PYTHON
    embed 2 input.file=wide.h5 preprocess.normalise=unit layout.iterations=30 \
        layout.exaggeration_iterations=20 output.measures=map --verbose
    peak=$(sed -n 's/^peak memory *\([0-9]*\) MB per rank.*/\1/p' out.txt)
    [ -n "${ASAN_OPTIONS:-}" ] || [ "${peak:-9999}" -lt 400 ] || fail "wide rows took ${peak:-?} MB a rank"
    grep -q '10-NN accuracy   \(0.9\|1\)[.0-9]* among' out.txt || fail "neighbours of wide rows are no good"
}

distances_of_wide_rows_are_refused() {
    [ -z "${ASAN_OPTIONS:-}" ] || return 0 # the address sanitizer needs address space without limit
    (ulimit -v 6000000 && exec timeout -s KILL 60 "$IKT_PROGRAM" embed input.file=wide.h5 \
        affinity.kind=gaussian output.file=z.h5 layout.init=random) >out.txt 2>&1
    [ $? -eq 5 ] || fail "another exit code for distances of wide rows"
    grep -q 'affinity.kind=isolation: the other kernels take sparse rows dense' out.txt ||
        fail "distances of wide rows: another sentence"
}

plans_know_sparse_rows() {
    "$IKT_PROGRAM" plan input.file=wide.h5 >out.txt 2>&1 || fail "plan"
    grep -q '2000 rows x 1300000, sparse, 300.0 values a row, float32' out.txt || fail "plan of the file"
    "$IKT_PROGRAM" plan --points 800000 --columns 47236 --entries 76 >out.txt 2>&1 || fail "plan of a shape"
    grep -q 'sparse, 76.0 values a row' out.txt || fail "plan of a shape: not sparse"
}

try wide_rows_need_little_memory "2000 rows x 1.3 million in little memory"
try distances_of_wide_rows_are_refused "distances of wide rows are refused"
try plans_know_sparse_rows "plans of sparse rows"
try rows_that_share_columns_have_few_centres "rows that share many columns"
try models_of_reduced_rows_keep_their_scale "models of reduced sparse rows keep their scale"
if [ -r "$text" ]; then
    try bits_are_those_of_dense_rows "sparse rows have the bits of dense ones"
    try near_centres_find_similar_rows "sparse rows near the same centres"
    try starts_do_not_depend_on_ranks "starts by axes and landmarks"
else
    echo "no real data: $text"
fi
exit $failed
