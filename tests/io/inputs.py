"""Files of other programs that `iktsne embed` reads directly, and what must come out of them.

    inputs.py make     writes files, cases.txt for dump_source, and what is expected, into this folder
    inputs.py check    compares what dump_source wrote
"""
import pickle
import sys

import anndata
import h5py
import numpy as np
import pandas as pd
import scipy.sparse

from cases import check

N, D = 211, 7
cases, expected = [], {}


def case(name, file, rows=None, dataset="X", labels="-", transposed="auto", first=0, raw="-",
         classes=None, names=None, error=None, kind=None):
    """What dump_source is to read, and the rows, labels and names, or the (code, words) of an error."""
    cases.append(f"{name} {file} {dataset} {labels} {transposed} {first} {raw}")
    expected[name] = dict(rows=rows, classes=classes, names=names, error=error, kind=kind)


def our_type(dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b" or (dtype.kind == "u" and dtype.itemsize == 1):
        return "uint8"
    if dtype.kind == "f":
        return "float64" if dtype.itemsize == 8 else "float32"
    return "float32" if dtype.itemsize <= 2 else "float64"


def values(rng, dtype, shape=(N, D)):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return rng.normal(size=shape).astype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) > 0.5
    limits = np.iinfo(dtype)
    low, high = max(limits.min, -2**53 + 1), min(limits.max, 2**53 - 1)
    x = rng.integers(low, high, shape, dtype=np.int64, endpoint=True).astype(dtype)
    x.flat[0], x.flat[1] = low, high
    return x


# --- NPY, IDX, raw ---------------------------------------------------------------------------------

def arrays(rng):
    for code in "?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8":
        for order in "<>":
            x = values(rng, np.dtype(order + code))
            name = f"npy-{'big' if order == '>' else 'little'}-{x.dtype.str[1:]}"
            np.save(name + ".npy", x)
            case(name, name + ".npy", x, kind=our_type(code))
            np.save(name + "-f.npy", np.asfortranarray(x))
            case(name + "-f", name + "-f.npy", x, kind=our_type(code))
            if code != "?":
                x.tofile(name + ".raw")
                raw = f"{x.dtype.kind},{x.itemsize},{'big' if order == '>' else 'little'},{D},0"
                case(name + "-raw", name + ".raw", x, raw=raw, kind=our_type(code))
    x = values(rng, "f4", (N, 40))
    np.save("wide.npy", x)
    case("wide-transposed", "wide.npy", x.T, transposed="yes")
    case("wide-first", "wide.npy", x[:20], first=20)
    np.save("wide-f.npy", np.asfortranarray(x))
    case("wide-f-transposed", "wide-f.npy", x.T, transposed="yes")
    case("wide-f-first", "wide-f.npy", x[:100], first=100)
    long = values(rng, "f8", (70000, 3)) # pieces of columns are shorter than columns
    np.save("long-f.npy", np.asfortranarray(long))
    case("long-f", "long-f.npy", long)
    cube = values(rng, "u1", (N, 3, 4))
    np.save("cube.npy", cube)
    case("cube", "cube.npy", cube.reshape(N, 12))
    with open("x.raw", "wb") as f:
        f.write(b"x" * 13 + x.astype(">f4").tobytes())
    case("raw-skip", "x.raw", x, raw="f,4,big,40,13")
    half = values(rng, "f2")
    half.flat[:4] = [np.float16(6e-8), -0.0, 65504, -6e-5]
    half.tofile("half.raw")
    case("raw-half", "half.raw", half, raw=f"f,2,little,{D},0", kind="float32")
    case("raw-part", "x.raw", error=(3, "x.raw has .* no whole rows of 40 numbers of 4 bytes"),
         raw="f,4,big,40,12")
    case("raw-short", "x.raw", error=(3, "no whole rows"), raw="f,4,big,40,99999999")
    case("raw-is-npy", "wide.npy", error=(2, "is NPY, which says itself"), raw="f,4,little,40,0")
    case("npy-dataset", "wide.npy", dataset="Y", error=(2, "holds one array"))
    case("npy-rows", "wide.npy", first=N + 1, error=(2, f"has only {N} rows"))
    big = np.array([[1, 2], [3, 2**53 + 1]])
    np.save("big.npy", big)
    case("npy-big", "big.npy", error=(3, "row 1, column 1: an integer beyond 2"))
    np.save("big-f.npy", np.asfortranarray(big))
    case("npy-big-f", "big-f.npy", error=(3, "row 1, column 1: an integer beyond 2"))
    bytes_ = open("wide.npy", "rb").read()
    for name, content, error in (
            ("cut", bytes_[:-1], (4, "cut.npy is truncated: its header announces")),
            ("head", bytes_[:40], (4, "ends in its header")),
            ("huge", bytes_.replace(b"(211, 40)", b"(9999999,)"), (4, "is truncated")),
            ("empty", b"", (3, "it is empty"))):
        open(name + ".npy", "wb").write(content)
        case("npy-" + name, name + ".npy", error=error)
    np.save("complex.npy", x.astype(complex))
    case("npy-complex", "complex.npy", error=(3, "holds elements of type <c16"))
    np.save("list.npy", x.ravel())
    case("npy-list", "list.npy", error=(3, f"a list of {x.size} numbers .one axis.*reshape"))
    np.save("brain.npy", x.astype("f2").view("V2"))
    case("npy-brain", "brain.npy", error=(3, "of type .V2; .*if they are bfloat16.*astype"))
    half = np.arange(2**16, dtype="u2").view("f2").reshape(-1, 64) # every float16 that there is
    for name, how in ("half", half), ("half-big", half.astype(">f2")), ("half-f", np.asfortranarray(half)):
        np.save(name + ".npy", how)
        case("npy-" + name, name + ".npy", half.astype("f4"), kind="float32")


