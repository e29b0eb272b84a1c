"""Measures, pages, AnnData, distributed rows, and the guide."""

import base64
import html
import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import iktsne

FEW = {"max_iter": 60, "early_exaggeration_iter": 20}


# --- measures ---------------------------------------------------------------------------------------


def test_trustworthiness_is_that_of_scikit_learn(blobs):
    manifold = pytest.importorskip("sklearn.manifold")
    X, labels = blobs
    Y = iktsne.TSNE(**FEW).fit_transform(X)
    told = iktsne.evaluate(X, Y, labels, trust_k=7)
    assert told["trustworthiness (k 7)"] == pytest.approx(
        manifold.trustworthiness(X, Y, n_neighbors=7), abs=1e-6)
    metrics = pytest.importorskip("sklearn.metrics")
    scaled = (Y - Y.min(axis=0)) / (Y.max(axis=0) - Y.min(axis=0))
    assert told["Davies-Bouldin"] == pytest.approx(metrics.davies_bouldin_score(scaled, labels), rel=1e-4)


def test_measures_by_name(blobs):
    X, labels = blobs
    names = np.array(list("abcde"))[labels]
    assert list(iktsne.evaluate(X, X[:, :2], names, ["Trustworthiness"])) == ["trustworthiness (k 12)"]
    assert list(iktsne.evaluate(None, X[:, :2], names, "5-NN accuracy")) == ["5-NN accuracy"]
    with pytest.raises(ValueError, match=r"\[5, 10\]"):
        iktsne.evaluate(None, X[:, :2], names, ["5-NN accuracy", "10-NN accuracy"])
    assert "Davies-Bouldin" in iktsne.evaluate(None, X[:, :2], names, "clusters")
    with pytest.raises(ValueError, match="no measure"):
        iktsne.evaluate(X, X[:, :2], names, "trustwortiness")
    for number in ("n_neighbors", "trust_k", "exact_limit", "sample"):
        for wrong in (-1, 2.5, float("inf"), None, "many"):
            with pytest.raises(ValueError, match=f"{number}={wrong!r} is no whole number"):
                iktsne.evaluate(X, X[:, :2], names, **{number: wrong})
    with pytest.raises(ValueError, match="300 rows"):
        iktsne.evaluate(X, X[:10, :2])
    with pytest.raises(ValueError, match="5 labels"):
        iktsne.evaluate(X, X[:, :2], names[:5])
    told = iktsne.evaluate(X, X[:, :2], measures="trustworthiness")
    assert told == iktsne.evaluate(X.tolist(), X[:, :2].tolist(), measures="trustworthiness")


# --- pages ------------------------------------------------------------------------------------------


def test_a_page(blobs, tmp_path):
    X, labels = blobs
    Y = iktsne.TSNE(**FEW).fit_transform(X)
    page = iktsne.view(Y, color={"kind": np.array(["a<b", "c&d", "e", "f", "g"])[labels],
                                 "height": X[:, 0]}, title="Five & more")
    page.save(tmp_path / "map.html")
    text = (tmp_path / "map.html").read_text()
    assert text.startswith("<!DOCTYPE html>") and "Five &amp; more" in text and "height" in text
    shown = re.search(r'srcdoc="([^"]*)"', page._repr_html_()).group(1)
    assert html.unescape(shown) == text
    assert iktsne.view(Y, color=labels).page != iktsne.view(Y).page
    with pytest.raises(ValueError, match="10 values for 300 rows"):
        iktsne.view(Y, color=labels[:10])
    with pytest.raises(ValueError, match="for each row"):
        iktsne.view(Y, color=X[:, :2])
    with pytest.raises(ValueError, match="not fitted"):
        iktsne.view(iktsne.TSNE())
    half = iktsne.view(Y, color={"a\udc80": ["b\udc80", "c"] * 150}, title="d\udc80").page
    assert all(f"{letter}?" in half for letter in "abd")
    with pytest.raises(ValueError, match="height=0"):
        iktsne.view(Y, height=0)
    with pytest.raises(ValueError, match=r"one to three columns, not of shape \(300, 8\)"):
        iktsne.view(X)
    said = iktsne.view(Y, color=labels, hover={"said": [f"text of row {i}" for i in range(300)]})
    assert len(said.page) > len(iktsne.view(Y, color=labels).page) and "said" in said.page


