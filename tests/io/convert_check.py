"""What `iktsne convert` made of files of numpy, scipy and others, against numpy and scipy.

  convert_check.py make FOLDER       writes the input files
  convert_check.py bad FOLDER        writes files that cannot be used
  convert_check.py check FOLDER      compares FOLDER/NAME.h5 with what each input holds
  convert_check.py same A.h5 B.h5    whether all data sets have the same bytes and types
  convert_check.py libsvm TEXT H5    a LIBSVM file against a plain reading of it
"""
import os
import struct
import sys
import zipfile

import h5py
import numpy as np
import scipy.io
import scipy.sparse as sp


def rows_of(f):
    """/X as a dense array of doubles, whichever form it has."""
    x = f["X"]
    if isinstance(x, h5py.Dataset):
        return x[:].astype(np.float64), "dense"
    kind = x.attrs["encoding-type"]
    assert (kind.decode() if isinstance(kind, bytes) else kind) == "csr_matrix", kind
    assert x.attrs["shape"].dtype == np.int64 and x["indptr"].dtype == np.int64
    assert x["indices"].dtype == np.int32 and (x["data"].fletcher32 or x["data"].size == 0)
    m = sp.csr_matrix((x["data"][:], x["indices"][:], x["indptr"][:]), shape=tuple(x.attrs["shape"]))
    assert m.has_canonical_format or m.nnz == 0
    return m.toarray().astype(np.float64), "sparse"


def inputs():
    """name, function that writes it, rows, labels or None"""
    r = np.random.default_rng(7)
    x = np.round(r.normal(size=(53, 9)), 4)
    f4 = x.astype(np.float32)
    u1 = r.integers(0, 256, size=(53, 9)).astype(np.uint8)
    y = r.integers(-3, 4, size=53)
    m = sp.random(53, 400, density=0.04, random_state=5, format="csr", dtype=np.float64)
    shuffled = m.tocsc().tocsr()
    for i in range(53):  # columns that do not ascend
        a, b = shuffled.indptr[i:i + 2]
        shuffled.indices[a:b] = shuffled.indices[a:b][::-1].copy()
        shuffled.data[a:b] = shuffled.data[a:b][::-1].copy()
    twice = sp.coo_matrix((np.r_[m.tocoo().data, [2.5, 1.5]], (np.r_[m.tocoo().row, [4, 4]], np.r_[m.tocoo().col, [7, 7]])), shape=m.shape)
    full = m.toarray()
    save = lambda name, what: scipy.io.savemat(name, what)
    return {
        "stored.npz": (lambda p: np.savez(p, rows=x, y=y), x, None),
        "named.npz": (lambda p: np.savez_compressed(p, other=x[:3], X=f4, y=y, words=np.array(["a", "bc"])), f4, y),
        "fortran.npz": (lambda p: np.savez_compressed(p, a=np.asfortranarray(x)), x, None),
        "big.npz": (lambda p: np.savez(p, a=x.astype(">f4")), f4, None),
        "images.npz": (lambda p: np.savez_compressed(p, x_train=u1.reshape(53, 3, 3), y_train=y, x_test=u1[:2].reshape(2, 3, 3)), u1, y),
        "csr.npz": (lambda p: sp.save_npz(p, m), full, None),
        "csr_plain.npz": (lambda p: sp.save_npz(p, m, compressed=False), full, None),
        "shuffled.npz": (lambda p: sp.save_npz(p, shuffled), full, None),
        "csc.npz": (lambda p: sp.save_npz(p, m.tocsc()), full, None),
        "coo.npz": (lambda p: sp.save_npz(p, twice), twice.toarray(), None),
        "none.npz": (lambda p: sp.save_npz(p, sp.csr_matrix((40, 300))), np.zeros((40, 300)), None),
        "full.mat": (lambda p: save(p, {"X": x, "Y": y.reshape(-1, 1).astype(float), "note": "words"}), x, y),
        "row_labels.mat": (lambda p: save(p, {"data": f4, "Y": y.reshape(1, -1)}), f4, y),
        "packed.mat": (lambda p: scipy.io.savemat(p, {"fea": u1, "z": 3.0}, do_compression=True), u1, None),
        "sparse.mat": (lambda p: save(p, {"A": m.tocsc()}), full, None),
        "logical.mat": (lambda p: save(p, {"A": (m != 0).tocsc()}), (full != 0).astype(float), None),
        "f2.raw": (lambda p: f4.astype("f2").tofile(p), f4.astype("f2"), None),
        "f4.raw": (lambda p: f4.tofile(p), f4, None),
        "i2.raw": (lambda p: open(p, "wb").write(b"header" + (x * 100).astype(">i2").tobytes()), (x * 100).astype(">i2"), None),
        "u8.raw": (lambda p: u1.tofile(p), u1, None),
    }


