#!/usr/bin/env bash
# The whole Isolation kernel: nothing sampled it is the dense P, rows without similarity included; what
# it goes with; what the run says of an estimated value.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checkpoints.sh"

"$IKT_PROGRAM" generate glyphs digits.h5 --points 300 --seed 14 --quiet || exit 1
"$IKT_PROGRAM" generate gaussian-mixture blobs.h5 --points 700 --dimensions 6 --clusters 5 --seed 2 --quiet || exit 1
whole=(affinity.support=whole output.overwrite=yes output.measures=none --quiet)
everything=(isolation.partitionings=8 whole.partitionings=8 whole.last_partitionings=8 whole.block=1000)

# number NAME: of the last point of the trace in out.txt.
number() { sed -n "s/.*\"$1\": \([-0-9.e+]*\).*/\1/p" out.txt | tail -1; }
near() { # A B TOLERANCE: relative
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && d <= t * (b < 0 ? -b : b)) }'
}

# The first gradient and value, and a map after some steps, of which those of the dense P are known.
same_as_dense() { # NAME ARGUMENTS...
    local name=$1 norm kl
    shift
    embed 1 "$@" isolation.partitionings=8 affinity.support=dense output.overwrite=yes output.measures=none --quiet --json layout.iterations=0 output.file=d.h5
    [ $code -eq 0 ] || fail "$name: dense"
    norm=$(number gradient_norm) kl=$(number kl)
    zeros=$(number rows_without_similarity)
    embed 2 "$@" "${whole[@]}" "${everything[@]}" --json layout.iterations=0 output.file=w.h5
    [ $code -eq 0 ] || fail "$name: whole"
    near "$(number gradient_norm)" "$norm" 1e-6 || fail "$name: the gradient $(number gradient_norm) is not $norm"
    [ "$(number rows_without_similarity)" = "$zeros" ] || fail "$name: $zeros rows have no similarity"
    near "$(number kl)" "$kl" 0.03 || fail "$name: KL $(number kl) is not $kl"
    awk -v a="$(number kl)" -v b="$kl" -v e="$(number standard_error)" \
        'BEGIN { d = a - b; if (d < 0) d = -d; exit !(e > 0 && d < 4 * e) }' ||
        fail "$name: KL $(number kl) +- $(number standard_error), exactly $kl"
}
same_as_dense "cells of many rows" input.file=digits.h5 isolation.psi=16 layout.repulsion=exact
[ "$zeros" = 0 ] || fail "$zeros rows without similarity"
same_as_dense "rows without similarity" input.file=digits.h5 isolation.psi=280 preprocess.pca=10 layout.repulsion=exact
[ "$zeros" -gt 0 ] || fail "no rows without similarity"
same_as_dense "trees" input.file=blobs.h5 isolation.form=forest isolation.psi=32 layout.repulsion=exact
same_as_dense "ordered rows" input.file=blobs.h5 isolation.psi=32 layout.objective=sne layout.dimensions=3

# kl_of_all_pairs RESULT: the value counted over every pair of rows, in `kl_of_all`.
kl_of_all_pairs() {
    "$IKT_PROGRAM" evaluate "$1" --input blobs.h5 --kl --json >out.txt 2>err.txt || fail "evaluate $1"
    kl_of_all=$(awk '/"KL divergence"/ { found = 1 } found && /"value"/ { gsub(/[^-0-9.e]/, "", $2); print $2; exit }' out.txt)
}

# A run that samples, what it says of its value, and the value by all pairs.
sampled=(isolation.psi=32 affinity.support=whole whole.partitionings=8 whole.block=32 output.measures=none)
embed 2 input.file=blobs.h5 output.file=run.h5 "${sampled[@]}" --verbose
[ $code -eq 0 ] || fail "exit code $code"
grep -q '^KL divergence .* +- 0\.[0-9]* (standard error; estimated on a sample of pairs)' out.txt || fail "the value is not told to be estimated"
grep -q 'the whole kernel, from 200 partitionings of 32 cells' err.txt || fail "P is not described"
kl=$(sed -n 's/^KL divergence *\([0-9.]*\).*/\1/p' out.txt)
error=$(sed -n 's/^KL divergence.*+- \([0-9.]*\).*/\1/p' out.txt)
embed 1 input.file=blobs.h5 output.file=dense.h5 isolation.psi=32 affinity.support=dense output.measures=none --verbose
best=$(sed -n 's/^KL divergence *\([0-9.]*\).*/\1/p' out.txt)
kl_of_all_pairs run.h5
exact=$kl_of_all
awk -v a="$kl" -v b="$exact" -v e="$error" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(b > 0 && d < 4 * e) }' ||
    fail "KL $kl +- $error, by all pairs $exact"
