"""Every format, there and back, on real data: a table. format_table.py PROGRAM DATA-FOLDER, in a scratch folder.

Formats that are read directly are compared by the hash of a short embedding with that of the same rows in plain
HDF5; converted ones by all numbers and labels; what is written with what numpy, h5py, anndata and VTK read of it.
"""
import csv
import gzip
import os
import shutil
import subprocess
import sys

import h5py
import numpy as np
import scipy.io
import scipy.sparse as sp

try:
    import warnings
    warnings.simplefilter("ignore")
    import anndata
    import pandas as pd
except ImportError:
    anndata = None

program, folder = sys.argv[1:3]
failed = 0


def run(*words):
    done = subprocess.run([program, *words, "--quiet"], capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, " ".join(words) + ": " + done.stderr
    return done.stdout


def row(way, what, shape, compared, check):
    global failed
    try:
        verdict = "same" if check() else "DIFFERS"
    except Exception as problem:  # a table says what failed and goes on
        verdict = f"FAILED: {problem}"
    failed += verdict != "same"
    print(f"| {way} | {what} | {shape[0]} x {shape[1]} | {compared} | {verdict} |", flush=True)


# --- the data: digits as dense rows, basehock as sparse ones ---

with h5py.File(folder + "/digits.h5") as f:
    x, y = f["X"][:].astype(np.float32), f["labels"][:]
with h5py.File(folder + "/basehock.h5") as f:
    b = sp.csr_matrix((f["data"][:].astype(np.float32), f["indices"][:], f["indptr"][:]), tuple(f.attrs["shape"]))
b.sum_duplicates()
names = np.array([f"digit {k}" for k in range(10)])[y]

short = ["isolation.psi=16", "isolation.partitionings=32", "layout.iterations=12", "layout.exaggeration_iterations=6",
         "layout.init=random", "output.measures=none", "output.state=no", "run.checkpoint=none", "output.overwrite=yes"]


def hash_of(*settings):
    told = run("embed", "output.file=run.h5", *short, *settings)
    return [line.split()[-1] for line in told.splitlines() if line.startswith("embedding hash")][0]


def labels_of_run():
    with h5py.File("run.h5") as f:
        return f["labels"][:], f.attrs.get("label_names")


with h5py.File("x.h5", "w") as f:
    f["X"], f["labels"], f["turned"] = x, y, np.ascontiguousarray(x.T)
with h5py.File("b.h5", "w") as f:
    f["X"] = b.toarray()
dense, sparse = hash_of("input.file=x.h5"), hash_of("input.file=b.h5", "preprocess.normalise=none")

print("| way | format | rows x columns | compared with | result |\n|---|---|---|---|---|")


def direct(what, *settings, labels="labels.npy"):
    def check():
        good = hash_of(*settings, *([f"input.labels={labels}"] if labels else [])) == dense
        return good and (not labels or np.array_equal(labels_of_run()[0], y))
    row("read directly", what, x.shape, "hash of the embedding, labels", check)


np.save("labels.npy", y)
np.save("c.npy", x)
np.save("f.npy", np.asfortranarray(x))
np.save("big.npy", x.astype(">f8").astype(">f4"))
x.astype(">f4").tofile("x.raw")
open("x.idx", "wb").write(bytes([0, 0, 0x0D, 2]) + np.array(x.shape, ">u4").tobytes() + x.astype(">f4").tobytes())
with h5py.File("x.mat", "w", userblock_size=512) as f:
    f["fea"], f["gnd"] = x.T, y[None, :].astype("f8")
    f["fea"].attrs["MATLAB_class"], f["gnd"].attrs["MATLAB_class"] = np.bytes_("single"), np.bytes_("double")
direct("HDF5, X and labels", "input.file=x.h5", labels=None)
direct("HDF5, rows are columns", "input.file=x.h5", "input.dataset=turned", "input.transposed=yes")
direct("MATLAB 7.3", "input.file=x.mat", "input.dataset=fea", labels="gnd")
direct("NPY", "input.file=c.npy")
direct("NPY, Fortran order", "input.file=f.npy")
direct("NPY, big-endian", "input.file=big.npy")
direct("IDX, float32", "input.file=x.idx")
direct("raw, big-endian", "input.file=x.raw", f"input.columns={x.shape[1]}", "input.type=float32", "input.byte_order=big")
if anndata:
    obs = pd.DataFrame({"kind": pd.Categorical(names), "digit": y}, index=[str(i) for i in range(len(x))])
    a = anndata.AnnData(X=x, obs=obs, dtype=np.float32)
    a.obsm["X_pca"] = x
    a.layers["counts"] = sp.csr_matrix(x)
    a.write_h5ad("x.h5ad")
    direct("AnnData, X", "input.file=x.h5ad", labels="digit")
    direct("AnnData, obsm/X_pca, categories", "input.file=x.h5ad", "input.dataset=obsm/X_pca", labels="kind")
    direct("AnnData, CSR layer", "input.file=x.h5ad", "input.dataset=layers/counts", labels="digit")
    ab = anndata.AnnData(X=b, dtype=np.float32)
    ab.write_h5ad("b.h5ad")
    row("read directly", "AnnData, CSR X", b.shape, "hash of the embedding of dense rows",
        lambda: hash_of("input.file=b.h5ad", "preprocess.normalise=none") == sparse)
row("read directly", "HDF5, CSR at the root: basehock.h5", b.shape, "hash of the embedding of dense rows",
    lambda: hash_of("input.file=" + folder + "/basehock.h5", "input.dataset=/", "preprocess.normalise=none") == sparse)


# --- converted ---

def converted(what, wanted, labels, *words):
    def check():
        run("convert", *words[:1], "out.h5", "--overwrite", *words[1:])
        with h5py.File("out.h5") as f:
            if isinstance(f["X"], h5py.Group):
                g = f["X"]
                got = sp.csr_matrix((g["data"][:], g["indices"][:], g["indptr"][:]), tuple(g.attrs["shape"])).toarray()
            else:
                got = f["X"][:]
            good = labels is None or np.array_equal(f["labels"][:], labels)
        return good and got.shape == wanted.shape and np.array_equal(got, wanted)
    row("converted", what, wanted.shape, "all numbers" + (", labels" if labels is not None else ""), check)


def write_csv(name, delimiter, opened=open):
    with opened(name, "wt", newline="") as f:
        out = csv.writer(f, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
        out.writerow([f"pixel, {k}" for k in range(x.shape[1])] + ["kind"])
        for values, name in zip(x, names):
            out.writerow([repr(float(v)) for v in values] + [name])


def write_libsvm(name, m, labels):
    with open(name, "w") as f:
        for i in range(m.shape[0]):
            at = slice(m.indptr[i], m.indptr[i + 1])
            f.write(f"{labels[i]} " + " ".join(f"{c + 1}:{v:.9g}" for c, v in zip(m.indices[at], m.data[at])) + "\n")


def of_raw(name):
    return folder + "/raw/" + name


x8, full = x.astype(np.float64), b.toarray()
write_csv("x.csv", ",")
write_csv("x.tsv.gz", "\t", gzip.open)
np.savez("x.npz", X=x, y=y)
np.savez_compressed("packed.npz", X=np.asfortranarray(x), y=y)
scipy.io.savemat("five.mat", {"X": x, "Y": y.astype(float)}, do_compression=True)
scipy.io.savemat("sparse.mat", {"X": b.astype(np.float64)})
for form in ("csr", "csc", "coo"):
    sp.save_npz(form + ".npz", b.asformat(form))
write_libsvm("x.libsvm", sp.csr_matrix(x), y)
converted("CSV, quoted, named classes", x8, y, "x.csv", "--label-column", "kind")
converted("TSV, gzipped", x8, y, "x.tsv.gz", "--label-column", "kind")
converted("LIBSVM, dense", x, y, "x.libsvm", "--sparse", "no")
converted("LIBSVM, sparse, gzipped: basehock", full, None, of_raw("basehock.libsvm.gz"))
converted("NPZ", x, y, "x.npz", "--array", "X", "--label-array", "y")
converted("NPZ, deflated, Fortran order", x, y, "packed.npz", "--array", "X", "--label-array", "y")
for form in ("csr", "csc", "coo"):
    converted(f"scipy.sparse .npz, {form}", full, None, form + ".npz")
converted("MATLAB 7", x, y, "five.mat", "--array", "X", "--label-array", "Y")
converted("MATLAB 7, sparse", full.astype(np.float64), None, "sparse.mat")
converted("MATLAB 5: BASEHOCK.mat", scipy.io.loadmat(of_raw("BASEHOCK.mat"))["X"], None, of_raw("BASEHOCK.mat"),
          "--array", "X")
converted("raw float32", x, y, "x.raw", "--raw", "float32", "--columns", str(x.shape[1]), "--byte-order", "big",
          "--labels", "labels.npy")
with gzip.open(of_raw("mnist-t10k-images-idx3-ubyte.gz")) as f:
    digits = np.frombuffer(f.read(), np.uint8, offset=16).reshape(10000, 784)
with gzip.open(of_raw("mnist-t10k-labels-idx1-ubyte.gz")) as f:
    digit_labels = np.frombuffer(f.read(), np.uint8, offset=8)
converted("IDX, gzipped: MNIST's test digits", digits, digit_labels, of_raw("mnist-t10k-images-idx3-ubyte.gz"),
          "--labels", of_raw("mnist-t10k-labels-idx1-ubyte.gz"))
if anndata:
    anndata.AnnData(X=b.tocsc(), dtype=np.float32).write_h5ad("csc.h5ad")
    converted("AnnData, CSC", full, None, "csc.h5ad")
    converted("AnnData, CSR", full, None, "b.h5ad")

# --- graphs, and what is written ---


def graph_is_sound():
    with h5py.File("kept.h5") as f:
        g = f["graph"]
        w = sp.csr_matrix((g["data"][:], g["indices"][:], g["indptr"][:]), tuple(g.attrs["shape"]))
    p = (w + w.T) / (2 * w.shape[0])
    return w.shape[0] == len(x) and abs(p.sum() - 1) < 1e-5 and abs(p - p.T).max() == 0


hash_of("input.file=x.h5", "output.graph=kept.h5")
row("graph", "kept by output.graph, P by scipy", x.shape, "symmetric, sum 1", graph_is_sound)
row("graph", "taken up by input.graph", x.shape, "hash of the embedding", lambda: hash_of("input.graph=kept.h5") == dense)


if anndata:
    hash_of("input.file=x.h5ad", "input.labels=kind")
else:
    hash_of("input.file=x.h5")
with h5py.File("run.h5") as f:
    place = f["embedding"][:]


def written(what, compared, check, *words):
    def both():
        run("export" if words[0].rsplit(".", 1)[-1] not in ("png", "svg", "pdf") else "plot", "run.h5", *words)
        return check()
    row("written", what, place.shape, compared, both)


def csv_is_same(name, opened, delimiter):
    with opened(name, "rt", newline="") as f:
        lines = list(csv.DictReader(f, delimiter=delimiter))
    got = np.array([[line["x"], line["y"]] for line in lines]).astype(np.float32)
    classes = np.array([line["label"] for line in lines]).astype(int)
    return np.array_equal(got, place) and np.array_equal(classes, y)


written("NPY", "numpy", lambda: np.array_equal(np.load("out.npy"), place), "out.npy")
written("CSV", "csv: float32, labels", lambda: csv_is_same("out.csv", open, ","), "out.csv")
written("TSV, gzipped", "csv, gzip", lambda: csv_is_same("out.tsv.gz", gzip.open, "\t"), "out.tsv.gz")
if anndata:
    written("copy of .h5ad, obsm/X_iktsne", "anndata",
            lambda: np.array_equal(anndata.read_h5ad("out.h5ad").obsm["X_iktsne"], place), "out.h5ad", "--h5ad", "x.h5ad")


def vtk_is_same():
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
    reader = vtk.vtkHDFReader()
    reader.SetFileName("out.vtkhdf")
    reader.Update()
    points = vtk_to_numpy(reader.GetOutput().GetPoints().GetData())
    return np.array_equal(points[:, :2], place) and not points[:, 2].any()


try:
    import vtk  # noqa: F401
    written("VTKHDF", "vtkHDFReader", vtk_is_same, "out.vtkhdf")
except ImportError:
    pass
written("PNG", "begins as one", lambda: open("out.png", "rb").read(8) == b"\x89PNG\r\n\x1a\n", "out.png")
written("SVG", "xml", lambda: __import__("xml.etree.ElementTree").etree.ElementTree.parse("out.svg").getroot() is not None,
        "out.svg")
if shutil.which("pdfinfo"):
    written("PDF", "pdfinfo", lambda: subprocess.run(["pdfinfo", "out.pdf"], capture_output=True).returncode == 0, "out.pdf")
sys.exit(1 if failed else 0)
