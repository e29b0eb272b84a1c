"""One neighbour graph in HDF5, as Matrix Market text and as archives of scipy, for
test_graph_formats.sh."""
import gzip

import h5py
import numpy as np
import scipy.io
import scipy.sparse as sp

N, K = 300, 12


def write_h5(name, a, values):
    a = a.tocsr()
    a.sort_indices()
    with h5py.File(name, "w") as f:
        g = f.create_group("graph")
        g.attrs["encoding-type"], g.attrs["encoding-version"] = "csr_matrix", "0.1.0"
        g.attrs["shape"], g.attrs["values"] = np.array(a.shape, np.int64), values
        g["data"], g["indices"], g["indptr"] = a.data, a.indices, a.indptr.astype(np.int64)


rng = np.random.default_rng(1)
x = rng.normal(size=(N, 3))
near = ((x[:, None] - x[None]) ** 2).sum(2)
columns = np.argsort(near, 1)[:, 1 : K + 1].ravel()
rows = np.repeat(np.arange(N), K)
a = sp.csr_matrix((1 / (1 + near[rows, columns]), (rows, columns)), shape=(N, N))
write_h5("graph.h5", a, "similarities")
scipy.io.mmwrite("similarities.mtx", a, precision=17)
text = open("similarities.mtx").read()
gzip.open("similarities.mtx.gz", "wt").write(text)
order = rng.permutation(N * K)  # blanks, returns and comments where they may be, entries in any order
with open("any.mtx", "w", newline="") as f:
    f.write(f"%%matrixmarket Matrix Coordinate Real General\r\n%\r\n\r\n{N} {N} {N * K}\r\n")
    for e in order:
        f.write(f" {rows[e] + 1}\t{columns[e] + 1}  {float(a[rows[e], columns[e]])!r} \r\n")
        if e % 50 == 0:
            f.write("% between\r\n\r\n")
sp.save_npz("similarities.npz", a, compressed=False)
sp.save_npz("connectivities.npz", a)
sp.save_npz("columns.npz", a.tocsc())
sp.save_npz("triplets.npz", a.tocoo())

# The same places both ways: symmetric, as numbers, as integers, and without any.
b = a.maximum(a.T).tocoo()
write_h5("both.h5", b, "similarities")
scipy.io.mmwrite("both.mtx", b, precision=17, symmetry="symmetric")
ones = sp.coo_matrix((np.ones(b.nnz), (b.row, b.col)), shape=b.shape)
write_h5("pattern.h5", ones, "none")
scipy.io.mmwrite("pattern.mtx", ones, field="pattern", symmetry="symmetric")
whole = sp.coo_matrix((np.rint(9 * b.data + 1), (b.row, b.col)), shape=b.shape)
write_h5("whole.h5", whole, "similarities")
scipy.io.mmwrite("whole.mtx", sp.coo_matrix(whole).astype(np.int64), field="integer", symmetry="general")

# Damaged ones.
lines = text.splitlines(keepends=True)
head = next(i for i, line in enumerate(lines) if not line.startswith("%")) + 1


def damaged(name, line, words):
    changed = list(lines)
    changed[line - 1] = words
    open(name, "w").writelines(changed)


damaged("word.mtx", 3000, "12 x 0.5\n")
damaged("outside.mtx", 3001, f"{N + 1} 1 0.5\n")
damaged("more.mtx", 400, "12 13 0.5 7\n")
damaged("infinite.mtx", 3500, "12 13 inf\n")
damaged("negative.mtx", 500, "100 200 -0.5\n")
damaged("wide.mtx", head, f"{N} {N + 1} {N * K}\n")
damaged("nonsense.mtx", head, "many rows\n")
damaged("hermitian.mtx", 1, "%%MatrixMarket matrix coordinate complex hermitian\n")
damaged("array.mtx", 1, "%%MatrixMarket matrix array real general\n")
for name, number in ("nan", np.nan), ("inf", -np.inf):  # as numbers, and as a pattern that has numbers
    c = a.copy()
    c.data[100] = number
    sp.save_npz(name + ".npz", c)
open("few.mtx", "w").writelines(lines[:-1])
twice = list(lines)
twice[2000] = twice[1999]
open("twice.mtx", "w").writelines(twice)
both = list(lines)  # on two ranks a later fault may be met first
both[399], both[-1] = "12 13 0.5 7\n", "x\n"
open("both-faults.mtx", "w").writelines(both)
open("short.mtx.gz", "wb").write(open("similarities.mtx.gz", "rb").read()[:9000])
open("short.npz", "wb").write(open("similarities.npz", "rb").read()[:9000])
np.savez("dense.npz", near)
