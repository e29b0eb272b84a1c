"""Sparse matrices that stand by columns, as MATLAB 7.3 and anndata write them, and what `iktsne convert`
must make of them: by_columns.py make, by_columns.py check."""
import sys

import anndata
import h5py
import numpy as np
import pandas as pd
import scipy.sparse as sparse

N = 120
x = sparse.random(N, 17, 0.2, random_state=3, format="csc")
kind = pd.Categorical(np.random.default_rng(2).choice(["b", "a"], N))


def make():
    with h5py.File("m.mat", "w", userblock_size=512) as f:
        group = f.create_group("S")
        group.attrs["MATLAB_class"], group.attrs["MATLAB_sparse"] = np.bytes_("double"), np.uint64(N)
        group["data"], group["ir"], group["jc"] = x.data, x.indices.astype("u8"), x.indptr.astype("u8")
        bad = f.create_group("bad")
        bad.attrs["MATLAB_class"], bad.attrs["MATLAB_sparse"] = np.bytes_("double"), np.uint64(3)
        bad["data"], bad["ir"], bad["jc"] = [1.0, 2], np.array([0, 7], "u8"), np.array([0, 1, 2], "u8")
        vast = f.create_group("vast")
        vast.attrs["MATLAB_sparse"] = np.uint64(3)
        vast["data"], vast["ir"], vast["jc"] = [1.0, 2], np.array([0, 2**63 + 5], "u8"), np.array([0, 1, 2], "u8")
        cut = f.create_group("cut")
        cut.attrs["MATLAB_sparse"] = np.uint64(3)
        cut["data"], cut["ir"], cut["jc"] = [1.0, 2], np.array([0, 1], "u8"), np.array([0, 5, 2], "u8")
        f["gnd"] = kind.codes[None].astype("f8")
        f["gnd"].attrs["MATLAB_class"] = np.bytes_("double")
    obs = pd.DataFrame({"kind": kind}, index=[str(i) for i in range(N)])
    anndata.AnnData(X=x.astype("f4"), obs=obs).write_h5ad("c.h5ad")


def check():
    for name, n, dtype, names in ("m.h5", N, "f8", None), ("c.h5", N, "f4", "a\nb\n"), ("few.h5", 50, "f8", None):
        with h5py.File(name) as f:
            group = f["X"]
            y = sparse.csr_matrix((group["data"][:], group["indices"][:], group["indptr"][:]),
                                  shape=tuple(group.attrs["shape"]))
            assert np.array_equal(y.toarray(), x[:n].toarray().astype(dtype)), name
            assert f.attrs.get("label_names") == names, name
            assert ("labels" in f) == (n == N) and (n < N or np.array_equal(f["labels"][:], kind.codes)), name


make() if sys.argv[1] == "make" else check()
