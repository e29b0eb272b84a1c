"""Matrices of similarities for test_similarities.sh, and what should become of them.

make                     writes the matrices into the current folder
check FILE WHAT          compares the embedding in FILE with the map of WHAT by numpy
"""
import sys

import h5py
import numpy as np

N = 90


def rows():
    rng = np.random.default_rng(11)
    labels = rng.integers(0, 3, N)
    centres = rng.normal(0, 2, size=(3, 6))
    return centres[labels] + rng.normal(0, 1, size=(N, 6)), labels


def matrices():
    x, labels = rows()
    k = x @ x.T
    noise = np.random.default_rng(12).normal(0, 1, size=(N, N))
    return x, labels, k, k + noise + noise.T


def clipped(k):
    value, vector = np.linalg.eigh(k)
    return (vector * np.maximum(value, 0)) @ vector.T


def make():
    x, labels, k, indefinite = matrices()
    some = labels.copy()
    some[::3] = -1
    alone = np.zeros(N, dtype=int)
    alone[7] = 1
    skew, slightly, nan, infinite = k.copy(), k.copy(), k.copy(), k.copy()
    skew[7, 9] += 0.5
    skew[3, 5] += 0.25
    slightly[7, 9] += 1e-8
    nan[7, 9] = np.nan
    infinite[80, 2] = np.inf
    with h5py.File("rows.h5", "w") as f:
        f["X"], f["labels"] = x, labels
    with h5py.File("sim.h5", "w") as f:
        f["K"], f["indefinite"], f["labels"] = k, indefinite, labels
        f["some"], f["same"], f["alone"] = some, np.ones(N, dtype=int), alone
        f["skew"], f["slightly"], f["nan"], f["infinite"] = skew, slightly, nan, infinite
        f["oblong"], f["few"], f["zero"] = k[:, :-1], k[:2, :2], np.zeros((N, N))
        f["line"] = np.outer(x[:, 0], x[:, 0])
        f["half"], f["complex"] = k.astype(np.float16), k.astype(complex)
        f["text"] = np.full((4, 4), "a", dtype="S1")
        f["distances"] = np.linalg.norm(x[:, None] - x[None], axis=2)
        f["whole"], f["negative"] = np.round(k).astype(np.int32), -k
        f["asymmetric"] = k + np.triu(np.ones((N, N)))
        g = f.create_group("sparse")
        g["data"], g["indices"], g["indptr"] = np.ones(N), np.arange(N), np.arange(N + 1)
        g.attrs["shape"] = (N, N)
    with h5py.File("bare.h5", "w") as f:
        f["K"] = k
    np.save("K.npy", k)


def centred(k):
    h = np.eye(len(k)) - 1 / len(k)
    return h @ k @ h


def components(k):
    value, vector = np.linalg.eigh(centred(k))
    return vector[:, :-3:-1] * np.sqrt(value[:-3:-1])


def discriminants(k, labels, ridge):
    """Of the labelled rows; the others by their doubly centred similarities to these."""
    s = np.flatnonzero(labels >= 0)
    m, of = len(s), k[np.ix_(s, s)]
    responses, basis = [], [np.ones(m) / np.sqrt(m)]
    for c in np.unique(labels[s])[:-1]:
        r = (labels[s] == c).astype(float)
        for b in basis:
            r -= (r @ b) * b
        basis.append(r / np.linalg.norm(r))
        responses.append(basis[-1])
    a = np.linalg.solve(centred(of) + ridge * np.eye(m), np.array(responses).T)
    new = k[:, s]
    return (new - new.mean(1, keepdims=True) - of.mean(0) + of.mean()) @ a


def check(path, what):
    _, labels, k, indefinite = matrices()
    with h5py.File("sim.h5") as f:
        some = f["some"][:]
    value = np.linalg.eigvalsh(indefinite)
    wanted = {"kpca": lambda: components(k),
              "whole": lambda: components(np.round(k)),
              "raw": lambda: components(indefinite),
              "clip": lambda: components(clipped(indefinite)),
              "flip": lambda: components(2 * clipped(indefinite) - indefinite),
              "shift": lambda: components(indefinite - value[0] * np.eye(N)),
              "asymmetric": lambda: components(k + (np.ones((N, N)) + np.eye(N)) / 2),
              "kda": lambda: discriminants(k, labels, 3),
              "some": lambda: discriminants(k, some, 3)}[what]()
    with h5py.File(path) as f:
        found = f["embedding"][:]
    wanted -= wanted.mean(0)  # as every map is
    for axis in range(2):
        difference = min(abs(found[:, axis] - sign * wanted[:, axis]).max() for sign in (1, -1))
        assert difference <= 1e-5 * abs(wanted).max(), f"axis {axis} differs by {difference}"


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](*sys.argv[2:])