def idx(rng):
    codes = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
    for code, dtype in codes.items():
        x = values(rng, dtype, (N, 3, 2))
        name = f"idx-{dtype[1:]}"
        head = bytes([0, 0, code, 3]) + np.array(x.shape, ">u4").tobytes()
        open(name, "wb").write(head + x.tobytes())
        case(name, name, x.reshape(N, 6), kind=our_type(dtype))
    open("idx-cut", "wb").write(head + x.tobytes()[:-8])
    case("idx-cut", "idx-cut", error=(4, "idx-cut is truncated"))
    open("idx-long", "wb").write(head + x.tobytes() + b"x")
    case("idx-long", "idx-long", error=(3, "is it damaged"))
    labels = rng.integers(0, 10, N).astype("u1")
    open("labels-idx1-ubyte", "wb").write(bytes([0, 0, 8, 1]) + np.array([N], ">u4").tobytes() +
                                          labels.tobytes())
    case("idx-labels", "idx-u1", labels="labels-idx1-ubyte", classes=labels)


def label_files(rng):
    labels = rng.integers(-3, 9, N)
    np.save("labels.npy", labels)
    case("labels-npy", "idx-u1", labels="labels.npy", classes=labels)
    np.save("real-labels.npy", labels.astype("f4"))
    case("labels-real", "idx-u1", labels="real-labels.npy", classes=labels)
    np.save("half-labels.npy", labels + 0.5)
    case("labels-half", "idx-u1", labels="half-labels.npy", error=(3, "row 0 .counted from 0.: 5.5 is no label"))
    np.save("few-labels.npy", labels[:9])
    case("labels-few", "idx-u1", labels="few-labels.npy", error=(3, f"9 labels, but there are {N} rows"))
    case("labels-wide", "idx-u1", labels="wide.npy", error=(3, "labels must be one column, it has 40"))
    case("labels-none", "idx-u1", labels="nothing.npy", error=(3, "has no labels 'nothing.npy'"))
    with h5py.File("labels.h5", "w") as f:
        f["labels"] = labels
        f["y"] = labels[:, None]
        f.attrs["label_names"] = "a\nb\n"
    case("labels-h5", "idx-u1", labels="labels.h5:labels", classes=labels, names="a\nb\n")
    case("labels-h5-alone", "idx-u1", labels="labels.h5", classes=labels, names="a\nb\n")
    case("labels-h5-column", "idx-u1", labels="labels.h5:y", classes=labels)
    case("labels-h5-none", "idx-u1", labels="labels.h5:z", error=(3, "no data set 'z'; it holds"))


# --- AnnData ---------------------------------------------------------------------------------------

