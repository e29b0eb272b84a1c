"""Graphs for test_graph.sh, and plain references of what should become of them.

make             writes the graphs into the current folder
weights FILE X   compares the graph kept in FILE with what example X should give
error FILE       prints the 1-NN error of the embedding in FILE by its labels
"""
import sys

import h5py
import numpy as np
import scipy.sparse as sp

N, K = 240, 12


def points():
    rng = np.random.default_rng(5)
    centres = rng.normal(size=(3, 6)) * 6
    labels = rng.integers(0, 3, N)
    return centres[labels] + rng.normal(size=(N, 6)), labels


def distances(x, k):
    """The k nearest rows of each row, with their distances."""
    d = np.sqrt(((x[:, None, :] - x[None, :, :]) ** 2).sum(2))
    np.fill_diagonal(d, np.inf)
    near = np.argsort(d, axis=1, kind="stable")[:, :k]
    rows = np.repeat(np.arange(len(x)), k)
    return sp.csr_matrix((d[rows, near.ravel()], (rows, near.ravel())), shape=(len(x), len(x)))


def connectivities(x):
    """Symmetric, rows of differing length, two hubs that know everyone."""
    a = distances(x, K)
    a.data = np.exp(-a.data)
    a = a.maximum(a.T).tolil()
    for hub in (0, 77):
        a[hub, :] = 0.01
        a[:, hub] = 0.01
        a[hub, hub] = 0
    return a.tocsr().astype(np.float32)


def similarities():
    """Not symmetric, on a scale that floats do not know, with selves, zeros and columns in disorder."""
    rng = np.random.default_rng(7)
    a = sp.random(N, N, 0.06, format="csr", random_state=7).tolil()
    for i in range(N):
        a[i, (i + 1) % N] = 1
        a[i, i] = 3
    a = a.tocsr()
    a.data[(a.data < 0.9) & (np.arange(a.nnz) % 11 == 0)] = 0
    a.data *= 1e-200
    for i in range(N):  # scipy keeps what is stored: shuffle each row
        at = slice(a.indptr[i], a.indptr[i + 1])
        turn = rng.permutation(a.indptr[i + 1] - a.indptr[i])
        a.indices[at], a.data[at] = a.indices[at][turn], a.data[at][turn]
    return a


def adjacency(x):
    return distances(x, K).astype(bool)


def probabilities(x):
    return connectivities(x).astype(np.float64) * 37.5


def write(path, group, a, values=None, index=np.int32, extra=None):
    with h5py.File(path, "a") as f:
        g = f.create_group(group)
        g.attrs["encoding-type"] = "csr_matrix"
        g.attrs["encoding-version"] = "0.1.0"
        g.attrs["shape"] = np.array(a.shape, np.int64)
        if values:
            g.attrs["values"] = values
        g["data"] = a.data
        g["indices"] = a.indices.astype(index)
        g["indptr"] = a.indptr.astype(np.int64)
        for name, array in (extra or {}).items():
            f[name] = array


def make():
    x, labels = points()
    with h5py.File("data.h5", "w") as f:
        f["X"] = x.astype(np.float32)
        f["labels"] = labels
    with h5py.File("other.h5", "w") as f:
        f["kind"] = labels
    beside = {"labels": labels, "marked": np.array([3, 5])}
    write("cells.h5", "obsp/connectivities", connectivities(x), extra=beside)
    write("cells.h5", "obsp/distances", distances(x, K), index=np.int64)
    write("similarities.h5", "graph", similarities(), "similarities", np.int64)
    write("probabilities.h5", "graph", probabilities(x), "probabilities")
    write("adjacency.h5", "knn", adjacency(x), "none")
    make_bad(x)


def changed(a, **parts):
    """A copy with other arrays, which scipy does not look at."""
    class Raw:
        pass
    raw = Raw()
    raw.shape, raw.data, raw.indices, raw.indptr = a.shape, a.data, a.indices, a.indptr
    for name, value in parts.items():
        setattr(raw, name, value)
    return raw


def at(array, place, value):
    array = array.copy()
    array[place] = value
    return array


