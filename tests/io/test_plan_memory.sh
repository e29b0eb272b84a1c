#!/usr/bin/env bash
# The memory that is planned beside what a run's own account has at its peak: a search among near rows
# by distances, over ranks, and components of wide rows. No less than is taken, and no more than 1.15 times as much.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
export XDG_CONFIG_HOME=$work/home OMP_NUM_THREADS=1

settings=(affinity.kind=gaussian layout.iterations=2 layout.exaggeration_iterations=1
    output.measures=none output.picture=none)

# The number after "KEY": in a file.
number() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$2" | head -1; }

# The matrix of all columns, and the solver's work.
"$IKT_PROGRAM" generate glyphs images.h5 --points 3000 --quiet
components=(layout.objective=pca preprocess.normalise=none output.measures=none output.picture=none)
"$IKT_PROGRAM" embed images.h5 map.h5 "${components[@]}" --json --quiet >run.json 2>err.txt || fail "no components"
"$IKT_PROGRAM" plan images.h5 --ranks 1 run.threads=1 "${components[@]}" --json >plan.json 2>err.txt || fail "no plan"
taken=$(number data_bytes run.json) planned=$(($(number peak plan.json) - $(number program plan.json)))
awk "BEGIN { exit !($taken <= $planned && $planned <= 1.15 * $taken) }" ||
    fail "components: $planned bytes planned, $taken taken"

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 20000 --dimensions 100 --quiet
for ranks in 1 2 4; do
    launch=()
    [ "$ranks" -eq 1 ] || read -ra launch <<<"$IKT_MPIRUN $ranks"
    timeout 300 "${launch[@]}" "$IKT_PROGRAM" embed data.h5 map.h5 output.overwrite=yes "${settings[@]}" \
        --json --quiet >run.json 2>err.txt || fail "no run on $ranks ranks"
    "$IKT_PROGRAM" plan data.h5 --ranks "$ranks" run.threads=1 "${settings[@]}" --json >plan.json 2>err.txt ||
        fail "no plan for $ranks ranks"
    taken=$(number data_bytes run.json) planned=0
    for stage in neighbours graph layout; do
        bytes=$(sed -n '/"bytes_per_rank"/,$p' plan.json >stages.txt; number "$stage" stages.txt)
        [ "$bytes" -le "$planned" ] || planned=$bytes
    done
    awk "BEGIN { exit !($taken <= $planned && $planned <= 1.15 * $taken) }" ||
        fail "$ranks ranks: $planned bytes planned, $taken taken"
done
exit "$failed"