def entries_of(page):
    """What the page says of its columns."""
    return json.loads(re.search(r'id="about">(.*?)</script>', page, re.DOTALL).group(1))["columns"]


def column_of(page, number):
    """A column's entry in the page, and its values in the order of the points, as the page holds them."""
    about = entries_of(page)[number]
    block = re.search(rf'id="column-{number}-0">([^<]*)</script>', page).group(1)
    raw = zlib.decompress(base64.b64decode(block), -15)
    if about["kind"] == "texts":
        return about, raw.decode().split("\0")[:-1]
    planes = np.frombuffer(raw, np.uint8).reshape(about["bytes"], -1)
    return about, planes.T.copy().view({1: np.uint8, 4: np.float32, 8: np.float64}[about["bytes"]])[:, 0]


def test_ids_keep_their_digits():
    random = np.random.default_rng(1)
    Y = random.normal(size=(50, 2))
    message = 1234567890123456789 + 7 * np.arange(50)
    unsigned = message.astype(np.uint64) + np.uint64(2**63)
    article = np.where(np.arange(50) == 4, np.nan, 30000001.0 + 7 * np.arange(50))
    page = iktsne.view(Y, color={"article": article, "message": message},
                       hover={"unsigned": unsigned, "small": 1000 + 7 * np.arange(50)}).page
    found = [column_of(page, number) for number in range(5)]
    assert [about["use"] for about, _ in found] == ["both", "untold", "hover", "hover", "hover"]
    assert found[0][1].dtype == np.float64
    assert np.array_equal(np.sort(found[0][1]), np.sort(article), equal_nan=True)
    for (_, texts), ids in zip(found[2:], (message, unsigned, 1000 + 7 * np.arange(50))):
        assert sorted(texts) == sorted(map(str, ids.tolist()))
    classes, _ = column_of(iktsne.view(Y, color=unsigned[:3].repeat(17)[:50]).page, 0)
    assert [entry[4] for entry in classes["classes"]] == [str(i) for i in unsigned[:3]]


def columns_of(*arguments, **named):
    return entries_of(iktsne.view(*arguments, **named).page)


def kinds_of(*arguments, **named):
    return [(c["kind"], len(c.get("classes", []))) for c in columns_of(*arguments, **named)]


def test_texts_are_classes_and_numbers_what_is_said(blobs):
    Y = blobs[0][:, :2]
    topic = np.arange(300) % 70
    texts = np.array([f"topic {number}" for number in topic])
    assert kinds_of(Y, color=texts) == [("classes", 70)]
    assert kinds_of(Y, color=topic) == [("numbers", 0)] == kinds_of(Y, color=topic % 9, color_as="numbers")
    assert kinds_of(Y, color=topic, color_as="classes") == [("classes", 70)]
    assert kinds_of(Y, color={"topic": topic, "also": topic}, color_as={"topic": "classes"}) == [
        ("classes", 70), ("numbers", 0)]
    for color, kind, words in ((texts, "numbers", "has texts"), (Y[:, 0], "classes", "not whole"),
                               (topic, "class", "none of auto, classes, numbers"),
                               (topic, {"other": "classes"}, "color has not")):
        with pytest.raises(ValueError, match=words):
            iktsne.view(Y, color=color, color_as=kind)
    many = [f"text {i}" for i in range(4097)]
    with pytest.warns(UserWarning, match="4097 different texts"):
        assert kinds_of(np.zeros((4097, 2)), color=many) == [("texts", 0)]
    assert kinds_of(np.zeros((4096, 2)), color=many[:4096]) == [("classes", 4096)]