def make(folder):
    for name, (write, _, _) in inputs().items():
        write(os.path.join(folder, name))


def npy_bytes(shape, data=b""):
    """An NPY file with a header of our own."""
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }" % (shape,)
    text += " " * (117 - len(text)) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


def bad(folder):
    at = lambda name: os.path.join(folder, name)
    x = np.arange(12.0).reshape(4, 3)
    m = sp.random(53, 400, density=0.04, random_state=5, format="csr")
    np.savez(at("two.npz"), a=x, b=x)
    with zipfile.ZipFile(at("empty.npz"), "w") as z:
        z.writestr("readme.txt", "nothing")
    with zipfile.ZipFile(at("bomb.npz"), "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("a.npy", npy_bytes("(100000000, 1000)", bytes(100000)))
    sp.save_npz(at("bsr.npz"), sp.random(8, 8, density=0.5, format="csr").tobsr())
    scipy.io.savemat(at("complex.mat"), {"c": x * 1j, "d": x})

    def csr(name, indices=m.indices, indptr=m.indptr):
        np.savez(at(name), format=np.array(b"csr"), shape=m.shape, data=m.data, indices=indices, indptr=indptr)

    csr("outside.npz", indices=np.where(np.arange(m.nnz) == 99, 400, m.indices))
    twice = m.indices.copy()
    twice[m.indptr[3] + 1] = twice[m.indptr[3]]
    csr("twice.npz", indices=twice)
    csr("starts.npz", indptr=m.indptr[::-1].copy())


def check(folder):
    for name, (_, x, y) in inputs().items():
        with h5py.File(os.path.join(folder, name + ".h5"), "r") as f:
            found, form = rows_of(f)
            assert np.array_equal(found, np.asarray(x, dtype=np.float64)), name
            wanted = "sparse" if x.shape[1] > 100 else "dense"
            assert form == wanted, (name, form)
            assert ("labels" in f) == (y is not None), name
            if y is not None:
                assert np.array_equal(f["labels"][:], y), name
            if wanted == "dense" and np.asarray(x).dtype.itemsize in (1, 4):
                assert f["X"].dtype == np.asarray(x).dtype.newbyteorder("="), name
    print(len(inputs()), "files are what numpy and scipy say")


def same(a, b):
    with h5py.File(a, "r") as f, h5py.File(b, "r") as g:
        names, others = [], []
        f.visit(names.append)
        g.visit(others.append)
        assert names == others, (names, others)
        for name in names:
            if isinstance(f[name], h5py.Dataset):
                assert f[name].dtype == g[name].dtype and f[name].shape == g[name].shape, name
                assert f[name][:].tobytes() == g[name][:].tobytes(), name
        assert f.attrs.get("label_names") == g.attrs.get("label_names")


def libsvm(text, h5):
    labels, rows, columns, values = [], [], [], []
    for line in open(text):
        words = line.split("#")[0].split()
        if not words:
            continue
        for word in words[1:]:
            index, value = word.split(":")
            rows.append(len(labels))
            columns.append(int(index))
            values.append(float(value))
        labels.append(words[0])
    columns = np.array(columns)
    origin = 0 if columns.min() == 0 else 1
    m = sp.csr_matrix((values, (rows, columns - origin)), shape=(len(labels), columns.max() + 1 - origin))
    with h5py.File(h5, "r") as f:
        found, _ = rows_of(f)
        assert np.array_equal(found, m.astype(np.float32).toarray().astype(np.float64))
        if "label_names" in f.attrs:
            names = f.attrs["label_names"].split("\n")
            assert [names[c] for c in f["labels"][:]] == labels
        else:
            assert np.array_equal(f["labels"][:], np.array(labels, dtype=float))


{"make": make, "bad": bad, "check": check, "same": same, "libsvm": libsvm}[sys.argv[1]](*sys.argv[2:])