awk -v a="$exact" -v b="$best" 'BEGIN { exit !(a > 0 && a < b + 0.05) }' || fail "KL $exact, with the dense P $best"
h5dump -d /trace/standard_error run.h5 >/dev/null 2>&1 || fail "the trace has no errors"
h5dump -d /trace/standard_error dense.h5 >/dev/null 2>&1 && fail "the trace of a dense P has errors"
h5dump -a /provenance/configuration run.h5 >configuration.txt 2>&1
grep -q 'last_partitionings: 16' configuration.txt || fail "what was taken for auto is not noted"

# By default nothing is sampled of so few rows: the map is that of the dense P.
embed 2 input.file=blobs.h5 output.file=all.h5 isolation.psi=32 affinity.support=whole output.measures=none
h5dump -a /provenance/configuration all.h5 >configuration.txt 2>&1
tr '\n' ' ' <configuration.txt | grep 'partitionings: 200 .* last_partitionings: 200 ' >found.txt || fail "some of few rows are left out"
kl_of_all_pairs all.h5
all=$kl_of_all
near "$all" "$best" 0.01 || fail "KL of all pairs $all, with the dense P $best"

# --extend goes on, and a model places new rows.
embed 2 input.file=blobs.h5 output.file=run.h5 "${sampled[@]}" --extend 20 --quiet
[ $code -eq 0 ] || fail "--extend: exit code $code"
embed 2 input.file=blobs.h5 output.file=m.h5 output.model=model.h5 isolation.psi=32 "${whole[@]}" layout.iterations=60 layout.exaggeration_iterations=20
[ $code -eq 0 ] || fail "output.model: exit code $code"
"$IKT_PROGRAM" transform model.h5 blobs.h5 placed.h5 --quiet >out.txt 2>err.txt || fail "the model of the whole kernel"
"$IKT_PROGRAM" plan --points 10000000 --columns 50 affinity.support=whole --ranks 16 >out.txt 2>err.txt || fail "plan"
grep -q 'whole, 8 partitionings an iteration, blocks of 32 rows' out.txt || fail "the plan does not name the whole kernel"

refused() { # WORDS ARGUMENTS...
    local words=$1
    shift
    embed 2 input.file=blobs.h5 output.file=no.h5 isolation.psi=16 "$@" --quiet
    [ $code -eq 2 ] || fail "exit code $code instead of 2: $*"
    grep -q "^iktsne: error: .*$words" err.txt || fail "no '$words': $*"
}
# Of many rows the divergence is estimated from the cells, whatever the length of the run was.
"$IKT_PROGRAM" generate gaussian-mixture many.h5 --points 16500 --dimensions 3 --quiet >out.txt 2>err.txt
"$IKT_PROGRAM" embed many.h5 many-map.h5 affinity.support=whole isolation.psi=32 isolation.partitionings=20 layout.iterations=60 \
    layout.exaggeration_iterations=10 output.measures=none --quiet >out.txt 2>err.txt || fail "many rows"
"$IKT_PROGRAM" evaluate many-map.h5 --input many.h5 --kl --measures accuracy >out.txt 2>err.txt || fail "the divergence of many rows"
refused "whole needs affinity.kind = isolation" affinity.support=whole affinity.kind=gaussian
refused "does not go with layout.objective=nerv: its attraction is not in proportion to P" affinity.support=whole layout.objective=nerv
refused "does not go with layout.objective=jse" affinity.support=whole layout.objective=jse
refused "needs layout.stop = fixed" affinity.support=whole layout.stop=auto
refused "output.graph needs affinity.support = sparse" affinity.support=whole output.graph=g.h5
refused "which input.graph does not hold" affinity.support=whole input.graph=g.h5
refused "whole.block = 8 would have no effect in this run, as it goes with affinity.support=whole" whole.block=8
refused "affinity.candidates = 90 would have no effect" affinity.support=whole affinity.candidates=90
refused "whole.partitionings = 300, but isolation.partitionings = 200" affinity.support=whole whole.partitionings=300
refused "whole.last_partitionings = 21, but isolation.partitionings = 20" affinity.support=whole isolation.partitionings=20 whole.last_partitionings=21
exit $failed