def annotated(rng):
    x = values(rng, "f4")
    category = rng.choice(["b cell", "a", "z\u03c8"], N)
    obs = pd.DataFrame({
        "cat": pd.Categorical(category, categories=["z\u03c8", "a", "unused", "b cell"]),
        "number": pd.Categorical(rng.choice([10, 9, 2], N)),
        "flag": rng.random(N) > 0.5, "int": rng.integers(-2, 5, N), "real": rng.normal(size=N),
        "group": rng.choice([f"t{i}" for i in range(12)], N)},
        index=[f"r{i}" for i in range(N)])
    obs.loc[obs.index[[3, N - 1]], "cat"] = np.nan
    a = anndata.AnnData(X=x, obs=obs)
    a.obsm["X_pca"] = values(rng, "f8", (N, 3))
    half = np.random.default_rng(5)
    a.obsm["frame"] = pd.DataFrame({"b": half.normal(size=N), "a": half.integers(0, 2**40, N),
                                    "c": half.normal(size=N).astype("f4")}, index=obs.index)
    a.obsm["words"] = pd.DataFrame({"b": np.arange(N), "k": obs["group"]}, index=obs.index)
    a.layers["counts"] = values(rng, "i4")
    a.raw = anndata.AnnData(X=values(rng, "u2", (N, 11)), obs=obs[[]])
    a.write_h5ad("a.h5ad")
    obs = a.obs
    import scipy.sparse
    anndata.AnnData(X=scipy.sparse.csc_matrix(x)).write_h5ad("csc.h5ad")
    case("ad-csc", "csc.h5ad", error=(3, "stands column after column; `iktsne convert csc.h5ad rows.h5"))
    with h5py.File("a.h5ad", "r+") as f: # what this version of anndata does not write
        f.create_dataset("obs/text", data=np.array(category, dtype=object),
                         dtype=h5py.string_dtype())
        f.create_dataset("obs/fixed", data=np.char.encode(category, "utf-8"))
        f.create_dataset("obs/name", data=[f"r{i % 97}" for i in range(N)], dtype=h5py.string_dtype())
        for name, gaps in (("gaps", 2), ("full", 0)):
            group = f.create_group("obs/" + name)
            group["values"] = np.arange(N) % 5
            group["mask"] = np.arange(N) % 5 < gaps
        f["obs/minus/values"] = np.arange(N) % 5 - 2
        f["obs/minus/mask"] = np.arange(N) % 7 == 0
        f["obs/short/codes"] = np.zeros(N - 1, "i1")
        f["obs/short/categories"] = ["a"]
        f["obs/beyond/codes"] = np.full(N, 3, "i1")
        f["obs/beyond/categories"] = np.array(["a", "b", "c"], dtype=object)
        f["obs/odd/codes"] = np.zeros(N, "i1")
    codes = lambda column: obs[column].cat.codes.to_numpy()
    lines = lambda texts: "".join(f"{t}\n" for t in texts)
    kinds = sorted(set(category), key=lambda t: t.encode())
    place = np.array([kinds.index(t) for t in category])
    case("ad-x", "a.h5ad", x, labels="cat", classes=codes("cat"),
         names=lines(obs["cat"].cat.categories))
    case("ad-pca", "a.h5ad", a.obsm["X_pca"], "obsm/X_pca", labels="obs/cat", classes=codes("cat"),
         names=lines(obs["cat"].cat.categories), kind="float64")
    case("ad-frame", "a.h5ad", a.obsm["frame"].to_numpy("f8"), "obsm/frame", kind="float64", labels="cat",
         classes=codes("cat"), names=lines(obs["cat"].cat.categories))
    case("ad-words", "a.h5ad", dataset="obsm/words", error=(3, "obsm/words.*k'? is no list of .*numbers"))
    case("ad-nix", "a.h5ad", dataset="nix", error=(3, r"matrices are: .*obsm/frame \(211 x 3\)"))
    case("ad-layer", "a.h5ad", a.layers["counts"], "layers/counts", kind="float64")
    case("ad-raw", "a.h5ad", a.raw.X, "raw/X", kind="float32")
    case("ad-number", "a.h5ad", labels="number", classes=codes("number"),
         names=lines(obs["number"].cat.categories))
    case("ad-flag", "a.h5ad", labels="flag", classes=obs["flag"], names="FALSE\nTRUE\n")
    case("ad-int", "a.h5ad", labels="int", classes=obs["int"])
    case("ad-group", "a.h5ad", labels="group", classes=codes("group"),
         names=lines(obs["group"].cat.categories))
    case("ad-text", "a.h5ad", labels="text", classes=place, names=lines(kinds))
    case("ad-fixed", "a.h5ad", labels="fixed", classes=place, names=lines(kinds))
    case("ad-gaps", "a.h5ad", labels="gaps",
         classes=np.where(np.arange(N) % 5 < 2, -1, np.arange(N) % 5))
    case("ad-full", "a.h5ad", labels="full", classes=np.arange(N) % 5)
    case("ad-first", "a.h5ad", x[:5], labels="text", first=5, classes=place[:5], names=lines(kinds))
    case("ad-file", "idx-u1", labels="a.h5ad:cat", classes=codes("cat"),
         names=lines(obs["cat"].cat.categories))
    case("ad-minus", "a.h5ad", labels="minus", error=(3, "both missing and negative"))
    case("ad-real", "a.h5ad", labels="real", error=(3, "'obs/real', row 0: .* is not an integer"))
    case("ad-short", "a.h5ad", labels="short", error=(3, f"{N - 1} entries, but there are {N} rows"))
    case("ad-beyond", "a.h5ad", labels="beyond", error=(3, "row 0 has code 3, but there are 3 categories"))
    case("ad-odd", "a.h5ad", labels="odd", error=(3, "neither one of codes and categories"))
    case("ad-none", "a.h5ad", labels="leiden", error=(3, "could be labels: .*cat, .*group, .*number"))
    case("ad-default", "a.h5ad", labels="labels", error=(3, "has no labels"))
    case("ad-nothing", "a.h5ad", dataset="Y", error=(
        3, r"an AnnData file without 'Y'; its matrices are: X \(211 x 7\), raw/X "
           r"\(211 x 11\), layers/counts \(211 x 7\), obsm/X_pca \(211 x 3\)"))


