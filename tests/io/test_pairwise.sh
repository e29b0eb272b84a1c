#!/usr/bin/env bash
# Matrices of all pairs in place of rows: distances of rows with whole numbers give the bits that the
# rows give, similarities and probabilities the P of numpy, on any ranks; bad ones are refused with
# their place.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"
. "$IKT_SOURCE/tests/support/embed.sh"

python=/usr/bin/python3
here=$IKT_SOURCE/tests/io
$python -c 'import h5py, numpy, scipy.sparse' 2>/dev/null || { echo "skipped: needs h5py and scipy"; exit 77; }
$python "$here/pairwise_files.py" make >out.txt 2>err.txt || fail "the matrices cannot be made"
divergence() { sed -n 's/^KL divergence   *//p' out.txt; }
common="layout.iterations=60 output.measures=none output.overwrite=yes run.checkpoint=none layout.init=random --verbose"

near() { # VALUE WHAT: as the last divergence, but for rounding
    $python -c "assert abs($1 - $(divergence)) <= 2e-5 * abs($1)" || fail "$2: $(divergence) instead of $1"
}

# --- distances: the bits that the rows give ---

rows="input.file=rows.h5 preprocess.normalise=none"
for kind in "affinity.kind=gaussian gaussian.perplexity=10" "affinity.kind=adaptive" "affinity.kind=knn" \
    "affinity.kind=gaussian gaussian.perplexity=10 affinity.support=dense" \
    "affinity.kind=adaptive affinity.support=dense" "affinity.kind=knn affinity.support=dense" \
    "affinity.kind=gaussian affinity.neighbours=239"; do
    embed 1 $rows $kind
    wanted=$hash
    gives "$wanted" 1 input.graph=pairs.h5:distances $kind
    gives "$wanted" 3 input.graph=distances.npy $kind
done
kind="affinity.kind=gaussian gaussian.perplexity=10"
embed 1 $rows $kind
wanted=$hash
for ranks in 2 4 7; do gives "$wanted" $ranks input.graph=pairs.h5:D gaussian.perplexity=10; done
gives "$wanted" 1 input.graph=pairs.h5:D $kind output.graph=kept.h5
gives "$wanted" 3 input.graph=kept.h5
embed 1 $rows $kind layout.iterations=10
wanted=$(divergence)
embed 2 input.graph=float32.npy graph.values=distances gaussian.perplexity=10 layout.iterations=10
near "$wanted" "distances rounded to float32"
embed 1 $rows affinity.kind=knn affinity.neighbours=30
gives "$hash" 2 input.graph=pairs.h5:D graph.weights=knn
embed 1 $rows $kind layout.iterations=90
wanted=$hash
embed 2 input.graph=pairs.h5:D gaussian.perplexity=10
gives "$wanted" 1 input.graph=pairs.h5:D gaussian.perplexity=10 --extend 30

# --- similarities and probabilities: the P of numpy ---

embed 2 input.graph=pairs.h5:similarities output.graph=similarities.kept.h5
hash_of_similarities=$hash
$python "$here/pairwise_files.py" weights similarities.kept.h5 2>err.txt || fail "weights of similarities"
for ranks in 1 3 7; do gives "$hash_of_similarities" $ranks input.graph=pairs.h5:similarities; done
# After two iterations: later ones multiply what rounding has left.
embed 1 input.graph=pairs.h5:similarities affinity.neighbours=239 layout.iterations=2
all=$(divergence)
embed 3 input.graph=pairs.h5:similarities affinity.support=dense layout.iterations=2
near "$all" "dense similarities"
embed 2 input.graph=pairs.h5:probabilities affinity.support=dense layout.iterations=2
near "$all" "probabilities"

# --- what is beside a matrix, rows without any similarity, plans and measures ---

embed 2 input.graph=pairs.h5:similarities
h5diff run.h5 pairs.h5 labels labels >out.txt || fail "labels beside the matrix are not those of the run"
h5diff run.h5 pairs.h5 marked marked >out.txt || fail "nor are the marked rows"
"$IKT_PROGRAM" evaluate run.h5 --kl >out.txt 2>err.txt || fail "evaluate --kl without --input"
grep -q 'KL divergence' out.txt || fail "no divergence"
for support in sparse dense; do
    embed 1 input.graph=lonely.h5:S graph.values=similarities input.file=rows.h5 affinity.support=$support
    gives "$hash" 3 input.graph=lonely.h5:S graph.values=similarities input.file=rows.h5 affinity.support=$support
    expect 3 '2 of 240 rows of input.graph have no similarity to another row, first row 5' \
        embed input.graph=lonely.h5:S graph.values=similarities output.file=x.h5 affinity.support=$support
done
"$IKT_PROGRAM" plan input.graph=pairs.h5:D gaussian.perplexity=10 >out.txt 2>err.txt || fail "plan of a matrix"
grep -q '30 entries a row of input.graph' out.txt || fail "the plan knows nothing of the matrix"
embed 2 input.graph=asymmetric.npy graph.values=distances

# --- refused, with the place ---

refused() { # CODE WORDS ARGUMENTS...
    local code=$1 words=$2
    shift 2
    expect "$code" "$words" embed output.file=x.h5 "$@"
}
refused 3 'asymmetric.npy is not symmetric' input.graph=asymmetric.npy graph.values=distances affinity.support=dense
refused 3 '240 rows and 239 columns' input.graph=oblong.npy graph.values=distances
refused 3 'row 7, column 9: -1 is not a number from 0 on' input.graph=negative.npy graph.values=distances
refused 3 'row 7, column 9: .*nan is not a number from 0 on' input.graph=nan.npy graph.values=similarities
refused 3 'row 0: the distance to itself is 1 and not 0' input.graph=pairs.h5:similarities graph.values=distances
refused 3 'row 0, column .*e-20[0-9] is too small' input.graph=tiny.npy graph.values=similarities
refused 3 'too large' input.graph=huge.npy graph.values=distances
refused 3 'has 240 rows, the data has 100' input.graph=pairs.h5:D input.file=few.h5
refused 2 'does not say what its numbers are' input.graph=float32.npy
refused 2 'affinity.support=dense' input.graph=pairs.h5:probabilities
refused 2 'all pairs .* count the same' input.graph=pairs.h5:D graph.values=none
refused 2 'does not hold distances' input.graph=pairs.h5:similarities affinity.kind=adaptive
refused 2 'affinity.search = approximate' input.graph=pairs.h5:D affinity.search=approximate
refused 2 'gaussian.perplexity = 100' input.graph=pairs.h5:D gaussian.perplexity=100 affinity.neighbours=50
exit $failed
