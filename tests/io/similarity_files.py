"""Matrices of similarities for test_similarities.sh, and what should become of them.

make                     writes the matrices into the current folder
check FILE WHAT          compares the embedding in FILE with the map of WHAT by numpy
given WHAT RUN MODEL     writes what new and old rows are given by to be placed by a model
placed WHAT FILE MODEL   compares places of new rows in FILE with those that numpy makes of the model
same RUN FILE            compares two maps bit for bit
damage MODEL PART[-]     changes a data set of the group kernel; -: and takes the seal away
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
        f["oblong"], f["zero"] = k[:, :-1], np.zeros((N, N))
        f["line"] = np.outer(x[:, 0], x[:, 0])
        f["fractions"], f["fewer"] = labels + 0.5 * (np.arange(N) == 4), labels[:-7]
        whole = np.round(1e3 * k).astype(np.int64)
        whole[3, 4] = whole[4, 3] = 2**62 + 1
        f["overflow"], f["huge"], f["tiny"] = whole, k * 1e40, k * 1e-40
        f["uneven"] = k - np.diag(np.diag(k) - 1)
        f["rounded"] = k.astype(np.float16).astype(np.float32)
        f["half"], f["complex"] = k.astype(np.float16), k.astype(complex)
        f["text"] = np.full((4, 4), "a", dtype="S1")
        f["distances"] = np.linalg.norm(x[:, None] - x[None], axis=2)
        f["whole"], f["negative"] = np.round(k).astype(np.int32), -k
        f["asymmetric"] = k + np.triu(np.ones((N, N)))
        g = f.create_group("sparse")
        g["data"], g["indices"], g["indptr"] = np.ones(N), np.arange(N), np.arange(N + 1)
        g.attrs["shape"] = (N, N)
    with h5py.File("few.h5", "w") as f:
        f["K"] = k[:2, :2]
    with h5py.File("large.h5", "w") as f:  # 4 TB, of which one chunk is there
        f.create_dataset("K", (1000000, 1000000), "f4", chunks=(256, 256), fillvalue=0.5)[0:1, 0:1] = 1
        f.create_dataset("labels", data=np.zeros(1000000, "i4"), compression=1)
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


def new_rows():
    """Some beside the old ones, some far from them, and one twice."""
    rng = np.random.default_rng(13)
    x, labels = rows()
    new = x[:23] + rng.normal(0, 0.5, size=(23, 6))
    new[20], new[21] = 40, new[3]
    return new, labels[:23]


def matrix_of(run):
    with h5py.File(run) as f:
        text = f["provenance"].attrs["configuration"]
    return matrices()[3 if b"indefinite" in bytes(text if isinstance(text, bytes) else text.encode()) else 2]


def given(what, run, model):
    x, y = new_rows()
    with h5py.File("new.h5", "w") as f:
        f["X"], f["labels"] = x, y
    if what == "given":
        with h5py.File(model) as f:
            landmarks = f["kernel/landmarks"][:]
        old = matrix_of(run)[:, landmarks]
        np.save("old.npy", old)
        np.save("given.npy", x @ rows()[0][landmarks].T)
        broken = old.copy()
        broken[2, 7] = np.nan
        np.save("broken.npy", broken)


def similarities(what, model):
    """Of new rows with the landmarks, by the definition of the kernel."""
    if what == "given":
        return np.load("given.npy")
    x = new_rows()[0]
    if "preprocess/shift" in model:
        x = ((x - model["preprocess/shift"][:]) * model["preprocess/scale"][:]).astype(np.float32)
    if "preprocess/mean" in model:
        x = ((x - model["preprocess/mean"][:]) @ model["preprocess/components"][:].T).astype(np.float32)
    x = x.astype(float)
    if what == "isolation":
        centres, cells = model["centres"][:].astype(float), model["partitionings"][:]
        codes = np.array([np.linalg.norm(x[:, None] - centres[c][None], axis=2).argmin(1) for c in cells]).T
        return (codes[:, None] == model["kernel/codes"][:][None]).mean(2)
    s = model["kernel/rows"][:].astype(float)
    if what == "linear":
        return x @ s.T
    return np.exp(-np.linalg.norm(x[:, None] - s[None], axis=2) ** 2 / (2 * model["kernel/numbers"][1] ** 2))


def placed(what, path, model):
    with h5py.File(model) as m, h5py.File(path) as f:
        k, means = similarities(what, m), m["kernel/means"][:]
        wanted = (k - k.mean(1, keepdims=True) - means + m["kernel/numbers"][0]) @ m["kernel/weights"][:].T
        wanted -= m["kernel/origin"][:]
        found = f["embedding"][:]
        assert abs(found - wanted).max() <= 1e-5 * abs(wanted).max(), abs(found - wanted).max()
        assert np.allclose(f["diagnostics/similarity"][:], k.max(1), rtol=1e-5, atol=1e-6)
        nearest = np.searchsorted(m["kernel/landmarks"][:], f["diagnostics/nearest"][:])
        assert np.allclose(k[np.arange(len(k)), nearest], k.max(1), rtol=1e-5, atol=1e-6)
        assert abs(means.mean() - m["kernel/numbers"][0]) <= 1e-9 * abs(means).max()


def same(one, other):
    with h5py.File(one) as a, h5py.File(other) as b:
        assert np.array_equal(a["embedding"][:], b["embedding"][:]), abs(a["embedding"][:] - b["embedding"][:]).max()


def mixed(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def hashed(data, seed):
    state = mixed((seed + 0x9E3779B97F4A7C15 * (len(data) + 1)) % 2**64)
    for at in range(0, len(data), 8):
        state = (mixed(state ^ int.from_bytes(data[at : at + 8], "little")) + 0x9E3779B97F4A7C15) % 2**64
    return mixed(state)


def damage(model, part):
    """Changes a data set, and seals the file (src/base/row_hash.c) where `part` does not end with a minus."""
    name = part.rstrip("-")
    with h5py.File(model, "r+") as f:
        values = f["kernel"][name][:]
        values.reshape(-1)[1] = {"landmarks": 0, "codes": 255}.get(name, np.nan)
        f["kernel"][name][:] = values
    data = open(model, "rb").read()
    assert len(data) < 2**20, "one block"
    whole = hashed(hashed(data, 0).to_bytes(8, "little"), len(data))
    if part == name:
        open(model, "ab").write(b"iktseal1" + len(data).to_bytes(8, "little") + whole.to_bytes(8, "little"))


if __name__ == "__main__":
    {"make": make, "check": check, "given": given, "placed": placed, "same": same,
     "damage": damage}[sys.argv[1]](*sys.argv[2:])