def test_columns_with_missing_values(blobs):
    pandas = pytest.importorskip("pandas")
    Y = blobs[0][:, :2]
    assert kinds_of(Y, color=pandas.Series([1, None, 3] * 100, dtype="Int64")) == [("numbers", 0)]
    for texts in (["a", None, "b"] * 100, pandas.Categorical(["a", None, "b"] * 100),
                  np.ma.masked_array(["a", "c", "b"] * 100, mask=[0, 1, 0] * 100)):
        assert [entry[0] for entry in columns_of(Y, color=texts)[0]["classes"]] == [-1, 0, 1]
    assert kinds_of(Y, color=pandas.Categorical([None] * 300)) == [("classes", 1)]
    for numbers in (pandas.Series([1, None, 3] * 100, dtype="Int64"), np.array([1, np.nan, 3] * 100)):
        classes = columns_of(Y, color=numbers, color_as="classes")[0]["classes"]
        assert [entry[0] for entry in classes] == [-1, 1, 3]
    for values in (["a", "c", "b"], np.array(["a", "c", "b"], dtype=object), [b"a", b"c", b"b"],
                   np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="M8[D]")):
        masked = np.ma.masked_array(np.tile(values, 100), mask=[0, 1, 0] * 100)
        page = iktsne.view(Y, hover=masked).page
        assert sorted(set(column_of(page, 0)[1])) == ["", *sorted(
            value.decode() if isinstance(value, bytes) else str(value) for value in masked[[0, 2]])]
    with pytest.raises(ValueError, match="no rank gives any rows"):
        iktsne.view(np.empty((0, 2)), color=np.empty(0, dtype=int), color_as="numbers")


# --- names of other packages -------------------------------------------------------------------------


@pytest.mark.parametrize("call, words", [
    (lambda: iktsne.TSNE(n_iter=500), "TSNE has no argument 'n_iter': .*max_iter= for layout.iterations"),
    (lambda: iktsne.TSNE(theta=0.5), "settings={'layout.accuracy': ...}"),
    (lambda: iktsne.TSNE(distance="l2"), "metric= for preprocess.metric"),
    (lambda: iktsne.TSNE(learningrate=3), "learning_rate= for layout.learning_rate"),
    (lambda: iktsne.TSNE(perplexty=3), "did you mean 'perplexity'"),
    (lambda: iktsne.tl.tsne(SimpleNamespace(obsm={"X_pca": np.eye(5)}), neighbors_key="n"), "obsp="),
    (lambda: iktsne.view(np.eye(2), labels=[1, 2]), "color= of iktsne.view"),
    (lambda: iktsne.evaluate(None, np.eye(2), nothing=3), "it has X, Y, labels"),
])
def test_arguments_of_other_packages(call, words):
    with pytest.raises(TypeError, match=words):
        call()


# --- AnnData ----------------------------------------------------------------------------------------


class Data:
    """As much of an AnnData as is used, where anndata is not installed."""

    def __init__(self, X, obs, var):
        self.X, self.obs, self.var, self.raw = X, obs, var, None
        self.obsm, self.obsp, self.uns, self.layers = {}, {}, {}, {}
        self.n_vars, self.var_names, self.obs_names = X.shape[1], var.index, obs.index

    def copy(self):
        import copy

        return copy.deepcopy(self)

    def __getitem__(self, at):
        columns = at[1]
        part = Data(self.X[:, columns], self.obs, self.var[columns])
        part.raw, part.layers = self.raw, {name: X[:, columns] for name, X in self.layers.items()}
        return part


@pytest.fixture
def adata(blobs):
    pandas = pytest.importorskip("pandas")
    X, labels = blobs
    obs = pandas.DataFrame({"type": pandas.Categorical([f"T{c}" for c in labels])},
                           index=[f"cell {i}" for i in range(len(X))])
    genes = range(X.shape[1])
    var = pandas.DataFrame({"gene_symbols": [f"S{c}" for c in genes]}, index=[f"g{c}" for c in genes])
    try:
        import anndata

        return anndata.AnnData(X.copy(), obs=obs, var=var)
    except ImportError:
        return Data(X.copy(), obs, var)