def make_bad(x):
    a = distances(x, K)  # entry 5 * K + 2 is in row 5
    e = 5 * K + 2
    write("bad-column.h5", "graph", changed(a, indices=at(a.indices.astype(np.int64), e, N)))
    write("bad-before.h5", "graph", changed(a, indices=at(a.indices.astype(np.int64), e, -1)), index=np.int64)
    write("bad-twice.h5", "graph", changed(a, indices=at(a.indices, e, a.indices[e + 1])))
    write("bad-negative.h5", "graph", changed(a, data=at(a.data, e, -1.0)))
    write("bad-nan.h5", "graph", changed(a, data=at(a.data, e, np.nan)))
    write("bad-starts.h5", "graph", changed(a, indptr=at(a.indptr, 6, 2)))
    write("bad-length.h5", "graph", changed(a, indptr=a.indptr[:-1]))
    write("bad-shape.h5", "graph", changed(a, shape=(N, N + 1)))
    write("bad-empty.h5", "graph", changed(a, data=at(a.data, slice(K * 9, K * 10), 0.0)))
    p = probabilities(x).tocsr()
    p.data[p.indptr[9] + 3] *= 1.01
    write("bad-symmetry.h5", "graph", p, "probabilities")
    q = probabilities(x).tolil()
    column = q.rows[11][4]
    q[11, column] = 0
    write("bad-half.h5", "graph", q.tocsr(), "probabilities")
    write("bad-far.h5", "graph", distances(x, K))
    f = h5py.File("bad-csc.h5", "w")
    f.create_group("graph").attrs["encoding-type"] = "csc_matrix"
    for name in ("data", "indices", "indptr"):
        f["graph"][name] = np.zeros(1)
    f.close()


def normalised(a):
    a = a.astype(np.float64).tolil()
    a.setdiag(0)
    a = a.tocsr()
    a.eliminate_zeros()
    a.data /= a.data.max()
    return sp.diags(1 / np.asarray(a.sum(1)).ravel()) @ a


def gaussian(a, perplexity):
    """Bisection on beta, row by row, in double precision."""
    a = a.tocsr().astype(np.float64)
    out = a.copy()
    for i in range(N):
        at = slice(a.indptr[i], a.indptr[i + 1])
        d = a.data[at] ** 2
        low, high = 0, 1e6
        for _ in range(200):
            beta = (low + high) / 2
            w = np.exp(-beta * (d - d.min()))
            p = w / w.sum()
            entropy = -(p * np.log(np.maximum(p, 1e-300))).sum()
            low, high = (beta, high) if entropy > np.log(perplexity) else (low, beta)
        out.data[at] = p
    return out


def expected(which):
    x, _ = points()
    if which == "connectivities":
        return normalised(connectivities(x))
    if which == "similarities":
        return normalised(similarities())
    if which == "distances":
        return gaussian(distances(x, K), 4)
    if which == "knn":
        return normalised(adjacency(x))
    p = probabilities(x)
    return p * (N / p.sum())


def kept(path):
    with h5py.File(path) as f:
        g = f["graph"]
        return sp.csr_matrix((g["data"][:], g["indices"][:], g["indptr"][:]), shape=g.attrs["shape"])


def weights(path, which):
    a, b = kept(path), expected(which).tocsr()
    assert a.has_sorted_indices and a.dtype == np.float32
    assert a.nnz == b.nnz, (a.nnz, b.nnz)
    b.sort_indices()
    assert (a.indices == b.indices).all() and (a.indptr == b.indptr).all()
    worst = np.abs(a.data / b.data - 1).max()
    # Widths of Gaussians are sought until the entropy is within 1e-6.
    assert worst < (2e-4 if which == "distances" else 2e-7), worst
    p = (a + a.T) / (2 * N)
    assert abs(p.sum() - 1) < 1e-6 and abs(p - p.T).max() == 0
    print("%s: %d weights, largest relative difference %.1e" % (which, a.nnz, worst))


def error(path):
    with h5py.File(path) as f:
        y, labels = f["embedding"][:].astype(np.float64), f["labels"][:]
    d = ((y[:, None, :] - y[None, :, :]) ** 2).sum(2)
    np.fill_diagonal(d, np.inf)
    print("%.4f" % (labels[d.argmin(1)] != labels).mean())


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
