#!/usr/bin/env bash
# The verbs on files that are read directly: the same rows give the same embedding whatever the file and
# however many the ranks, and what the files say of themselves reaches messages, results and pictures.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checkpoints.sh"

python=""
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && $candidate -c 'import anndata, h5py, numpy' 2>/dev/null; then
        python=$candidate
    fi
done
[ -n "$python" ] || { echo "anndata and h5py are not there: not tested"; exit 77; }
tiny="isolation.psi=16 layout.iterations=30 layout.exaggeration_iterations=10 output.overwrite=yes --quiet"

"$IKT_PROGRAM" generate gaussian-mixture data.h5 --points 300 --dimensions 6 --clusters 3 --quiet || exit 1
"$python" -W ignore - <<'PYTHON' || exit 1
import anndata, h5py, numpy as np, pandas as pd
with h5py.File("data.h5") as f:
    x, labels = f["X"][:], f["labels"][:]
np.save("x.npy", x)
np.save("x-f.npy", np.asfortranarray(x))
np.save("labels.npy", labels)
x.astype(">f4").tofile("x.raw")
open("x.idx", "wb").write(bytes([0, 0, 0x0D, 2]) + np.array(x.shape, ">u4").tobytes() + x.astype(">f4").tobytes())
names = np.array(["stem cell", "b", "\u03b3\u03b4 T"])[labels % 3]
a = anndata.AnnData(X=np.zeros((len(x), 2), "f4"), obs=pd.DataFrame({"kind": pd.Categorical(names)},
                    index=[str(i) for i in range(len(x))]))
a.obsm["X_pca"] = x
a.write_h5ad("x.h5ad")
with h5py.File("x.mat", "w", userblock_size=512) as f:
    f["fea"], f["gnd"] = x.T, labels[None, :].astype("f8")
    f["fea"].attrs["MATLAB_class"], f["gnd"].attrs["MATLAB_class"] = np.bytes_("single"), np.bytes_("double")
PYTHON

# same RANKS ARGUMENTS...: the embedding of data.h5, and its labels.
same() {
    embed "$1" output.file=run.h5 $tiny "${@:2}"
    [ $code -eq 0 ] || fail "exit code $code: ${*:2}"
    [ "$(hash_of)" = "$hash" ] || fail "another embedding on $1 ranks: ${*:2}"
}

embed 1 input.file=data.h5 output.file=reference.h5 $tiny
hash=$(hash_of)
[ -n "$hash" ] || fail "no embedding of data.h5"
formats() {
    local ranks=1 name
    for name in "x.npy" "x-f.npy" "x.idx" "x.h5ad input.dataset=obsm/X_pca" "x.mat input.dataset=fea" \
        "x.raw input.columns=6 input.type=float32 input.byte_order=big"; do
        same $ranks input.file=$name input.labels=labels.npy
        h5diff reference.h5 run.h5 /labels >/dev/null || fail "other labels: $name"
        ranks=$((ranks % 3 + 1))
    done
    for ranks in 2 3; do same $ranks input.file=x.npy; done
}
try formats "six formats, one embedding"

real() { # digits as IDX, gzipped, NPY and HDF5
    local images=$IKT_TEST_DATA/raw/mnist-t10k-images-idx3-ubyte.gz marks=$IKT_TEST_DATA/raw/mnist-t10k-labels-idx1-ubyte.gz
    [ -r "$images" ] && [ -r "$marks" ] || { echo "no real data: $images"; return; }
    gunzip <"$images" >t10k-images && gunzip <"$marks" >t10k-labels || fail "gunzip"
    "$IKT_PROGRAM" convert "$images" t10k.h5 --rows 400 --labels "$marks" --quiet || fail "no conversion"
    embed 1 input.file=t10k.h5 output.file=reference.h5 $tiny
    hash=$(hash_of)
    for ranks in 1 2 3; do same $ranks input.file=t10k-images input.rows=400 input.labels=t10k-labels; done
    h5diff reference.h5 run.h5 /labels >/dev/null || fail "other labels of t10k"
}
try real "IDX as it was downloaded, and converted"

names() {
    embed 2 input.file=x.h5ad input.labels=kind output.file=run.h5 \
        output.picture=run.png output.model=model.h5 $tiny
    [ $code -eq 0 ] || fail "no embedding by kind"
    "$python" - <<'PYTHON' || fail "the result is not as it should be"
import h5py, numpy as np
with h5py.File("run.h5") as f, h5py.File("x.h5ad") as a:
    assert f.attrs["label_names"] == "b\nstem cell\n\u03b3\u03b4 T\n", f.attrs["label_names"]
    assert np.array_equal(f["labels"][:], a["obs/kind/codes"][:])
    assert f["provenance"].attrs["input"] == "x.h5ad:/obsm/X_pca"
PYTHON
    "$IKT_PROGRAM" plot run.h5 own.png --width 400 --quiet &&
        "$IKT_PROGRAM" plot run.h5 other.png --width 400 --colour-by x.h5ad:kind --quiet || fail "no picture"
    [ -s run.png ] && [ -s other.png ] || fail "no picture"
    embed 1 input.file=x.h5ad input.dataset=obsm/X_pca input.labels=leiden output.file=no.h5 $tiny
    [ $code -eq 3 ] && grep -q "could be labels: kind" err.txt || fail "a column that is not there"
    embed 1 input.file=x.h5ad output.file=no.h5 input.dataset=obsm/X_umap $tiny
    [ $code -eq 3 ] && grep -q "its matrices are: X (300 x 2), obsm/X_pca (300 x 6)" err.txt || fail "a table that is not there"
}
try names "names of classes, and what there could be"

