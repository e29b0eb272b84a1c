#!/usr/bin/env bash
# Eigenvectors of P as a user meets them: the start and the map of them, the eigengap, what is written of
# both, what they are compared with numpy, and what is refused in one sentence.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/python.sh"
here=$(dirname "${BASH_SOURCE[0]}")
[[ $here == /* ]] || here=$OLDPWD/$here

"$IKT_PROGRAM" generate glyphs data.h5 --points 600 --seed 3 --quiet || exit 1
common="embed input.file=data.h5 output.overwrite=yes output.measures=none"
short="layout.iterations=30 layout.exaggeration_iterations=10 layout.repulsion=exact"

# run NAME RANKS WORDS...: the run's file and its log, NAME.h5 and NAME.log; prints the hash.
run() {
    local name=$1 ranks=$2 launch=()
    shift 2
    [ "$ranks" -eq 1 ] || read -ra launch <<<"$IKT_MPIRUN $ranks"
    # shellcheck disable=SC2086
    timeout 90 "${launch[@]}" "$IKT_PROGRAM" $common output.file="$name.h5" "$@" >out.txt 2>"$name.log" ||
        { cp "$name.log" err.txt; return 1; }
    sed -n 's/^embedding hash *//p' out.txt
}

# --- facts and numbers
kernel="affinity.kind=gaussian gaussian.perplexity=8 preprocess.pca=20"
# shellcheck disable=SC2086
{
    one=$(run gap 1 $short $kernel layout.eigengap=absolute layout.init=spectral output.graph=kept.h5) || fail "a run"
    three=$(run three 3 $short $kernel layout.eigengap=absolute layout.init=spectral) || fail "a run on 3 ranks"
    plain=$(run plain 1 $short $kernel) || fail "a run from components"
    map=$(run map 2 $kernel layout.objective=eigenmap layout.eigengap=absolute) || fail "an eigenmap"
}
[ ${#one} -eq 16 ] && [ "$one" = "$three" ] || fail "3 ranks give $three, one gives $one"
[ "$one" != "$plain" ] || fail "the start makes no difference"
facts() {
    "$IKT_PROGRAM" info "$1" | grep -E '^ *(eigenvalue|gaps|clusters_by|components_of|start_(products|residual))'
}
[ "$(facts gap.h5 | wc -l)" -eq 9 ] || fail "facts of eigenvectors"
[ "$(facts gap.h5)" = "$(facts three.h5)" ] || fail "facts on 3 ranks"
grep -q 'eigengap: [0-9]* clusters; the largest gaps come after eigenvalues [0-9]* (0\.' gap.log || fail "what the log says of gaps"
grep -q 'eigenvectors: [0-9]* products of P with 12 columns, residual .* P has 1 connected component$' gap.log ||
    fail "what the log says of eigenvectors"
again=$(run again 2 $short input.file= input.graph=kept.h5 layout.init=spectral) || fail "a run of the kept graph"
[ "$again" = "$one" ] || fail "the kept graph gives $again instead of $one"
if python=$(find_python h5py numpy scipy); then
    "$python" "$here/spectral_check.py" gap.h5 kept.h5 || fail "eigenvalues are not those of numpy"
    "$python" "$here/spectral_check.py" map.h5 kept.h5 map || fail "the eigenmap is not that of numpy"
else
    echo "there is no python3 with scipy: numbers are not compared with numpy"
fi

# --- a run that is stopped goes on, on other ranks, with the same bits
long="layout.iterations=12000 layout.repulsion=exact layout.init=spectral $kernel"
# shellcheck disable=SC2086
{
    unbroken=$(run unbroken 1 $long) || fail "a long run"
    "$IKT_PROGRAM" $common output.file=broken.h5 $long >out.txt 2>err.txt &
    stopped=$!
    wait_until 30 grep -q 'tsne in 2 dimensions' err.txt
    sleep 0.2
    kill -TERM $stopped
    wait $stopped
    code=$?
    [ $code -eq 75 ] || fail "a run that is stopped: exit code $code"
    broken=$(run broken 3 $long) || fail "a run that goes on"
}
[ "$broken" = "$unbroken" ] || fail "a run that is stopped gives $broken instead of $unbroken"

# --- an eigenmap has the cost of its eigenvalues
values=$("$IKT_PROGRAM" info map.h5 | awk '$1 == "eigenvalues" { print $3 + $4 }')
cost=$("$IKT_PROGRAM" info map.h5 | awk '$1 == "cost" { print $2 }')
awk -v a="$values" -v b="$cost" 'BEGIN { exit !(b > 0 && a / b > 0.999 && a / b < 1.001) }' ||
    fail "the eigenmap costs $cost, and its eigenvalues add up to $values"

# --- components
"$IKT_PROGRAM" generate gaussian-mixture far.h5 --points 300 --dimensions 4 --clusters 3 --separation 200 --seed 2 --quiet
# shellcheck disable=SC2086
run parts 2 $short input.file=far.h5 affinity.kind=knn affinity.neighbours=10 layout.init=spectral >/dev/null || fail "three components"
grep -q 'P has 3 connected components' parts.log || fail "the number of components"
grep -q 'warning: P falls into 3 connected components' parts.log || fail "a warning of components"

# --- digits, as the paper of LaptSNE has them: 11 clusters by the eigengap of a dense P
if [ -r "${IKT_TEST_DATA:-}/digits.h5" ]; then
    for perplexity in 25 30; do
        run digits 2 input.file="$IKT_TEST_DATA/digits.h5" affinity.kind=gaussian gaussian.perplexity=$perplexity \
            affinity.support=dense layout.eigengap=absolute layout.iterations=0 layout.exaggeration_iterations=0 >/dev/null ||
            fail "digits"
        grep -q 'eigengap: 11 clusters' digits.log || { cp digits.log err.txt; fail "digits, perplexity $perplexity"; }
    done
else
    echo "the digits are not there: not tested"
fi

# --- what is refused
bad="$common output.file=bad.h5"
# shellcheck disable=SC2086
{
    expect 2 'layout.init = spectral needs affinity.support = sparse or dense' $bad layout.init=spectral affinity.support=whole
    expect 2 'layout.eigengap needs affinity.support = sparse or dense' $bad layout.eigengap=relative affinity.support=whole
    expect 2 'layout.init = spectral needs the affinities P, and layout.objective=trimap' $bad layout.init=spectral layout.objective=trimap
    expect 2 'layout.eigengap needs the affinities P, and layout.objective=pca' $bad layout.eigengap=absolute layout.objective=pca
    expect 2 'layout.objective=eigenmap is the map of eigenvectors of P' $bad layout.init=random layout.objective=eigenmap
    expect 2 'layout.objective=pca is the map of the principal components' $bad layout.init=spectral layout.objective=pca
    expect 2 'layout.eigengap' $bad layout.eigengap=yes
    expect 2 'an objective other than pca, eigenmap, kpca and kda' $bad layout.objective=eigenmap layout.learning_rate=3
    expect 2 'output.model does not go with layout.objective = eigenmap' $bad layout.objective=eigenmap output.model=m.h5
}
"$IKT_PROGRAM" generate gaussian-mixture two.h5 --points 3 --dimensions 2 --clusters 1 --seed 2 --quiet
# shellcheck disable=SC2086
expect 3 'leaves 2 eigenvectors beside those of the eigenvalue 0 for 3 dimensions' $bad input.file=two.h5 layout.objective=eigenmap \
    layout.dimensions=3 affinity.kind=knn affinity.neighbours=2
exit $failed
