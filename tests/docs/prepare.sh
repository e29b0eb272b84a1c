#!/usr/bin/env bash
# The files that commands in the documents name, small ones in their place: made once, and copied into a
# folder for each page. Add here what a new page needs; no file larger than a megabyte, no second of work.
set -euo pipefail
iktsne() { "$IKT_PROGRAM" "$@" --quiet >/dev/null; }

# Verbs that replace a file when they are told to.
"$IKT_PROGRAM" --help | sed -n '/^usage/,/^options/s/^  \([a-z][a-z]*\)  *[A-Za-z].*/\1/p' | while read -r verb; do
    "$IKT_PROGRAM" "$verb" --help >help.txt # not a pipe: grep ends at the first hit, and help would fail
    grep -q '^  --overwrite' help.txt && echo "$verb"
done >verbs-overwrite || true

# Images of digits: bytes, 784 columns, labels. In place of MNIST's, and of parts of them.
iktsne generate glyphs digits.h5 --points 1100 --seed 1
for name in mnist70k mnist-10k old data reference; do cp digits.h5 $name.h5; done
iktsne generate subset new.h5 --source digits.h5 --share 0.2 --seed 2
iktsne generate five-subspace five-subspace.h5 --points 300 --seed 1
cp five-subspace.h5 five.h5

# The same in the formats that are read and converted: MNIST's, tables, arrays, sparse matrices.
/usr/bin/python3 - <<'PYTHON'
import gzip, struct, h5py, numpy as np
with h5py.File("digits.h5") as f:
    x, labels = f["X"][:], f["labels"][:].astype(np.uint8)
with gzip.open("t10k-images-idx3-ubyte.gz", "wb", 1) as f:
    f.write(struct.pack(">IIII", 0x803, len(x), 28, 28) + x.tobytes())
with gzip.open("t10k-labels-idx1-ubyte.gz", "wb", 1) as f:
    f.write(struct.pack(">II", 0x801, len(labels)) + labels.tobytes())

np.save("umap.npy", x[:, 290:630:300].astype(np.float32))  # a map, as far as its form goes
x, labels = x[:200, 280:344], labels[:200].astype(np.int32)  # some rows of pixels, some of them 0
kinds = np.array(list("abcdefghij"))[labels]
np.save("digits.npy", x)
np.save("digits-labels.npy", labels)
np.savez("digits.npz", x_train=x, y_train=labels)
with open("vectors.raw", "wb") as f:
    f.write(bytes(16) + np.random.default_rng(1).normal(size=(100, 784)).astype(">f4").tobytes())
with open("table.csv", "w") as f:
    f.write("name," + ",".join(f"c{i}" for i in range(8)) + ",kind\n")
    for i, row in enumerate(x):
        f.write(f"{i}," + ",".join(map(str, row[20:28])) + f",{kinds[i]}\n")
with open("own.csv", "w") as f:
    f.write("name,species," + ",".join(f"c{i}" for i in range(8)) + "\n")
    f.writelines(f"plant {i},{kinds[i]}," + ",".join(map(str, row[20:28])) + "\n" for i, row in enumerate(x))
for name in ("reviews", "digits"):
    with open(f"{name}.libsvm", "w") as f:
        for label, row in zip(labels, x):
            f.write(f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row) if v) + "\n")


def sparse(group, matrix):
    """A sparse matrix by rows, as AnnData writes it."""
    rows, columns = np.nonzero(matrix)
    group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0",
                        "shape": np.array(matrix.shape, np.int64)})
    group["data"] = matrix[rows, columns].astype(np.float32)
    group["indices"] = columns.astype(np.int32)
    group["indptr"] = np.searchsorted(rows, np.arange(len(matrix) + 1)).astype(np.int64)


near = ((x[:, None, :].astype(int) - x[None]) ** 2).sum(2)
weights = np.where(near <= np.sort(near)[:, 8:9], np.exp(-near / near.mean()), 0)
np.fill_diagonal(weights, 0)
np.save("distances.npy", np.sqrt(near))
places = np.argwhere(weights)
with open("connectivities.mtx", "w") as f:
    f.write(f"%%MatrixMarket matrix coordinate real general\n{len(x)} {len(x)} {len(places)}\n")
    f.writelines(f"{i + 1} {j + 1} {float(weights[i, j])!r}\n" for i, j in places)
np.savez("connectivities.npz", format=b"csr", shape=np.array(weights.shape), data=weights[weights > 0],
         indices=places[:, 1].astype(np.int32), indptr=np.searchsorted(places[:, 0], np.arange(len(x) + 1)))
with h5py.File("kernel.h5", "w") as f:
    f["K"] = np.exp(-near / near.mean())
with h5py.File("news20.h5", "w") as f:
    sparse(f.create_group("X"), x)
    f["labels"] = labels
with h5py.File("counts.h5", "w") as f:
    sparse(f, x)
with h5py.File("cells.h5ad", "w") as f:
    f["X"] = f["obsm/X_pca"] = x.astype(np.float32)
    f["obsm/X_umap"] = x[:, 20:40:19].astype(np.float32)
    sparse(f.create_group("obsp/connectivities"), np.maximum(weights, weights.T))
    obs = f.create_group("obs")
    obs.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0", "_index": "_index", "column-order": ["cell_type"]})
    obs["_index"] = [f"cell{i}" for i in range(len(x))]
    kind = obs.create_group("cell_type")
    kind.attrs.update({"encoding-type": "categorical", "encoding-version": "0.2.0", "ordered": False})
    kind["codes"], kind["categories"] = labels.astype(np.int8), list("abcdefghij")
PYTHON
/usr/bin/python3 -c '
import numpy, scipy.io
scipy.io.savemat("measured.mat", {"X": numpy.load("digits.npy").astype(float), "Y": numpy.load("digits-labels.npy")})'

# A configuration, a finished run with its model, an embedding of another seed, a study.
cat >config.yaml <<'YAML'
input:
  file: data.h5
isolation:
  psi: 32
layout:
  iterations: 60
  exaggeration_iterations: 30
output:
  file: run.h5
YAML
iktsne embed config.yaml output.model=model.h5 output.picture=run.png
iktsne embed config.yaml run.seed=2 output.file=run2.h5
cp run.h5 RUN.h5
cat >study.yaml <<'YAML'
title: A study
data:
  - name: Five
    file: five.h5
methods:
  - name: Isolation
    settings: {layout.iterations: 30}
    vary: {isolation.psi: [16, 32]}
seeds: [1, 2]
measures: ["10-NN accuracy"]
YAML

# A folder of data sets for the studies of the papers.
mkdir -p FOLDER
for name in wine segment wdbc spam; do cp five.h5 "FOLDER/$name.h5"; done
cp digits.h5 FOLDER/mnist70k.h5
