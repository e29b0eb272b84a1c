#!/usr/bin/env bash
# LaptSNE through the program: the same map on any ranks, in many pieces and extended; lambda = 0 is
# t-SNE; what the result says; what is refused.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checkpoints.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/python.sh"

"$IKT_PROGRAM" generate gaussian-mixture blobs.h5 --points 300 --dimensions 6 --clusters 5 --seed 2 --quiet || exit 1
usual=(input.file=blobs.h5 layout.report_every=2 isolation.psi=32 output.overwrite=yes output.picture=none output.measures=none
    layout.exaggeration_iterations=3)
lap=("${usual[@]}" --preset laptsne layout.regulariser_rank=5)

# same HASH RANKS ARGUMENTS...
same() {
    local wanted=$1
    shift
    embed "$@"
    [ $code -eq 0 ] && [ "$(hash_of)" = "$wanted" ] || fail "$* gives $(hash_of), not $wanted"
}

bits() {
    local how ranks threads wanted
    for how in layout.repulsion=exact layout.repulsion=fft affinity.support=dense affinity.support=whole \
        "layout.dimensions=3 layout.repulsion=barnes_hut"; do
        # shellcheck disable=SC2086
        OMP_NUM_THREADS=1 embed 1 "${lap[@]}" $how layout.iterations=8 output.file=one.h5
        [ $code -eq 0 ] || fail "$how"
        wanted=$(hash_of)
        for ranks in 1 "${other_ranks[@]}"; do
            for threads in "${thread_counts[@]}"; do
                # shellcheck disable=SC2086
                OMP_NUM_THREADS=$threads same "$wanted" $ranks "${lap[@]}" $how layout.iterations=8 output.file=other.h5
                same_result one.h5 other.h5
            done
        done
    done
}

# The eigenvalues that the trace of both runs has.
same_eigenvalues() {
    local python
    python=$(find_python h5py numpy) || return 0
    "$python" - whole.h5 parts.h5 <<'PY' || fail "the eigenvalues in the trace"
import sys
import h5py, numpy
whole, parts = (h5py.File(name)["trace"] for name in sys.argv[1:])
seen, at = whole["eigenvalues"][:], whole["iteration"][:]
assert seen.shape == (len(at), 4), seen.shape
assert numpy.array_equal(seen, parts["eigenvalues"][:], equal_nan=True)
assert numpy.isnan(seen[at < 3]).all(), seen
assert (seen[at >= 3] > 0).all() and (numpy.diff(seen[at >= 3]) >= 0).all(), seen
last = [float(word) for word in h5py.File(sys.argv[1])["provenance"].attrs["map_eigenvalues"].split()]
assert numpy.allclose(seen[-1], last, rtol=1e-5), (seen[-1], last)
PY
}

# Every invocation makes one step and stops: before the regulariser, when it begins, and within it.
pieces() {
    local runs=0 whole
    embed 1 "${lap[@]}" layout.regulariser_every=2 layout.iterations=9 output.file=whole.h5
    whole=$(hash_of)
    while [ $runs -lt 40 ]; do
        embed $((runs % 3 + 1)) "${lap[@]}" layout.regulariser_every=2 layout.iterations=9 output.file=parts.h5 \
            run.max_time=0
        [ $code -eq 75 ] || break
        runs=$((runs + 1))
    done
    [ $code -eq 0 ] && [ "$(hash_of)" = "$whole" ] || fail "exit code $code, $(hash_of) in place of $whole"
    [ $runs -gt 6 ] || fail "only $runs stops"
    same_result whole.h5 parts.h5
    same_eigenvalues
    embed 1 "${lap[@]}" layout.regulariser_every=2 layout.iterations=7 output.file=longer.h5
    "$IKT_PROGRAM" embed "${lap[@]}" layout.regulariser_every=2 output.file=longer.h5 --extend 2 >out.txt 2>err.txt
    [ "$(hash_of)" = "$whole" ] || fail "an extended run is not the longer one"
}