def annotated_before(rng):
    """As anndata wrote before 0.8 (categories by reference) and before 0.7 (obs as one table)."""
    x = values(rng, "f4")
    codes = rng.integers(-1, 3, N).astype("i1")
    with h5py.File("old.h5ad", "w") as f:
        f["X"] = x
        f["var/index"] = np.arange(D)
        obs = f.create_group("obs")
        obs["kind"] = codes
        obs["__categories/kind"] = np.array(["x", "y", "z"], dtype=object)
        obs["kind"].attrs["categories"] = obs["__categories/kind"].ref
        obs["bad"] = codes
        obs["bad"].attrs["categories"] = obs["__categories"].ref
    case("old", "old.h5ad", x, labels="kind", classes=codes, names="x\ny\nz\n")
    case("old-bad", "old.h5ad", labels="bad", error=(3, "refers to no data set"))
    with h5py.File("older.h5ad", "w") as f:
        f["X"] = x
        f["obs"] = np.zeros(N, dtype=[("index", "S4"), ("kind", "i4")])
        f["var"] = np.zeros(D, dtype=[("index", "S4")])
    case("older", "older.h5ad", x)
    case("older-labels", "older.h5ad", labels="kind", error=(3, "anndata before 0.7"))


# --- MATLAB 7.3 ------------------------------------------------------------------------------------

