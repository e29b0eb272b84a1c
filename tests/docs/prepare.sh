#!/usr/bin/env bash
# The files that commands in the documents name, small ones in their place: made once, and copied into a
# folder for each page. Add here what a new page needs; no file larger than a megabyte, no second of work.
set -euo pipefail
iktsne() { "$IKT_PROGRAM" "$@" --quiet >/dev/null; }

# Verbs that replace a file when they are told to.
"$IKT_PROGRAM" --help | sed -n '/^usage/,/^options/s/^  \([a-z][a-z]*\)  *[A-Za-z].*/\1/p' | while read -r verb; do
    "$IKT_PROGRAM" "$verb" --help | grep -q '^  --overwrite' && echo "$verb"
done >verbs-overwrite || true

# Images of digits: bytes, 784 columns, labels. In place of MNIST's, and of parts of them.
iktsne generate glyphs digits.h5 --points 1100 --seed 1
for name in mnist70k mnist-10k old data reference; do cp digits.h5 $name.h5; done
iktsne generate subset new.h5 --source digits.h5 --share 0.2 --seed 2
iktsne generate five-subspace five-subspace.h5 --points 300 --seed 1
cp five-subspace.h5 five.h5

# The same as MNIST's files and as tables.
/usr/bin/python3 - <<'PYTHON'
import gzip, struct, h5py, numpy as np
with h5py.File("digits.h5") as f:
    x, labels = f["X"][:], f["labels"][:].astype(np.uint8)
with gzip.open("t10k-images-idx3-ubyte.gz", "wb", 1) as f:
    f.write(struct.pack(">IIII", 0x803, len(x), 28, 28) + x.tobytes())
with gzip.open("t10k-labels-idx1-ubyte.gz", "wb", 1) as f:
    f.write(struct.pack(">II", 0x801, len(labels)) + labels.tobytes())
np.save("table.npy", x[:200, ::8].astype(np.float32))
with open("table.csv", "w") as f:
    f.write(",".join(f"c{i}" for i in range(8)) + ",class\n")
    for row, label in zip(x[:200, 300:308], labels):
        f.write(",".join(map(str, row)) + f",{'abcdefghij'[label]}\n")
PYTHON

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