nothing() { # lambda = 0
    local how
    for how in affinity.support=sparse affinity.support=dense layout.repulsion=fft; do
        embed 1 "${usual[@]}" $how layout.iterations=20 output.file=plain.h5
        same "$(hash_of)" 1 "${lap[@]}" $how layout.regulariser_weight=0 layout.iterations=20 output.file=zero.h5
        "$IKT_PROGRAM" info zero.h5 >out.txt 2>err.txt
        grep -q 'map_eigenvalues' out.txt || fail "the eigenvalues are not measured"
    done
}

says() {
    embed 1 "${usual[@]}" --preset laptsne layout.iterations=20 output.file=run.h5 --verbose
    [ $code -eq 0 ] || fail "K is not found"
    grep -q 'eigengap: [0-9]* clusters' err.txt || fail "the eigengap is not told"
    grep -q 'KL [0-9.]*; eigenvalues 2 to [0-9]* of the map.s graph: 0' err.txt || fail "the eigenvalues are not told"
    grep -q '^KL divergence .* without the regulariser' out.txt || fail "the divergence is not told"
    grep -q 'eigenvectors  *[0-9]' out.txt || fail "the stage is not timed"
    # In a study methods are compared by the divergence, with and without a regulariser.
    cat >study.yaml <<'YAML'
data:
  - {name: blobs, file: blobs.h5}
settings: {isolation.psi: 32, layout.exaggeration_iterations: 3, layout.iterations: 20}
methods:
  - {name: one, settings: {run.preset: laptsne}}
seeds: [1]
measures: [KL]
YAML
    "$IKT_PROGRAM" study study.yaml --data . --output study >log 2>&1 || fail "a study"
    "$IKT_PROGRAM" info run.h5 2>/dev/null | awk '$1 == "kl" { print $2 }' >divergence
    awk -F, 'NR == FNR { is = $1; next } FNR == 1 { for (c = 1; c <= NF; c++) if ($c == "KL") at = c; next }
        { exit !(at > 0 && $at - is < 1e-6 * is && is - $at < 1e-6 * is) }' divergence study/results.csv ||
        fail "KL of a study is not the divergence: $(cat divergence study/results.csv)"
    embed 2 "${usual[@]:0:1}" output.overwrite=yes output.measures=none --preset laptsne-paper layout.regulariser_rank=5 output.file=paper.h5 --verbose
    [ $code -eq 0 ] || fail "the preset of the paper"
    grep -q 'iteration 100: cost' err.txt || fail "the preset of the paper has no 100 iterations"
}

batches() { # rows that a step moves
    local how=(layout.batch_rows=40 layout.batch_neighbours=4 layout.regulariser_every=10 layout.iterations=9)
    embed 1 "${lap[@]}" "${how[@]}" output.file=one.h5
    [ $code -eq 0 ] || fail "batches"
    OMP_NUM_THREADS=2 same "$(hash_of)" 3 "${lap[@]}" "${how[@]}" output.file=three.h5
    same_result one.h5 three.h5
    embed 1 "${lap[@]}" "${how[@]}" affinity.support=dense output.file=dense.h5
    same "$(hash_of)" 2 "${lap[@]}" "${how[@]}" affinity.support=dense output.file=dense.h5
    # A batch of all rows is none.
    embed 1 "${lap[@]}" layout.iterations=9 output.file=all.h5
    same "$(hash_of)" 1 "${lap[@]}" layout.iterations=9 layout.batch_rows=300 output.file=batch.h5
    refused 'but there are only 300 rows' layout.batch_rows=301
    refused 'from 1 to 1000000000, or auto' layout.batch_rows=0
    refused 'layout.batch_neighbours = 290, but a row of P has' layout.batch_rows=40 layout.batch_neighbours=290
    refused 'goes with layout.batch_rows' layout.batch_neighbours=4
    embed 1 input.file=blobs.h5 output.file=no.h5 output.measures=none layout.objective=trimap layout.batch_rows=40
    [ $code -eq 2 ] && grep -q 'but layout.objective=trimap' err.txt || fail "batches of triplets are not refused"
    refused 'which affinity.support=whole never holds' layout.batch_rows=40 affinity.support=whole layout.iterations=9
}

