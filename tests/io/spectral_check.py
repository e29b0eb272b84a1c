"""Eigenvalues and eigenvectors of a run against numpy's dense solver and ARPACK.

    spectral_check.py RUN GRAPH   facts of RUN, whose P was kept in GRAPH
    spectral_check.py RUN GRAPH map   /embedding of RUN is the eigenmap, too
"""
import sys

import h5py
import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph
import scipy.sparse.linalg


def fact(run, name):
    text = run["provenance"].attrs[name]
    return text.decode() if isinstance(text, bytes) else text


with h5py.File(sys.argv[2]) as f:
    g = f["graph"]
    a = sp.csr_matrix((g["data"][:].astype("f8"), g["indices"][:], g["indptr"][:]), shape=g.attrs["shape"])
n = a.shape[0]
p = (a + a.T) / (2 * n)
s = sp.diags(1 / np.sqrt(np.asarray(p.sum(1)).ravel()))
normalised = s @ p @ s
with h5py.File(sys.argv[1]) as f:
    found = np.array([float(v) for v in fact(f, "eigenvalues").split()])
    components = int(fact(f, "components_of_p"))
    after = [int(float(v)) for v in fact(f, "gaps_after").split()]
    gaps = np.array([float(v) for v in fact(f, "gaps").split()])
    clusters = int(fact(f, "clusters_by_eigengap"))
    embedding = f["embedding"][:].astype("f8")

assert components == scipy.sparse.csgraph.connected_components(p)[0], components
theta, vectors = np.linalg.eigh(normalised.toarray())
exact = 1 - theta[::-1]
assert len(found) == 31 and np.all(np.diff(found) >= 0)
# P is held as float32: the numbers of the kept weights, halved and added, are rounded once more.
assert np.abs(found - exact[:31]).max() < 2e-7, np.abs(found - exact[:31]).max()
arpack = 1 - np.sort(scipy.sparse.linalg.eigsh(normalised, 8, which="LA", v0=np.ones(n))[0])[::-1]
assert np.abs(found[:8] - arpack).max() < 2e-7

differences = np.diff(found)[1:30]
order = np.argsort(-differences, kind="stable")[:5]
assert after == [int(k) + 2 for k in order], (after, order + 2)
assert np.array_equal(gaps, differences[order]) and clusters == after[0]

if "map" in sys.argv:
    for c in range(2):
        expected = vectors[:, n - 1 - components - c] * np.sqrt(n)
        expected *= np.sign(expected[np.abs(expected).argmax()])
        along = expected @ embedding[:, c] / n
        assert abs(along - 1) < 1e-5, along
        assert embedding[np.abs(embedding[:, c]).argmax(), c] > 0
