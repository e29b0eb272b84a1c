"""Sparse matrices by rows in HDF5 files and what `iktsne convert` must make of them, by SciPy:
convert_sparse.py make, convert_sparse.py check."""
import sys

import anndata
import h5py
import numpy as np
import pandas as pd
import scipy.sparse as sparse

N, D, CELLS = 40000, 300, 90  # rows of several blocks
rng = np.random.default_rng(6)
start = np.sort(np.concatenate([[0, 0], rng.integers(0, 120001, N - 2), [120000]]))
places = rng.integers(0, D, 120000)  # in no order, some twice in a row
numbers = rng.integers(-3, 4, 120000) / 4
rows = sparse.csr_matrix((numbers, places, start), (N, D))
labels = rng.integers(0, 3, N)
cells = sparse.random(CELLS, 40, 0.6, random_state=1, format="csr", dtype="f4")
counts = sparse.csr_matrix((rng.integers(1, 200, cells.nnz).astype("u1"), cells.indices, cells.indptr), cells.shape)
kind = pd.Categorical(rng.choice(["T", "B", "none"], CELLS))


def write(group, data, indices, indptr, shape):
    group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", np.array(shape)
    group["data"], group["indices"], group["indptr"] = data, indices, indptr


def make():
    with h5py.File("rows.h5", "w") as f:
        write(f.create_group("deep/matrix"), numbers, places, start, (N, D))
        f["labels"], f["marked"] = labels, np.array([7, N - 1])
        f.attrs["label_names"] = "a\nb\nc\n"
    with h5py.File("odd.h5", "w") as f:
        sums = f.create_group("sums")  # bytes, whose sum is none
        write(sums, np.array([200, 100, 3], "u1"), np.array([1, 1, 0]), np.array([0, 2, 3]), (2, 2))
        wide = f.create_group("wide")
        write(wide, np.array([1.0, 2]), np.array([5, 2**30]), np.array([0, 1, 2]), (2, 2**31 - 1))
        bad = f.create_group("bad")
        write(bad, np.array([1.0, np.nan]), np.array([0, 1]), np.array([0, 1, 2]), (2, 2))
    with h5py.File("root.h5", "w") as f:
        write(f, counts.data, counts.indices, counts.indptr, counts.shape)
    obs = pd.DataFrame({"kind": kind}, index=[str(i) for i in range(CELLS)])
    cell = anndata.AnnData(X=cells, obs=obs, layers={"counts": counts, "found": counts.astype(bool)})
    cell.write_h5ad("cells.h5ad")


def matrix(f):
    x = f["X"]
    assert isinstance(x, h5py.Group) and x.attrs["encoding-type"] == "csr_matrix", f.filename
    found = sparse.csr_matrix((x["data"][:], x["indices"][:], x["indptr"][:]), tuple(x.attrs["shape"]))
    assert found.has_canonical_format and np.all(found.data != 0), f.filename
    return found


def compare(name, expected, dtype, classes=None, names=None):
    with h5py.File(name) as f:
        found = matrix(f)
        assert found.dtype == dtype and found.shape == expected.shape, name
        assert (found != expected.astype(dtype)).nnz == 0, name
        assert ("labels" in f) == (classes is not None), name
        assert classes is None or np.array_equal(f["labels"][:], classes), name
        assert f.attrs.get("label_names") == names, name


def check():
    compare("rows.out.h5", rows, "f8", labels, "a\nb\nc\n")
    with h5py.File("rows.out.h5") as f:
        assert list(f["marked"]) == [7, N - 1]
    compare("some.out.h5", rows[:30001], "f4", labels[:30001], "a\nb\nc\n")
    with h5py.File("dense.out.h5") as f:
        assert f["X"].dtype == "f8" and np.array_equal(f["X"][:], rows[:5000].toarray())
        assert np.array_equal(f["labels"][:], labels[:5000])
    compare("cells.out.h5", cells, "f4", kind.codes, "B\nT\nnone\n")
    compare("counts.out.h5", counts, "u1", kind.codes, "B\nT\nnone\n")
    compare("found.out.h5", counts.astype(bool), "u1")
    compare("root.out.h5", counts, "u1")
    compare("sums.out.h5", sparse.csr_matrix([[0, 300], [3, 0]]), "f4")
    with h5py.File("bytes.out.h5") as f:
        assert f["X"].dtype == "u1" and np.array_equal(f["X"][:], counts.toarray())


make() if sys.argv[1] == "make" else check()
