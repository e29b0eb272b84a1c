#!/usr/bin/env bash
# What can be wrong with a model, with new rows and with the names of outputs: one clear sentence and
# the documented exit code, on one rank and on three; and the model is never touched.
. "$(dirname "${BASH_SOURCE[0]}")/../support/expect.sh"

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 90 --dimensions 3 --clusters 3 --quiet || exit 1
"$IKT_PROGRAM" generate gaussian-mixture wide.h5 --points 90 --dimensions 5 --clusters 3 --quiet || exit 1
"$IKT_PROGRAM" generate gaussian-mixture few.h5 --points 9 --dimensions 3 --clusters 3 --quiet || exit 1
"$(dirname "$IKT_PROGRAM")/tests/write_h5" nan.h5 || exit 1
good="input.file=data.h5 output.file=run.h5 isolation.psi=16 layout.iterations=20
    layout.exaggeration_iterations=5 output.measures=none --quiet"
bare="input.file=data.h5 output.file=run.h5 layout.iterations=20 output.measures=none --quiet"
"$IKT_PROGRAM" embed $good output.model=model.h5 >/dev/null || exit 1
before=$(cksum <model.h5)

# Models
expect 4 "missing.h5 cannot be read: No such file" transform missing.h5 data.h5 out.h5
expect 3 "run.h5 is not a model to place rows by: .* (this is an embedding without one)" transform run.h5 data.h5 out.h5
expect 3 "data.h5 is not a model to place rows by" transform data.h5 data.h5 out.h5
head -c $(($(stat -c %s model.h5) * 6 / 10)) model.h5 >short.h5
expect 4 "short.h5 cannot be opened: truncated file" transform short.h5 data.h5 out.h5
echo text >text.h5
expect 4 "text.h5 is not an HDF5 file" transform text.h5 data.h5 out.h5

# New rows
expect 4 "missing.h5 cannot be read: No such file" transform model.h5 missing.h5 out.h5
expect 3 "wide.h5:/X has 5 columns, but the rows of model.h5 had 3" transform model.h5 wide.h5 out.h5
expect 3 "nan.h5:/X, row 17, column 1 (counted from 0): value is NaN" transform model.h5 nan.h5 out.h5
expect 3 "data.h5 has no data set 'Y'; it holds: X, labels" transform model.h5 data.h5 out.h5 --dataset Y
expect 3 "has no labels 'classes' (input.labels)" transform model.h5 data.h5 out.h5 --labels classes
expect 2 "neighbours 91, but model.h5 holds only 90 rows" transform model.h5 data.h5 out.h5 --neighbours 91

# Outputs
expect 2 "model.h5 is read and cannot be the output, too" transform model.h5 data.h5 model.h5 --overwrite
expect 4 "run.h5 exists already" transform model.h5 data.h5 run.h5
expect 4 "/nowhere/out.h5 cannot be written" transform model.h5 data.h5 /nowhere/out.h5
expect 4 "/nowhere/out.png cannot be written" transform model.h5 data.h5 out.h5 --picture /nowhere/out.png
expect 2 "too few arguments" transform model.h5 data.h5
[ ! -e out.h5 ] || { echo "FAILED: a failed transform left a file"; failed=1; }

# output.model and isolation.model_from
expect 2 "output.model needs affinity.kind = isolation" embed $good output.overwrite=yes output.model=no.h5 affinity.kind=gaussian isolation.psi=auto
for objective in sne umap largevis; do
    expect 2 "output.model does not go with layout.objective = $objective: new rows are placed by the kernel of t-SNE, by triplets (trimap), or in a map" embed $bare output.overwrite=yes output.model=no.h5 layout.objective=$objective
done
expect 2 "output.model needs isolation.form = voronoi" embed $bare output.overwrite=yes output.model=no.h5 layout.objective=trimap isolation.form=forest
expect 2 "output.model and output.file are the same file" embed $good output.overwrite=yes output.model=run.h5
expect 4 "model.h5 exists already" embed $good output.file=run2.h5 output.model=model.h5
expect 4 "missing.h5 cannot be read" embed $good output.overwrite=yes isolation.model_from=missing.h5
expect 3 "wide.h5:/X (isolation.model_from) has 5 columns, data.h5:/X has 3" embed $good output.overwrite=yes isolation.model_from=wide.h5
expect 2 "isolation.psi = 16 is larger than the 9 rows of the data in isolation.model_from" embed $good output.overwrite=yes isolation.model_from=few.h5
expect 3 "has no data set 'Y'" embed $good output.overwrite=yes isolation.model_from=few.h5 isolation.model_dataset=Y
expect 2 "isolation.model_from needs affinity.kind = isolation" embed $good output.overwrite=yes isolation.model_from=few.h5 affinity.kind=gaussian
expect 3 "nan.h5:/X, row 17, column 1 (counted from 0): value is NaN" embed $good output.overwrite=yes isolation.model_from=nan.h5
# Without statistics only the centres are read, and those are looked at.
expect 3 "nan.h5:/X, row 17, column 1 (counted from 0): value is NaN" embed $good output.overwrite=yes isolation.model_from=nan.h5 preprocess.normalise=none isolation.psi=40

# Models of maps by triplets: with codes, and with rows and their scales.
"$IKT_PROGRAM" embed $bare output.overwrite=yes layout.objective=trimap affinity.kind=knn output.model=rows.h5 >/dev/null || exit 1
"$IKT_PROGRAM" embed $bare output.overwrite=yes layout.objective=trimap isolation.psi=16 output.model=codes.h5 >/dev/null || exit 1
for model in rows.h5 codes.h5; do
    expect 3 "wide.h5:/X has 5 columns, but the rows of $model had 3" transform $model wide.h5 out.h5
    expect 3 "nan.h5:/X, row 17, column 1 (counted from 0): value is NaN" transform $model nan.h5 out.h5
    expect 2 "neighbours 91, but $model holds only 90 rows" transform $model data.h5 out.h5 --neighbours 91
    "$IKT_PROGRAM" transform $model few.h5 triplets.h5 --overwrite --picture triplets.png --neighbours 90 --quiet >/dev/null || failed=1
    "$IKT_PROGRAM" transform $model data.h5 triplets.h5 --overwrite --picture triplets.png --iterations 2 --json --quiet >triplets.json || failed=1
    grep -q '"mean_cost": 0\.' triplets.json || { echo "FAILED: no cost of $model"; failed=1; }
    "$IKT_PROGRAM" plot triplets.h5 cost.png --overwrite --colour-by diagnostics/cost --quiet || failed=1
    "$IKT_PROGRAM" info $model | grep "embedding of 90 rows" >/dev/null || failed=1
done

# A result can be evaluated, drawn and described; old files stay as they were.
"$IKT_PROGRAM" transform model.h5 data.h5 out.h5 --picture out.png --quiet >/dev/null || failed=1
"$IKT_PROGRAM" evaluate out.h5 --input data.h5 --quiet >/dev/null || failed=1
"$IKT_PROGRAM" plot out.h5 divergence.png --colour-by diagnostics/divergence --quiet || failed=1
"$IKT_PROGRAM" info out.h5 | grep "model_hash" >/dev/null || failed=1
"$IKT_PROGRAM" info model.h5 | grep "embedding of 90 rows" >/dev/null || failed=1
[ "$before" = "$(cksum <model.h5)" ] || { echo "FAILED: the model has changed"; failed=1; }
[ -z "$(ls -- *.part-* 2>/dev/null)" ] || { echo "FAILED: partial files are left"; failed=1; }
exit $failed
