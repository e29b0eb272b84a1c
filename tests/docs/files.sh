#!/usr/bin/env bash
# docs/files.md names everything that is in files of each kind, and nothing else.
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
/usr/bin/python3 -c "import h5py" 2>/dev/null || { echo "no python3 with h5py: skipped" && exit 77; }
iktsne() { timeout 60 "$IKT_PROGRAM" "$@" --quiet >out.txt 2>err.txt || fail "iktsne $*"; }
short="layout.iterations=30 layout.exaggeration_iterations=10"

# Data sets: every set of `generate`, and a table with labels that are texts.
printf 'a,b,class\n1,2,x\n3,4,y\n5,6,x\n' >table.csv
iktsne convert table.csv table.h5 --label-column class
printf '1 1:2 3:4\n2 2:5\n1 1:6 3:7\n' >sparse.libsvm
iktsne convert sparse.libsvm sparse.h5 --sparse yes
iktsne generate glyphs glyphs.h5 --points 300
for set in five-subspace gaussian-mixture swiss-roll; do iktsne generate $set $set.h5 --points 100; done
iktsne generate deform deform.h5 --source glyphs.h5 --points 20
iktsne generate outlier outlier.h5 --source swiss-roll.h5
iktsne generate subset subset.h5 --source glyphs.h5 --share 0.5
iktsne landmarks table.h5 landmarks.h5 --count 2
/usr/bin/python3 - <<'PYTHON' || fail "missing values cannot be made"
import h5py, shutil
shutil.copy("five-subspace.h5", "gaps.h5")
with h5py.File("gaps.h5", "r+") as f:
    f["X"][7, 3] = float("nan")
PYTHON

# Results of every verb that writes some, models with and without what is optional, graphs.
iktsne embed glyphs.h5 run.h5 $short output.model=model.h5 output.graph=graph.h5 preprocess.pca=5 \
    preprocess.normalise=minmax affinity.search=approximate isolation.search=approximate isolation.candidates=30 affinity.candidates=50
iktsne embed five-subspace.h5 five.h5 $short output.graph=start.h5 layout.init=landmark
iktsne embed table.h5 named.h5 $short output.graph=names.h5 affinity.neighbours=1 isolation.psi=2
iktsne embed five-subspace.h5 fisher.h5 $short affinity.kind=fisher fisher.support=40 output.model=fisher-model.h5
iktsne embed five-subspace.h5 kernel.h5 layout.objective=kpca kernel.kind=gaussian kernel.landmarks=40 output.model=kernel-model.h5 output.measures=none
iktsne embed five-subspace.h5 kernel.h5 layout.objective=kpca kernel.kind=isolation isolation.psi=8 kernel.landmarks=40 output.model=coded-model.h5 output.measures=none output.overwrite=yes
iktsne embed five-subspace.h5 cost.h5 $short layout.objective=nerv layout.init=spectral layout.eigengap=absolute
printf 'input: {file: five-subspace.h5}\n' >whole.yaml
iktsne embed whole.yaml output.file=whole.h5 $short affinity.support=whole
iktsne embed five-subspace.h5 groups.h5 $short layout.regulariser=laplacian layout.regulariser_rank=4
iktsne embed input.graph=graph.h5 output.file=again.h5 $short
iktsne embed gaps.h5 gaps-run.h5 $short preprocess.missing=drop output.graph=gaps-graph.h5
iktsne embed gaps.h5 filled.h5 $short preprocess.missing=mean output.model=filled-model.h5
iktsne embed five-subspace.h5 metric.h5 $short preprocess.metric=manhattan output.model=metric-model.h5
iktsne embed glyphs.h5 trimap.h5 layout.iterations=30 layout.objective=trimap affinity.kind=knn preprocess.pca=5 output.model=rows-model.h5
for i in 1 2 3 4 5 6; do echo "$i,$((i * i)),k$((i % 2))"; done | sed '1i a,b,kind' >headed.csv
iktsne embed headed.csv headed.h5 $short input.labels=kind affinity.neighbours=2 isolation.psi=2 output.model=headed-model.h5
iktsne transform model.h5 subset.h5 placed.h5
iktsne transform rows-model.h5 subset.h5 placed-rows.h5
iktsne align again.h5 run.h5 aligned.h5

# Checkpoints: starts that stop at once leave, one after the other, what each stage leaves.
for start in 1 2 3 4 5 6 7 8; do
    timeout 60 "$IKT_PROGRAM" embed glyphs.h5 stopped.h5 run.max_time=0 affinity.search=approximate affinity.candidates=50 \
        affinity.refinements=2 layout.init=landmark layout.regulariser=laplacian layout.regulariser_rank=4 $short --quiet >out.txt 2>err.txt
    [ $? -eq 75 ] || break
    for stage in codes neighbours probabilities loop; do
        [ ! -f stopped.h5.checkpoint/$stage.h5 ] || cp stopped.h5.checkpoint/$stage.h5 "stage-$start-$stage.h5"
    done
done

/usr/bin/python3 "$IKT_SOURCE/tests/docs/files.py" "$IKT_SOURCE/docs/files.md" \
    Data_sets table.h5 sparse.h5 glyphs.h5 five-subspace.h5 gaussian-mixture.h5 swiss-roll.h5 deform.h5 outlier.h5 subset.h5 landmarks.h5 -- \
    Results run.h5 five.h5 named.h5 cost.h5 whole.h5 groups.h5 again.h5 placed.h5 placed-rows.h5 aligned.h5 gaps-run.h5 fisher.h5 -- Models model.h5 filled-model.h5 metric-model.h5 rows-model.h5 fisher-model.h5 kernel-model.h5 coded-model.h5 headed-model.h5 -- \
    Saved_graphs graph.h5 start.h5 names.h5 gaps-graph.h5 -- Checkpoints stage-*.h5 >out.txt 2>err.txt || fail "docs/files.md"
cat out.txt
exit "$failed"