def test_tl(adata, blobs):
    X = blobs[0]
    iktsne.tl.tsne(adata, **FEW)
    np.testing.assert_array_equal(adata.obsm["X_iktsne"], iktsne.TSNE(**FEW).fit_transform(X))
    assert adata.uns["iktsne"]["params"]["use_rep"] == "X" and adata.uns["iktsne"]["n_iter"] == 60
    adata.obsm["X_pca"] = X[:, :5].copy()
    iktsne.tl.tsne(adata, n_pcs=3, key_added="three", **FEW)
    np.testing.assert_array_equal(adata.obsm["three"],
                                  iktsne.TSNE(**FEW).fit_transform(X[:, :3].copy()))
    assert adata.uns["three"]["params"]["use_rep"] == "obsm/X_pca"
    other = iktsne.tl.tsne(adata, use_rep="X", key_added="again", copy=True, **FEW)
    assert "again" not in adata.obsm
    np.testing.assert_array_equal(other.obsm["again"], adata.obsm["X_iktsne"])
    with pytest.raises(KeyError, match="X_pca"):
        iktsne.tl.tsne(adata, use_rep="X_scvi")
    page = iktsne.view(adata)
    adata.uns["type_colors"] = ["#102030", "#405060", "#708090", "#a0b0c0", "#d0e0f0"]
    assert iktsne.view(adata).page != page.page
    assert iktsne.view(adata, color=["type", "g2"], basis="three").page != page.page
    with pytest.raises(KeyError, match="neither"):
        iktsne.view(adata, color="nothing")


def test_a_page_of_genes(adata):
    """As scanpy: of raw, where there is one, of a layer where it is named."""
    adata.raw = adata
    adata.layers["tenfold"] = 10 * adata.X
    few = adata[:, slice(3)].copy()
    few.obsm["X_umap"] = adata.X[:, :2]
    largest = lambda **named: float(columns_of(few, **named)[0]["largest"])
    of = {c: float(adata.X[:, c].max()) for c in (1, 7)}
    assert largest(color="g7") == largest(color="S7") == pytest.approx(of[7])
    assert largest(color="g1", layer="tenfold") == pytest.approx(10 * of[1])
    few.X = few.X - 100
    assert largest(color="g1") == pytest.approx(of[1])
    assert largest(color="g1", use_raw=False) == pytest.approx(of[1] - 100, rel=1e-5)
    for named in ({"use_raw": False}, {"layer": "tenfold"}):
        with pytest.raises(KeyError, match="'g7' is neither"):
            iktsne.view(few, color="g7", **named)
    with pytest.raises(KeyError, match="layers has no 'other': tenfold"):
        iktsne.view(few, color="g1", layer="other")
    with pytest.raises(ValueError, match="of an AnnData"):
        iktsne.view(few.obsm["X_umap"], layer="tenfold")
    own = np.arange(300) % 3
    shown = columns_of(few, color={"own": own}, hover=["obs_names", "type"])
    assert [(c["name"], c["kind"], c["use"]) for c in shown] == [
        ("own", "classes", "both"), ("obs_names", "texts", "hover"), ("type", "classes", "hover")]
    assert kinds_of(few, color=own, hover="obs_names") == [("classes", 3), ("texts", 0)]


def test_tl_with_a_layer(adata, blobs):
    adata.layers["half"] = blobs[0] / 2
    iktsne.tl.tsne(adata, layer="half", **FEW)
    np.testing.assert_array_equal(adata.obsm["X_iktsne"], iktsne.TSNE(**FEW).fit_transform(blobs[0] / 2))
    assert adata.uns["iktsne"]["params"]["use_rep"] == "layers/half"
    with pytest.raises(KeyError, match="layers has no 'whole'"):
        iktsne.tl.tsne(adata, layer="whole")
    with pytest.raises(ValueError, match="leave one of them out"):
        iktsne.tl.tsne(adata, layer="half", use_rep="X_pca")