def matlab(rng):
    """As MATLAB writes them: a block before HDF5, matrices column after column, a class."""
    classes = {"double": "f8", "single": "f4", "int8": "i1", "uint8": "u1", "int16": "i2",
               "uint16": "u2", "int32": "i4", "uint32": "u4", "int64": "i8", "uint64": "u8"}
    content = {}
    with h5py.File("m.mat", "w", userblock_size=512) as f:
        def put(name, x, kind, **how):
            f.create_dataset(name, data=np.ascontiguousarray(x.T), **how)
            f[name].attrs["MATLAB_class"] = np.bytes_(kind)
            content[name] = x
        for kind, dtype in classes.items():
            put("of_" + kind, values(rng, dtype), kind)
        put("X", values(rng, "f8"), "double")
        put("packed", values(rng, "f4", (N, 30)), "single", chunks=(4, 64), compression="gzip")
        put("mask", values(rng, "?").astype("u1"), "logical")
        f["mask"].attrs["MATLAB_int_decode"] = np.int32(1)
        put("column", rng.integers(0, 5, (N, 1)).astype("f8"), "double")
        put("row", rng.integers(0, 5, (1, N)).astype("f8"), "double")
        put("text", np.full((1, 4), 65, "u2"), "char")
        words = np.array(["setosa", "b\u00e4r", "", "\U0001f600 x"])[np.arange(N) % 4]
        for name, shape in ("cellrow", (N, 1)), ("cellcolumn", (1, N)):
            cells = np.empty(N, h5py.ref_dtype)
            for i, word in enumerate(words):
                codes = np.frombuffer(word.encode("utf-16-le"), "u2")
                cell = f.create_dataset(f"#refs#/{name}{i}", data=codes[:, None] if word else np.array([0, 0], "u8"))
                cell.attrs["MATLAB_class"] = np.bytes_("char")
                if not word:
                    cell.attrs["MATLAB_empty"] = np.uint8(1)
                cells[i] = cell.ref
            f.create_dataset(name, data=cells.reshape(shape), dtype=h5py.ref_dtype)
            f[name].attrs["MATLAB_class"] = np.bytes_("cell")
        cells = np.empty((N, 1), h5py.ref_dtype)
        huge = f.create_dataset("#refs#/huge", (64, 2**58 + 1), "u2", chunks=(1, 64)) # 2^64 + 64 characters
        huge.attrs["MATLAB_class"] = np.bytes_("char")
        cells[:] = huge.ref
        f.create_dataset("cellhuge", data=cells, dtype=h5py.ref_dtype)
        f["cellhuge"].attrs["MATLAB_class"] = np.bytes_("cell")
        put("few", np.zeros((3, 1)), "double")
        sparse = f.create_group("S") # 4 x 2, column after column
        sparse.attrs["MATLAB_class"], sparse.attrs["MATLAB_sparse"] = np.bytes_("double"), np.uint64(4)
        sparse["data"], sparse["ir"], sparse["jc"] = [1.0, 2, 3], np.array([0, 3, 1], "u8"), np.array([0, 2, 3], "u8")
        f["nothing"] = np.array([0, 0], "u8")
        f["nothing"].attrs["MATLAB_class"] = np.bytes_("double")
        f["nothing"].attrs["MATLAB_empty"] = np.uint8(1)
    with open("m.mat", "r+b") as f:
        f.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: by h5py".ljust(116) +
                b"\0" * 8 + b"\0\2IM")
    for name in list(content):
        if name.startswith("of_") or name in ("packed", "mask"):
            case("mat-" + name, "m.mat", content[name], name, kind=our_type(content[name].dtype))
    case("mat-first", "m.mat", content["packed"][:50], "packed", first=50)
    case("mat-turned", "m.mat", content["packed"].T, "packed", transposed="no")
    for name in "column", "row":
        case("mat-" + name, "m.mat", content["X"], labels=name, classes=content[name].ravel())
    kinds = sorted(set(words), key=lambda word: word.encode())
    for name in "cellrow", "cellcolumn":
        case("mat-" + name, "m.mat", content["X"], labels=name, names="".join(k + "\n" for k in kinds),
             classes=np.array([kinds.index(w) for w in words]))
    case("mat-huge", "m.mat", labels="cellhuge", error=(3, "an element of the cell array is no text"))
    case("mat-few", "m.mat", labels="few", error=(3, f"3 entries, but there are {N} rows"))
    case("mat-other", "m.mat", labels="other", error=(3, "could be labels: cellcolumn, cellhuge, cellrow, column, row"))
    case("mat-text", "m.mat", dataset="text", error=(3, "MATLAB array of class char"))
    case("mat-empty", "m.mat", dataset="nothing", error=(3, "an empty MATLAB array"))
    case("mat-sparse", "m.mat", dataset="S", error=(
        3, "a sparse matrix of MATLAB .*`iktsne convert m.mat rows.h5 --dataset S`"))
    case("mat-nix", "m.mat", dataset="Y", error=(3, r"a MATLAB 7.3 file without 'Y'; .*X \(211 x 7\)"))
    bytes_ = open("m.mat", "rb").read()
    open("cut.mat", "wb").write(bytes_[:len(bytes_) // 2])
    case("mat-cut", "cut.mat", error=(4, "cut.mat cannot be opened: truncated file"))


def turned(rng):
    x = values(rng, "f4", (300, 50))
    with h5py.File("turned.h5", "w") as f:
        f["X"] = x.T
        f.create_dataset("packed", data=x.T, chunks=(50, 16), compression="gzip")
        f["long"] = values(rng, "i8", (3, 2)) // 4
        f["huge"] = np.array([[1, 2**53]])
        f.create_dataset("unwritten", (5, 6), "f4", chunks=(5, 6))
        far = values(rng, "f8", (40000, 20)).T
        f["far"] = far
        packed = f["long"][:]
    case("turned", "turned.h5", x, transposed="yes")
    case("turned-packed", "turned.h5", x, "packed", transposed="yes")
    case("turned-first", "turned.h5", x[:9], transposed="yes", first=9)
    case("turned-long", "turned.h5", packed.T, "long", transposed="yes")
    case("turned-far", "turned.h5", far.T, "far", transposed="yes")
    case("turned-huge", "turned.h5", dataset="huge", transposed="yes",
         error=(3, "huge, row 1, column 0: an integer of 2"))
    case("turned-unwritten", "turned.h5", dataset="unwritten", transposed="yes",
         error=(3, "never written"))


def compressed(rng):
    """LZF, h5py's own: runs that overlap, numbers that do not compress, a last chunk that is not full."""
    x = values(rng, "f4", (N, 40))
    x[:, 5:35] = np.arange(N)[:, None] // 3
    x[100:150] = 0
    with h5py.File("lzf.h5", "w") as f:
        f.create_dataset("X", data=x, chunks=(64, 40), compression="lzf")
        f.create_dataset("shuffled", data=x, chunks=(50, 16), compression="lzf", shuffle=True)
        f.create_dataset("noise", data=values(rng, "f8", (N, 3)), chunks=(64, 3), compression="lzf")
        noise = f["noise"][:]
    case("lzf", "lzf.h5", x)
    case("lzf-shuffled", "lzf.h5", x, "shuffled")
    case("lzf-turned", "lzf.h5", x.T, transposed="yes")
    case("lzf-noise", "lzf.h5", noise, "noise")
    # The same file by a filter that HDF5 does not have, and with a chunk that is no LZF.
    data = open("lzf.h5", "rb").read()
    open("blosc.h5", "wb").write(data.replace(b"\x00\x7d\x08\x00", b"\x01\x7d\x08\x00"))
    case("blosc", "blosc.h5", error=(4, r"blosc.h5:/X is compressed by the filter 32001 \(Blosc\).*HDF5_PLUGIN_PATH"))
    case("blosc-turned", "blosc.h5", transposed="yes", error=(4, r"32001 \(Blosc\)"))
    with h5py.File("lzf.h5") as f:
        at = f["X"].id.get_chunk_info(0)
    broken = bytearray(data)
    broken[at.byte_offset:at.byte_offset + 2] = b"\xff\xff"
    open("broken.h5", "wb").write(broken)
    case("lzf-broken", "broken.h5", error=(4, "cannot be read"))
    # Chunks that unpack to fewer bytes, or more, than they have; sizes that are not those of chunks.
    noise = values(rng, "f8", (64, 4))
    stream = b"".join(b"\x1f" + noise.tobytes()[at:at + 32] for at in range(0, noise.nbytes, 32))
    for name, stream, error in (("lzf-exact", stream, None), ("lzf-short", b"\x07" + bytes(8), "cannot be read"),
                                ("lzf-longer", stream + b"\x00a", "cannot be read")):
        with h5py.File(name + ".h5", "w") as f:
            data = f.create_dataset("X", (64, 4), "f8", chunks=(64, 4), compression="lzf")
            data.id.write_direct_chunk((0, 0), stream)
        case(name, name + ".h5", None if error else noise, error=error and (4, error))
    data = open("lzf-exact.h5", "rb").read()
    size = np.array([4, 0x105, noise.nbytes], "<u4").tobytes()
    assert data.count(size) == 1
    open("lzf-size.h5", "wb").write(data.replace(size, np.array([4, 0x105, 8], "<u4").tobytes()))
    case("lzf-size", "lzf-size.h5", error=(4, "by LZF without the size of its chunks"))
    with h5py.File("lzf-scaled.h5", "w") as f:
        f.create_dataset("X", data=np.arange(256).reshape(64, 4), chunks=(64, 4), compression="lzf", scaleoffset=True)
    case("lzf-scaled", "lzf-scaled.h5", error=(4, "by LZF behind another filter that packs"))


def shapes(rng):
    """Truth values, more than two dimensions; the only matrix of a file, of 10x, of a loom."""
    cube, truth = values(rng, "f4", (N, 3, 2)), values(rng, "?")
    with h5py.File("shapes.h5", "w") as f:
        f["cube"], f["truth"] = cube, truth
        f.create_dataset("packed", data=cube, chunks=(16, 2, 1), compression="gzip")
        f["codes"] = np.zeros((N, 2), h5py.enum_dtype({"red": 0, "green": 1, "blue": 2}, "u1"))
    for name in "cube", "packed":
        case("h5-" + name, "shapes.h5", cube.reshape(N, 6), name, kind="float32")
    case("h5-cube-turned", "shapes.h5", dataset="cube", transposed="yes", error=(3, "has 3 dimensions"))
    case("h5-truth", "shapes.h5", truth, "truth", kind="uint8")
    case("h5-truth-turned", "shapes.h5", truth.T, "truth", transposed="yes")
    case("h5-codes", "shapes.h5", dataset="codes", error=(3, "holds no numbers that can be used"))
    case("h5-several", "shapes.h5", dataset="auto", error=(3, "its matrices are: .*cube \\(211 x 6\\), .*truth"))
    with h5py.File("only.h5", "w") as f:
        f["deep/down"], f["deep/y"], f["z"] = cube[:, 0], np.arange(N)[:, None], np.arange(N)
    with h5py.File("ours.h5", "w") as f: # a map of ours is not taken for data
        f.attrs["format"], f["embedding"] = "iktsne-embedding", cube[:, 0]
    case("h5-ours", "ours.h5", dataset="auto", error=(3, "has no data set 'X'; it holds: embedding"))
    case("h5-only", "only.h5", cube[:, 0], dataset="auto")
    case("h5-not-asked", "only.h5", error=(3, "has no data set 'X'.*its matrices are: deep/down"))
    counts = np.random.default_rng(1).poisson(.3, (60, N)) # genes x cells
    stored = scipy.sparse.csc_matrix(counts)
    for name, group in ("tenx.h5", "matrix"), ("tenx-2.h5", "GRCh38"):
        with h5py.File(name, "w") as f:
            g = f.create_group(group)
            for part in "data", "indices", "indptr":
                g[part] = getattr(stored, part)
            g["shape"], g["barcodes"] = np.array(counts.shape, "i4"), np.array([f"C{i}" for i in range(N)], "S")
            g["features/name"] = np.array([f"G{i}" for i in range(60)], "S")
        case(name[:-3], name, counts.T, dataset="auto")
        case(name[:-3] + "-named", name, counts.T, dataset=group)
    layout = h5py.VirtualLayout((N, D), "f4")
    layout[:] = h5py.VirtualSource("place-of-it.h5", "x", (N, D))
    with h5py.File("virtual.h5", "w", libver=("v110", "v110")) as f:
        f.create_virtual_dataset("X", layout)
    case("virtual", "virtual.h5", error=(4, "X is a virtual data set"))
    with h5py.File("own.h5", "w") as f: # as people store csr_matrix themselves
        for part in "data", "indices", "indptr", "shape":
            f["m/" + part] = getattr(scipy.sparse.csr_matrix(counts), part)
    case("own", "own.h5", counts, dataset="m")
    kinds, places = np.random.default_rng(2).integers(0, 4, N), values(rng, "f4", (N, 5))
    with h5py.File("a.loom", "w") as f:
        f["matrix"], f["layers/spliced"] = counts.astype("f4"), counts.astype("i2")
        f["col_attrs/Cluster"], f["row_attrs/Gene"] = kinds, np.arange(60)
        f["col_attrs/PCA"], f["row_attrs/Loadings"] = places, np.zeros((60, 5))
    case("loom", "a.loom", counts.T, dataset="auto", labels="Cluster", classes=kinds)
    case("loom-layer", "a.loom", counts.T, dataset="/layers/spliced")
    case("loom-places", "a.loom", places, dataset="col_attrs/PCA", labels="Cluster", classes=kinds)
    case("loom-none", "a.loom", dataset="X", error=(3, r"its matrices are: col_attrs/PCA \(211 x 5\), layers/spliced "
                                                       r"\(211 x 60\), matrix \(211 x 60\)$"))


# --- CSV -------------------------------------------------------------------------------------------

def tables(rng):
    """As pandas, R and people write them: quotes, line breaks within cells, names of rows, missing cells."""
    import gzip
    x = values(rng, "f8")
    kinds = rng.choice(["wolf", "ant, red", 'the "bee"'], N)
    classes, names = np.unique(kinds, return_inverse=True)[::-1][0], "".join(k + "\n" for k in np.unique(kinds))
    words = np.array([("line one\nline \"two\", " * (i % 23))[:i] for i in range(N)])
    frame = pd.DataFrame(x, columns=list("abcdefg"))
    frame.insert(2, "note", words)
    frame["kind"] = kinds
    frame.index = [f"cell-{i}" for i in range(N)]
    frame.to_csv("frame.csv")
    frame.to_csv("frame.tsv.gz", sep="\t", index=False)
    for name in "frame.csv", "frame.tsv.gz":
        case("csv-" + name, name, x, labels="kind", classes=classes, names=names, kind="float64")
        case("csv-few-" + name, name, x[:50], labels="kind", classes=classes[:50], names=names, first=50)
    case("csv-columns", "frame.csv", x[:, [1, 6, 0]], dataset="b,g,a")
    case("csv-numbers", "frame.csv", x[:, :1], dataset="2")
    case("csv-no-label", "frame.csv", x, labels="none", error=(3, "no labels"))
    # Whole numbers are labels as they are; a column of that name is one without being asked for.
    numbers = pd.DataFrame(x, columns=list("abcdefg"))
    numbers["label"] = np.arange(N) % 5 - 1
    numbers.to_csv("label.csv", index=False)
    case("csv-label", "label.csv", x, labels="labels", classes=np.arange(N) % 5 - 1)
    # Names of rows without a heading, which R leaves out altogether and pandas writes as an empty cell.
    pd.DataFrame(x).to_csv("index.csv")
    case("csv-index", "index.csv", x)
    with open("r.txt", "w") as f:
        f.write(" ".join(f'"V{i}"' for i in range(D)) + "\n")
        f.writelines(f'"{i}" ' + " ".join(map(repr, row.tolist())) + "\n" for i, row in enumerate(x))
    case("csv-r", "r.txt", x)
    # No header, and text that is no heading; numbers that are one.
    with open("bare.csv", "w") as f:
        f.writelines(",".join(map(repr, row.tolist())) + "," + k.split()[0].strip(",") + "\n" for row, k in zip(x, kinds))
    case("csv-bare", "bare.csv", x)
    pd.DataFrame(x, index=frame.index).to_csv("counted.csv", index_label="cell")
    case("csv-counted", "counted.csv", x)
    # Headings that number all columns, as pandas writes names where there are none, and rows that only begin so.
    def numbered(name, heading, rows, is_heading):
        rows = np.asarray(rows)
        with open(name + ".csv", "w") as f:
            f.writelines(",".join(map(str, row)) + "\n" for row in [heading, *rows.tolist()])
        case("csv-" + name, name + ".csv", rows if is_heading else np.vstack([np.array(heading, "f8"), rows]))
    pd.DataFrame(x).to_csv("numbered.csv", index=False)
    case("csv-numbered", "numbered.csv", x)
    numbered("from-1", [1, 2, 3], x[:, :3], True)
    numbered("two", [0, 1], x[:, :2], True)
    numbered("pixels", list(range(16)), np.arange(16) * np.arange(5)[:, None] % 7, True)
    numbered("two-whole", [0, 1], [[3, 7], [9, 2]], False)
    numbered("genotypes", [0, 1, 2], [[2, 0, 0], [1, 1, 2], [0, 1, 2], [2, 2, 1]], False)
    numbered("table", [1, 2, 3], [[4, 5, 6], [7, 8, 10]], False)
    numbered("line", [0, 1, 2], [[1, 0, 1], [2, 1, 0]], False)
    numbered("from-2", [2, 3, 4], x[:, :3], False)
    numbered("points", ["0.0", "1.0", "2.0"], x[:, :3], False)
    # Missing cells, as they are written.
    gaps = x.copy()
    with open("gaps.csv", "w") as f:
        f.write(",".join("abcdefg") + "\n")
        for i in range(N):
            row = [repr(v) for v in x[i].tolist()]
            if i > 0 and i % 7 == 0:
                row[i % D] = ["", "NA", "NaN", "null", "?", "N/A"][i // 7 % 6]
                gaps[i, i % D] = np.nan
            f.write(",".join(row) + "\n")
    case("csv-gaps", "gaps.csv", gaps)
    # Headings in Latin-1 are asked for in UTF-8.
    with open("latin.csv", "wb") as f:
        f.write("größe,b,ähnlich\n1,2,3\n4,5,6\n".encode("latin-1"))
    case("csv-latin", "latin.csv", np.array([[3, 1], [6, 4]]), dataset="ähnlich,größe")
    # A record longer than the range of a rank, and one that is the whole end of the file.
    long = "x\n" * 30000
    with open("long.csv", "w") as f:
        f.write(f'a,note,b\n1,"{long}",2\n3,short,4\n5,"{long}{long}",6\n')
    case("csv-long", "long.csv", np.array([[1, 2], [3, 4], [5, 6]]))
    open("exact.csv", "w").write("a,b\n9007199254740992,18014398509481984\n12345678901234567.5,1e300\n")
    case("csv-exact", "exact.csv", np.array([[2.0 ** 53, 2.0 ** 54], [12345678901234567.5, 1e300]]))
    with gzip.open("text.csv.gz", "wb") as f:
        f.write(b"a,b\n1,2\n3,4\n")
    case("csv-gz", "text.csv.gz", np.array([[1, 2], [3, 4]]))
    for name, text, words in (
            ("stray", "a,b\n" + "1,2\n" * 90 + "3,four\n" + "5,6\n" * 9, "line 92, column 2 \\('b'\\): 'four' is not a number"),
            ("ragged", "a,b\n" + "1,2\n" * 90 + "3\n" + "5,6\n" * 9, "line 92 has 1 cells; the first has 2"),
            ("open", "a,b\n" + "1,2\n" * 9 + '3,"4\n' + "5,6\n" * 90, "line 11: a quote is not closed"),
            ("inf", "a,b\n1,2\n-inf,3\n", "'-inf' is not a finite number"),
            ("wide", "id,b\n9007199254740992,2\n-9007199254740993,3\n", "line 3, column 1 \\('id'\\): '-9007199254740993' is beyond 2.53"),
            ("zero", "a,b\n" + "1,2\n" * 700 + "3,\0\n" + "1,2\n" * 7, "line 702: holds a zero byte")):
        open(name + ".csv", "w").write(text)
        case("csv-" + name, name + ".csv", error=(3, words))
    open("words.csv", "w").write("a,b\nx,y\nz,w\n")
    case("csv-words", "words.csv", error=(3, "has no column of numbers"))
    case("csv-absent", "frame.csv", dataset="a,nothing", error=(2, "has no column 'nothing'"))
    case("csv-twice", "frame.csv", dataset="a,2,b", error=(2, "is named twice"))
    case("csv-beyond", "frame.csv", first=N + 1, error=(2, "has only 211 rows"))


def others():
    open("data.libsvm", "w").write("1 1:2\n")
    open("noise.bin", "wb").write(bytes(range(1, 256)) * 3)
    case("libsvm", "data.libsvm", error=(4, "is not an HDF5 file but LIBSVM, .*`iktsne convert data.libsvm data.h5`"))
    case("noise", "noise.bin", error=(4, "nor of another known format"))


def make():
    rng = np.random.default_rng(7)
    for part in arrays, idx, label_files, annotated, annotated_before, matlab, turned, tables:
        part(rng)
    compressed(rng)
    shapes(rng)
    others()
    open("cases.txt", "w").write("\n".join(cases) + "\n")
    pickle.dump(expected, open("expected.pickle", "wb"))


def check_case(name, wish):
    import os
    import re
    said = open(name + ".said").read().split(None, 4)
    code, message = int(said[0]), said[4].strip() if len(said) > 4 else ""
    if wish["error"]:
        right = code == wish["error"][0] and re.search(wish["error"][1], message)
        return None if right else f"{code}: {message}, not {wish['error']}"
    if code != 0:
        return f"{code}: {message}"
    if wish["rows"] is not None:
        shape = (int(said[2]), int(said[3]))
        if shape != wish["rows"].shape:
            return f"{shape} rows, not {wish['rows'].shape}"
        if not np.array_equal(np.fromfile(name + ".rows").reshape(shape), wish["rows"].astype("f8"), equal_nan=True):
            return "other rows"
    if wish["kind"] and said[1] != wish["kind"]:
        return f"{said[1]}, not {wish['kind']}"
    if wish["classes"] is not None:
        if not np.array_equal(np.fromfile(name + ".labels", "i8"), wish["classes"]):
            return "other labels"
        names = open(name + ".names", encoding="utf-8").read() if os.path.exists(name + ".names") else None
        if names != wish["names"]:
            return f"names {names!r}, not {wish['names']!r}"
    return None


if __name__ == "__main__":
    sys.exit(make() if sys.argv[1] == "make" else check(check_case))
