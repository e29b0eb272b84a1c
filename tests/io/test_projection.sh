#!/usr/bin/env bash
# New rows in maps of kernel PCA and kernel discriminant analysis: they are where the formula puts them,
# written plainly in numpy; old rows that come again get their places back, bit for bit; the same on
# any ranks; what is no model or does not fit it is refused with the reason.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"
. "$IKT_SOURCE/tests/support/embed.sh"

python=/usr/bin/python3
files=$IKT_SOURCE/tests/io/similarity_files.py
$python -c 'import h5py, numpy' 2>/dev/null || { echo "skipped: needs h5py"; exit 77; }
$python "$files" make >out.txt 2>err.txt || fail "the matrices cannot be made"
common="output.measures=none output.picture=none output.overwrite=yes run.checkpoint=none"
sim=input.similarities=sim.h5

projects() { # WHAT ROWS OLD ARGUMENTS...: of a model, ROWS are placed as numpy places them, and OLD as they were
    local what=$1 rows=$2 old=$3 ranks
    shift 3
    embed 2 "$@" output.model=model.h5
    cp model.h5 first.h5
    embed 1 "$@" output.model=model.h5
    "$IKT_PROGRAM" info first.h5 | grep model_hash >wanted.txt || fail "$what: no hash of the model"
    cmp -s wanted.txt <("$IKT_PROGRAM" info model.h5 | grep model_hash) || fail "$what: another model on two ranks"
    $python "$files" given "$what" run.h5 model.h5 || fail "$what: rows to place"
    for ranks in $all_ranks; do
        # shellcheck disable=SC2086
        OMP_NUM_THREADS=$((1 + ranks % 2)) $IKT_MPIRUN $ranks "$IKT_PROGRAM" transform model.h5 "$rows" placed.h5 --overwrite --quiet >placed.txt 2>err.txt ||
            fail "$what on $ranks ranks: $(cat err.txt)"
        [ $ranks -ne 1 ] || grep 'embedding hash' placed.txt >wanted.txt || fail "$what: no hash of the places"
        cmp -s wanted.txt <(grep 'embedding hash' placed.txt) || fail "$what: other places on $ranks ranks"
    done
    $python "$files" placed "$what" placed.h5 model.h5 || fail "$what: new rows are not where numpy puts them"
    "$IKT_PROGRAM" transform model.h5 "$old" again.h5 --overwrite --quiet >out.txt 2>err.txt || fail "$what: old rows: $(cat err.txt)"
    $python "$files" same run.h5 again.h5 || fail "$what: old rows do not get their places back"
}
for objective in "kpca" "kda kernel.ridge=3"; do
    for solver in kernel.solver=full kernel.landmarks=40; do
        all_ranks='1 3'
        [ $solver = kernel.solver=full ] || all_ranks='1 2 3 4 7'
        # shellcheck disable=SC2086
        projects given given.npy old.npy $sim:K layout.objective=$objective $solver
        for kind in linear gaussian isolation; do
            # shellcheck disable=SC2086
            projects $kind new.h5 rows.h5 input.file=rows.h5 layout.objective=$objective $solver kernel.kind=$kind
        done
    done
done
projects given given.npy old.npy $sim:indefinite layout.objective=kpca layout.dimensions=3
projects given given.npy old.npy $sim:K input.labels=some layout.objective=kda kernel.ridge=3
projects linear new.h5 rows.h5 input.file=rows.h5 layout.objective=kpca kernel.kind=linear preprocess.normalise=zscore preprocess.pca=4
"$IKT_PROGRAM" transform model.h5 new.h5 placed.h5 --overwrite --picture none >out.txt 2>err.txt || fail "transform"
grep -q '^placed.h5: [0-9]* rows among the 90 of model.h5\.' out.txt || fail "no summary of placed rows"
"$IKT_PROGRAM" transform model.h5 new.h5 placed.h5 --overwrite --json >out.txt 2>err.txt || fail "transform --json"
"$python" -c 'import json; assert not any(k == "neighbours" or k[:5] == "mean_" for k in json.load(open("out.txt")))' ||
    fail "figures of a descent that there was not"
"$IKT_PROGRAM" evaluate placed.h5 >out.txt 2>err.txt || fail "evaluate of placed rows: $(cat err.txt)"

not_placed() { # CODE WORDS ARGUMENTS...
    local code=$1 words=$2
    shift 2
    expect "$code" "$words" transform "$@"
}
not_placed 2 'neighbours would have no effect: model.h5 is of a map of similarities (kpca)' model.h5 new.h5 no.h5 --neighbours 5
not_placed 3 'new rows must have the same' model.h5 given.npy no.h5
embed 1 $sim:K layout.objective=kpca kernel.landmarks=40 output.model=model.h5
$python "$files" given given run.h5 model.h5 || fail "rows to place"
not_placed 3 'from their similarities to the 40 rows that its map is made of' model.h5 K.npy no.h5
not_placed 3 'row 2, column 7: nan is no finite number' model.h5 broken.npy no.h5
$python "$files" damage model.h5 landmarks || fail "no damage"
not_placed 3 'is damaged: /kernel holds what is no map' model.h5 old.npy no.h5
embed 1 input.file=rows.h5 kernel.kind=isolation layout.objective=kpca output.model=model.h5
$python "$files" damage model.h5 codes || fail "no damage"
not_placed 3 'is damaged: /kernel/codes, row 0 holds a number that cannot be there' model.h5 new.h5 no.h5
embed 1 input.file=rows.h5 kernel.kind=gaussian layout.objective=kpca output.model=model.h5
for part in rows weights means numbers origin; do
    cp model.h5 lies.h5 && $python "$files" damage lies.h5 $part || fail "no damage"
    not_placed 3 "is damaged: /kernel/$part, row" lies.h5 new.h5 no.h5
done
$python "$files" damage model.h5 means- || fail "no damage"
not_placed 3 'no longer ends with its checksum' model.h5 new.h5 no.h5
exit $failed
