#!/usr/bin/env bash
# Maps in one and three dimensions, and other objectives, through the whole program: embed, info,
# plot, start from a file, evaluate --kl; and what is refused.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

embed() {
    "$IKT_PROGRAM" embed input.file=data.h5 isolation.psi=16 preprocess.normalise=minmax output.overwrite=yes \
        output.measures=none layout.iterations=150 layout.exaggeration_iterations=50 "$@"
}

# value KEY FILE: the number under a key of JSON, the last one.
value() {
    sed -n "s/.*\"$1\": \"*\\([-0-9.e]*\\).*/\\1/p" "$2" | tail -n 1
}

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 300 --dimensions 6 --clusters 4 --quiet ||
    exit 1
for q in 1 3; do
    embed layout.dimensions=$q output.file=$q.h5 output.picture=$q.png --quiet --json >$q.json ||
        fail "embed in $q dimensions"
    [ "$(value dimensions $q.json)" = $q ] || fail "the summary does not say $q dimensions"
    "$IKT_PROGRAM" info $q.h5 >info.txt || fail "info"
    grep -q "embedding of 300 rows in $q dimension" info.txt || fail "info: $(head -1 info.txt)"
    [ -s $q.png ] || fail "no picture in $q dimensions"
    "$IKT_PROGRAM" plot $q.h5 again.png --overwrite --mark 0 --width 700 || fail "plot in $q"
    embed layout.dimensions=$q layout.init=file layout.init_file=$q.h5 output.file=on.h5 \
        layout.exaggeration_iterations=0 layout.learning_rate=1e-6 --quiet --json >on.json ||
        fail "a start from a file in $q dimensions"
    awk -v a="$(value kl $q.json)" -v b="$(value kl on.json)" \
        'BEGIN { exit !(a > 0 && (a - b) ^ 2 < 1e-6 * a ^ 2) }' ||
        fail "a start from the map in $q dimensions does not begin at its KL"
    embed layout.init=file layout.init_file=$q.h5 output.file=on.h5 --quiet 2>err.txt
    [ $? -eq 3 ] || fail "a start in $q dimensions for a map in two: exit code 3 expected"
    grep -q "in $q dimensions, but layout.dimensions = 2" err.txt || fail "message: $(cat err.txt)"
done

# More dimensions leave less to lose.
awk -v a="$(value kl 1.json)" -v b="$(value kl 3.json)" 'BEGIN { exit !(b < a) }' ||
    fail "KL in 3 dimensions is not below that in 1"

# Objectives: the value has its name everywhere, and a lower one than random positions have.
for objective in nerv jse sne; do
    embed layout.objective=$objective output.file=$objective.h5 --quiet --json >$objective.json ||
        fail "embed for $objective"
    name=cost
    [ $objective = sne ] && name=kl
    first=$(sed -n "/\"trace\"/,\$s/.*\"$name\": \\(.*\\),/\\1/p" $objective.json | head -n 1)
    awk -v a="$first" -v b="$(value $name $objective.json)" 'BEGIN { exit !(b < 0.9 * a) }' ||
        fail "$objective does not descend: from $first to $(value $name $objective.json)"
    "$IKT_PROGRAM" info $objective.h5 >info.txt
    grep -q "^ *$name  *[0-9]" info.txt || fail "$objective: no $name in the file"
    "$IKT_PROGRAM" evaluate $objective.h5 --input data.h5 --kl >measures.txt ||
        fail "evaluate --kl after $objective"
    grep -q "^KL divergence" measures.txt || fail "$objective: KL(P || Q) is not measured"
done

# By a tree, by a grid and exactly: nearly the same value.
for repulsion in exact fft barnes_hut; do
    embed layout.objective=jse layout.repulsion=$repulsion layout.init=random \
        layout.iterations=30 layout.exaggeration_iterations=20 output.file=r.h5 --quiet --json \
        >$repulsion.json || fail "$repulsion"
    awk -v a="$(value cost exact.json)" -v b="$(value cost $repulsion.json)" \
        'BEGIN { exit !((a - b) ^ 2 < 0.02 ^ 2 * a ^ 2) }' || fail "jse by $repulsion"
done

for wrong in layout.dimensions=4 "layout.dimensions=3 layout.repulsion=fft" layout.trade_off=0.5; do
    # shellcheck disable=SC2086
    embed $wrong output.file=wrong.h5 --quiet 2>/dev/null
    [ $? -eq 2 ] || fail "$wrong: exit code 2 expected"
    [ ! -e wrong.h5 ] || fail "$wrong: a file was written"
done
# /labels is the same name as labels, which a file need not have.
"$IKT_PROGRAM" generate uniform-2d bare.h5 --points 60 --quiet || fail "no rows without labels"
for labels in labels /labels; do
    "$IKT_PROGRAM" embed bare.h5 bare-map.h5 input.labels=$labels layout.objective=pca output.overwrite=yes --quiet \
        >/dev/null || fail "input.labels=$labels of a file without labels"
done

[ "$failed" -eq 0 ] && echo "maps in one and three dimensions, and other objectives"
exit "$failed"