def test_tl_with_a_graph(adata, blobs):
    sparse = pytest.importorskip("scipy.sparse")
    X = blobs[0].astype(np.float64)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    W = np.where(D < 4, np.exp(-D), 0)
    np.fill_diagonal(W, 0)
    W[np.arange(300), np.argsort(D, axis=1)[:, 1]] = 0.5
    adata.obsp["connectivities"] = sparse.csr_matrix(W)
    iktsne.tl.tsne(adata, obsp="connectivities", **FEW)
    assert adata.obsm["X_iktsne"].shape == (300, 2)
    assert "values: similarities" in adata.uns["iktsne"]["configuration"]
    of_graph = adata.obsm["X_iktsne"]
    adata.obsp["dense"], adata.obsp["distances"] = W, D
    iktsne.tl.tsne(adata, obsp="dense", key_added="dense", **FEW)
    np.testing.assert_array_equal(adata.obsm["dense"], of_graph)
    iktsne.tl.tsne(adata, obsp="distances", key_added="all", **FEW)
    np.testing.assert_array_equal(adata.obsm["all"],
                                  iktsne.TSNE(metric="precomputed", **FEW).fit_transform(D))
    for ignored in ({"n_pcs": 3}, {"use_rep": "X"}, {"metric": "cosine"}):
        with pytest.raises(ValueError, match="in place of rows"):
            iktsne.tl.tsne(adata, obsp="dense", **ignored, **FEW)


# --- distributed rows -------------------------------------------------------------------------------


def test_distributed_rows(blobs, tmp_path, run_ranks):
    np.save(tmp_path / "rows.npy", blobs[0])
    script = """
from mpi4py import MPI
import numpy as np, iktsne
comm = MPI.COMM_WORLD
own = np.array_split(np.load("rows.npy"), comm.size)[comm.rank]
def see(iteration, error, Y):
    assert Y.shape == (len(own), 2)
model = iktsne.TSNE(max_iter=60, early_exaggeration_iter=20, comm=comm, n_jobs=1, callbacks=see,
                    settings={"output.model": "model.h5"})
Y = model.fit(own).embedding_
told = iktsne.evaluate(own, Y, measures="trustworthiness", comm=comm)
placed = comm.gather(model.transform(own + np.float32(1e-3)))
whole = comm.gather(Y)
if comm.rank == 0:
    np.save("map.npy", np.concatenate(whole))
    np.save("near.npy", np.concatenate(placed))
    print(told["trustworthiness (k 12)"])
"""
    out = run_ranks(3, script)
    alone = iktsne.TSNE(**FEW).fit(blobs[0])
    told = iktsne.evaluate(blobs[0], alone.embedding_, measures="trustworthiness")
    assert float(out) == told["trustworthiness (k 12)"]
    np.testing.assert_array_equal(np.load(tmp_path / "map.npy"), alone.embedding_)
    np.testing.assert_array_equal(np.load(tmp_path / "near.npy"),
                                  alone.transform(blobs[0] + np.float32(1e-3)))


def test_ranks_are_started_from_a_process_that_uses_iktsne(blobs):
    """MPI that was begun here leaves nothing in the environment that mpirun would stumble over."""
    launcher = os.environ.get("IKT_MPIRUN", "mpirun -n").split()
    if not shutil.which(launcher[0]):
        pytest.skip("there is no mpirun")
    script = """
import subprocess, sys
import numpy as np, iktsne
iktsne.view(np.eye(3))
out = subprocess.run(sys.argv[1:] + ["2", "echo", "here"], capture_output=True, text=True)
print(out.stdout.split(), out.stderr)
"""
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    out = subprocess.run([sys.executable, "-c", script, *launcher], env=environment, capture_output=True,
                         text=True, timeout=60)
    assert out.stdout.split("]")[0] == "['here', 'here'", out.stdout + out.stderr


def test_what_one_rank_refuses_all_refuse(run_ranks):
    """Where one rank raised alone, the others would wait for it; and a rank may have no rows."""
    script = """
from mpi4py import MPI
import numpy as np, iktsne
comm = MPI.COMM_WORLD
own = np.random.default_rng(comm.rank).normal(size=(100 if comm.rank < 2 else 0, 4))
make = lambda **more: iktsne.TSNE(max_iter=20, early_exaggeration_iter=10, comm=comm, n_jobs=1, **more)
bad = own.copy()
if comm.rank == 1:
    bad[3, 2] = np.nan
told = []
short = own[: -1 if comm.rank == 0 else None, :2]
for attempt in (lambda: make().fit(bad), lambda: iktsne.evaluate(own, short, comm=comm)):
    try:
        attempt()
    except ValueError as error:
        told.append(str(error))
model = make(random_state=None).fit(own)  # one seed of all ranks
assert model.embedding_.shape == (len(own), 2)
assert len(set(comm.allgather(model.hash_))) == 1
y = np.arange(len(own)) - 5.0  # classes, but for those of one rank
if comm.rank == 1:
    y[3] = np.nan
assert make().fit(own, y).hash_ == make().fit(own).hash_
told = comm.gather(told)
if comm.rank == 0:
    print(all(len(t) == 2 for t in told), "rank 1 of comm" in told[0][0], "NaN" in told[2][0],
          "rank 0 of comm" in told[1][1])
"""
    assert run_ranks(3, script).split() == ["True"] * 4