verbs() { # with a model of the AnnData
    "$IKT_PROGRAM" transform model.h5 x.npy new.h5 --labels labels.npy --quiet >out.txt 2>err.txt &&
        "$IKT_PROGRAM" transform model.h5 data.h5 also.h5 --quiet >out.txt 2>err.txt || fail "transform"
    h5diff new.h5 also.h5 /embedding >/dev/null || fail "transform of an NPY file gives other places"
    "$IKT_PROGRAM" evaluate run.h5 --input x.npy --json >npy.json 2>err.txt &&
        "$IKT_PROGRAM" evaluate run.h5 --input x.mat input.dataset=fea --json >mat.json 2>>err.txt || fail "evaluate"
    cmp -s npy.json mat.json || fail "evaluate differs between NPY and MATLAB"
    embed 1 input.file=x.raw input.columns=6 input.type=float32 input.byte_order=big output.file=raw.h5 $tiny
    "$IKT_PROGRAM" evaluate raw.h5 --input x.npy >out.txt 2>err.txt || fail "evaluate of a raw run with NPY"
    "$IKT_PROGRAM" plan input.file=x.idx >out.txt 2>err.txt && grep -q "300" out.txt || fail "plan"
    "$IKT_PROGRAM" info x.npy >out.txt 2>err.txt
    grep -qx "x.npy: 300 rows x 6 columns, float32, without labels" out.txt || fail "info x.npy"
    "$IKT_PROGRAM" info x.h5ad --dataset obsm/X_pca --json >out.txt 2>err.txt
    grep -q '"format": "AnnData"' out.txt && grep -q '"labels_may_be": "kind"' out.txt || fail "info x.h5ad"
    "$IKT_PROGRAM" info x.mat --dataset fea >out.txt 2>err.txt
    grep -q "data sets *fea (300 x 6), gnd (300 x 1)" out.txt || fail "info x.mat"
}

pasted() { # what info prints for each matrix is a command
    "$python" -c 'import h5py, numpy as np
with h5py.File("it\47s here.h5", "w") as f: f["a $HOME b"] = f["c"] = np.load("x.npy")' || fail "h5py"
    iktsne() { embed 1 "${@:2}" output.file=run.h5 $tiny; }
    "$IKT_PROGRAM" info "it's here.h5" | sed -n 's/.* \(iktsne embed .*\)/\1/p' >commands.txt
    [ "$(wc -l <commands.txt)" -eq 2 ] || fail "no two commands: $(cat commands.txt)"
    while IFS= read -r command; do
        eval "$command"
        [ $code -eq 0 ] && [ "$(hash_of)" = "$wanted" ] || fail "not a command: $command"
    done <commands.txt
}
embed 1 input.file=x.npy output.file=run.h5 $tiny
wanted=$(hash_of)
try pasted "commands as info prints them"
try verbs "transform, evaluate, plan and info"

extended() { # what a run goes on from knows the rows, not the file
    embed 1 input.file=x.npy output.file=more.h5 $tiny
    embed 2 input.file=x.idx output.file=more.h5 $tiny --extend 10
    [ $code -eq 0 ] || fail "a run on NPY is not extended on IDX"
    embed 1 input.file=data.h5 output.file=run.h5 $tiny --extend 10
    h5diff more.h5 run.h5 /embedding >/dev/null || fail "another embedding when it is extended"
    embed 1 input.file=x.h5ad input.dataset=X output.file=more.h5 $tiny --extend 10
    [ $code -eq 2 ] || fail "extended on other rows: exit code $code"
}
try extended "runs that are extended"

wrong() { # CODE WORDS ARGUMENTS...
    embed 1 "${@:3}" output.file=no.h5 $tiny
    [ $code -eq "$1" ] && grep -q -- "$2" err.txt || fail "exit code $code: ${*:3}"
}
raw() {
    wrong 2 "input.type is missing" input.file=x.raw input.columns=6
    wrong 2 "input.columns is missing" input.file=x.raw input.type=float32
    wrong 2 "input.columns and input.type is missing" input.file=x.raw input.skip=8
    wrong 2 "is NPY, which says itself" input.file=x.npy input.columns=6 input.type=float32
    wrong 3 "no whole rows" input.file=x.raw input.columns=7 input.type=float32
    wrong 4 "nor of another known format" input.file=x.raw
}
try raw "raw numbers that are not described"
exit "$failed"
