"""Matrices of all pairs for test_pairwise.sh, and what should become of them.

make            writes the matrices into the current folder
weights FILE    compares the graph kept in FILE with p_j|i of the 30 largest similarities of each row
"""
import sys

import h5py
import numpy as np
import scipy.sparse as sp

N, K = 240, 30


def rows():
    """Whole numbers, so that squared distances are exact in every type."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, N)
    centres = rng.integers(0, 200, size=(3, 6))
    return np.clip(centres[labels] + rng.integers(-20, 21, size=(N, 6)), 0, 255).astype(np.uint8), labels


def matrices():
    x, labels = rows()
    d = np.sqrt(((x[:, None, :].astype(np.int64) - x[None, :, :]) ** 2).sum(2).astype(np.float64))
    return x, labels, d, np.exp(-((d / 40) ** 2))


def make():
    x, labels, d, s = matrices()
    p = s - np.diag(np.diag(s))
    p = p / p.sum(1, keepdims=True)
    with h5py.File("rows.h5", "w") as f:
        f["X"], f["labels"] = x, labels
    with h5py.File("few.h5", "w") as f:
        f["X"] = x[:100]
    with h5py.File("pairs.h5", "w") as f:
        f["distances"], f["D"], f["similarities"], f["probabilities"] = d, d, s, 5.5 * (p + p.T)
        f["D"].attrs["values"] = "distances"
        f["labels"], f["marked"] = labels, np.array([3, 77])
    alone = s.copy()
    for i in (5, 100):
        alone[i, :] = alone[:, i] = 0
    with h5py.File("lonely.h5", "w") as f:
        f["S"] = alone
    np.save("distances.npy", d)
    np.save("float32.npy", d.astype(np.float32))
    np.save("oblong.npy", d[:, :-1])
    np.save("tiny.npy", s * 1e-200)
    np.save("huge.npy", d * 1e30)
    for name, value in (("asymmetric", d[7, 9] + 1), ("negative", -1), ("nan", np.nan)):
        bad = d.copy()
        bad[7, 9] = value
        np.save(name + ".npy", bad)


def weights(path):
    s = matrices()[3].astype(np.float32).astype(np.float64)
    np.fill_diagonal(s, -1)
    wanted = np.zeros((N, N))
    for i in range(N):
        near = np.lexsort((np.arange(N), -s[i]))[:K]
        wanted[i, near] = s[i, near] / s[i, near].sum()
    with h5py.File(path) as f:
        g = f["graph"]
        kept = sp.csr_matrix((g["data"][:], g["indices"][:], g["indptr"][:]), shape=(N, N)).toarray()
    assert ((kept > 0) == (wanted.astype(np.float32) > 0)).all(), "other entries"
    np.testing.assert_allclose(kept, wanted, rtol=2e-6, atol=1e-38)


if __name__ == "__main__":
    {"make": make, "weights": weights}[sys.argv[1]](*sys.argv[2:])