refused() { # WORDS ARGUMENTS...
    local words=$1
    shift
    embed 1 "${usual[@]}" output.file=no.h5 "$@"
    [ $code -eq 2 ] || fail "$* ends with $code"
    grep -q -- "$words" err.txt || fail "$*: no '$words'"
    [ "$(grep -c 'error' err.txt)" -eq 1 ] || fail "$*: more than one sentence"
    [ ! -e no.h5 ] || fail "$* writes"
}
sentences() {
    local lap="layout.regulariser=laplacian"
    refused 'counts the eigenvalue 0 alone' $lap layout.regulariser_rank=1
    refused 'from 1 to 1000, or auto' $lap layout.regulariser_rank=0
    refused 'at most 76 for 300 rows' $lap layout.regulariser_rank=77
    refused 'from 0 to 100, or auto' $lap layout.regulariser_rank=5 layout.regulariser_weight=-1
    refused 'layout.regulariser_weight' $lap layout.regulariser_rank=5 layout.regulariser_weight=nan
    refused 'from 0 to 100, or auto' $lap layout.regulariser_rank=5 layout.regulariser_weight=101
    refused 'beyond the last iteration, 20' $lap layout.regulariser_rank=5 layout.iterations=20 layout.regulariser_from=21
    refused 'but layout.objective=nerv' $lap layout.regulariser_rank=5 layout.objective=nerv
    refused 'but layout.objective=sne' $lap layout.regulariser_rank=5 layout.objective=sne
    refused 'goes with layout.regulariser=laplacian' layout.regulariser_rank=5
    refused 'layout.regulariser_rank = auto needs affinity.support' $lap affinity.support=whole
    embed 1 "${usual[@]}" output.file=warned.h5 $lap layout.regulariser_rank=5 layout.iterations=11 layout.regulariser_weight=5
    [ $code -eq 0 ] && grep -q 'outweighs the divergence' err.txt || fail "no warning of a large weight"
    # Rows that are all alike have no eigengap; three rows have no groups.
    yes 1,2 | head -50 >same.csv
    embed 1 input.file=same.csv output.file=same.h5 --preset laptsne layout.iterations=12 layout.exaggeration_iterations=3 output.picture=none
    [ $code -eq 0 ] && grep -q 'auto takes 13 in place of' err.txt || fail "more groups than rows allow"
    head -3 same.csv >three.csv
    embed 1 input.file=three.csv output.file=no.h5 --preset laptsne affinity.neighbours=2 output.picture=none
    [ $code -eq 2 ] && grep -q '3 rows are none' err.txt || fail "three rows make groups"
    # Another rank, form or weight is another run.
    embed 1 "${usual[@]}" $lap layout.regulariser_rank=5 layout.iterations=16 output.file=half.h5 run.max_time=0
    [ $code -eq 75 ] || fail "no checkpoint"
    for other in layout.regulariser_rank=4 layout.regulariser_form=log layout.regulariser_weight=0.2; do
        embed 1 "${usual[@]}" $lap layout.regulariser_rank=5 layout.iterations=16 output.file=half.h5 $other
        [ $code -ne 0 ] && grep -q 'regulariser_' err.txt || fail "$other goes on from another run"
    done
}

try bits "the same map on any ranks by every way of summing"
try pieces "the same map in pieces, and extended"
try nothing "lambda = 0 is t-SNE"
try batches "rows are moved in batches"
try says "the log and the result tell what the regulariser finds"
try sentences "bad input is refused in one sentence"
exit $failed
