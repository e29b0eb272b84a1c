#!/usr/bin/env bash
# docs/combinations.md is what the program says of itself, and what it says is not empty.
. "$IKT_SOURCE/tests/support/script.sh"
mkdir -p copy/scripts copy/docs
cp "$IKT_SOURCE/scripts/combinations-page.sh" copy/scripts/
copy/scripts/combinations-page.sh "$IKT_PROGRAM" >out.txt 2>err.txt || fail "the page cannot be written"
diff "$IKT_SOURCE/docs/combinations.md" copy/docs/combinations.md >difference.txt ||
    fail "docs/combinations.md is not what the program says (- the page, + the program): run scripts/combinations-page.sh"
# Known answers: t-SNE has all forms of the Isolation kernel; UMAP's method goes along a sparse P alone.
grep -q '^| isolation, whole | yes |' copy/docs/combinations.md || fail "t-SNE does not take the whole kernel"
column=$(sed -n 's/^| affinity.kind, affinity.support |//p' copy/docs/combinations.md | tr '|' '\n' | grep -n umap | cut -d: -f1)
row() { sed -n "s/^| $1 |//p" copy/docs/combinations.md | cut -d'|' -f"$column"; }
[[ $(row "isolation, sparse") == *yes* ]] || fail "umap does not take a sparse P"
[[ $(row "isolation, dense") != *yes* ]] || fail "umap takes a dense P"
# The steps of a run, of which each makes what a later one takes.
"$IKT_PROGRAM" plan --points 70000 --columns 50 --steps --ranks 1 >steps.txt 2>err.txt || fail "no steps are printed"
for step in read code search weigh symmetrise start loop; do
    grep -q "^$step " steps.txt || fail "there is no step '$step'"
done
# Time and memory are those of the loop, wherever it starts; and the stage that takes most is among those that are listed.
for start in pca random spectral; do
    "$IKT_PROGRAM" plan --points 70000 --columns 50 --steps --ranks 1 layout.init=$start >steps.txt 2>err.txt
    grep -qE '^loop +positions +map +[1-9][0-9]* +[1-9][0-9.]* +loop' steps.txt || fail "the loop from $start has no time: $(cat steps.txt)"
done
"$IKT_PROGRAM" plan --points 70000 --columns 2000 --ranks 1 layout.objective=pca >plan.txt 2>err.txt
most=$(sed -n "s/.*in the stage '\([a-z]*\)'.*/\1/p" plan.txt)
sed -n 's/.*in the stage//p' plan.txt | grep -q "[(,] *$most [1-9]" || fail "the stage '$most' has no number: $(grep 'in the stage' plan.txt)"
"$IKT_PROGRAM" plan --points 70000 --columns 50 --ranks 1 layout.init=random >plan.txt 2>err.txt
! grep -q 'in the stage.*pca' plan.txt || fail "components of no run are planned: $(grep 'in the stage' plan.txt)"
"$IKT_PROGRAM" plan --points 70000 --columns 50 --steps --ranks 1 layout.objective=pca >steps.txt 2>err.txt
! grep -qE '^(code|search|weigh) ' steps.txt || fail "principal components are taken of neighbours"
exit "$failed"