def test_classes_of_all_ranks(run_ranks):
    """A rank knows its own classes alone; one name is one class on all, whatever each rank has."""
    script = """
from mpi4py import MPI
import numpy as np, iktsne
comm = MPI.COMM_WORLD
rows, number = np.random.default_rng(1).normal(size=(150, 2)), np.arange(150) // 30
of_ranks = [slice(0, 50), slice(50, 150), slice(150, 150)]
own = of_ranks[comm.rank]
told = []
for texts in (number, np.array(["10", "5", "x", "y", "z"])[number]):
    told.append(iktsne.evaluate(None, rows[own], texts[own], comm=comm))
names = np.array(["7", "8", "x", "y", "z"])
mixed = 7 + number[own] if comm.rank == 0 else names[number][own]  # numbers here, texts there
told.append(iktsne.evaluate(None, rows[own], mixed, comm=comm))
if comm.rank == 0:
    print(told[0] == told[1] != {}, told[0] == told[2])
"""
    assert run_ranks(3, script).split() == ["True", "True"]


def test_a_decimal_comma_changes_nothing(blobs, tmp_path):
    """A host's locale (Qt, GTK, R) neither reaches what the library reads nor what it writes."""
    script = """
import hashlib, locale, sys
import numpy as np, iktsne
locale.setlocale(locale.LC_ALL, sys.argv[1])
X, labels = np.load("X.npy"), np.load("labels.npy")
model = iktsne.TSNE(max_iter=40, early_exaggeration_iter=10, early_exaggeration=3.5, random_state=1).fit(X)
told = iktsne.evaluate(X, model.embedding_, labels)
page = iktsne.view(model.embedding_, color=X[:, 0], hover={"a number": X[:, 1]}).page
print(model.hash_, told, hashlib.sha256(page.encode()).hexdigest())
print(locale.localeconv()["decimal_point"], file=sys.stderr)
"""
    names = ["C", "de_DE.UTF-8"]
    environment = dict(os.environ)
    if shutil.which("localedef"):
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / names[1]], capture_output=True)
        if (tmp_path / names[1]).exists():
            environment["LOCPATH"] = str(tmp_path)
    np.save(tmp_path / "X.npy", blobs[0])
    np.save(tmp_path / "labels.npy", blobs[1])
    out = [subprocess.run([sys.executable, "-c", script, name], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, timeout=120) for name in names]
    if "unsupported locale" in out[1].stderr:
        pytest.skip("no locale de_DE.UTF-8, and localedef makes none (package locales)")
    assert out[1].stderr.strip() == ","
    assert out[1].stdout == out[0].stdout != ""


# --- the guide --------------------------------------------------------------------------------------


def test_the_guide_runs(tmp_path, monkeypatch):
    """Every block of python of docs/python-guide.md, one after the other."""
    source = Path(os.environ.get("IKT_SOURCE", Path(__file__).parents[2]))
    for needed in ("scipy", "sklearn"):
        pytest.importorskip(needed)
    blocks = re.findall(r"^```python\n(.*?)^```", (source / "docs/python-guide.md").read_text(),
                        re.MULTILINE | re.DOTALL)
    assert len(blocks) > 5
    monkeypatch.chdir(tmp_path)
    space = {}
    for block in blocks:
        exec(compile(block, "docs/python-guide.md", "exec"), space)
    assert (tmp_path / "map.html").exists()
