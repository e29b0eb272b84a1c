"""Rows of bytes and the matrices of their distances, for test_metric.sh.

make [N]    writes into the current folder: rows.h5 (N rows), pairs.h5 and NPY files of distances and
            similarities, positions to start from, and damaged matrices
"""
import sys

import h5py
import numpy as np


def rows(n):
    """Whole numbers, so that squared distances are exact in every type."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 5, n)
    centres = rng.integers(0, 200, (5, 12))
    return np.clip(centres[labels] + rng.integers(-30, 31, (n, 12)), 0, 255).astype(np.uint8), labels


def make(n):
    x, labels = rows(n)
    whole = x.astype(np.int64)
    kernel = whole @ whole.T
    square = np.add.outer(np.diag(kernel), np.diag(kernel)) - 2 * kernel
    gaps = sum(np.abs(np.subtract.outer(whole[:, k], whole[:, k])) for k in range(whole.shape[1]))
    d = np.sqrt(square.astype(np.float64))
    with h5py.File("rows.h5", "w") as f:
        f["X"], f["labels"] = x, labels
    with h5py.File("pairs.h5", "w") as f:
        f["D"], f["K"], f["L1"], f["labels"] = d, kernel.astype(np.float64), gaps.astype(np.int32), labels
    np.save("distances.npy", d)
    np.save("gaps.npy", gaps.astype(np.uint16))
    np.save("start.npy", np.random.default_rng(6).normal(size=(n, 2)).astype(np.float32))
    if n > 1000:
        return
    with h5py.File("sparse.h5", "w") as f:  # the same rows as CSR
        g = f.create_group("X")
        g.attrs["encoding-type"], g.attrs["encoding-version"] = "csr_matrix", "0.1.0"
        g.attrs["shape"] = np.array(x.shape, np.int64)
        row, column = np.nonzero(x)
        g["data"], g["indices"] = x[row, column].astype(np.float32), column
        g["indptr"] = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))]).astype(np.int64)
        f["labels"] = labels
    unit = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    centred = whole - whole.mean(1, keepdims=True)
    with h5py.File("mapped.h5", "w") as f:
        f["unit"] = unit
        f["centred"] = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    bad = d.copy()
    bad[400, 3] += 5
    np.save("asymmetric.npy", bad)
    np.save("wide.npy", d[:100])


make(int(sys.argv[2]) if len(sys.argv) > 2 else 600)
