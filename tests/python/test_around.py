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
    said = iktsne.view(Y, color=labels, hover={"said": [f"text of row {i}" for i in range(300)]})
    assert len(said.page) > len(iktsne.view(Y, color=labels).page) and "said" in said.page


def column_of(page, number):
    """A column's entry in the page, and its values in the order of the points, as the page holds them."""
    about = json.loads(re.search(r'id="about">(.*?)</script>', page, re.DOTALL).group(1))["columns"][number]
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


# --- AnnData ----------------------------------------------------------------------------------------


class Data:
    """As much of an AnnData as is used, where anndata is not installed."""

    def __init__(self, X, obs):
        self.X, self.obs, self.obsm, self.obsp, self.uns = X, obs, {}, {}, {}
        self.n_vars = X.shape[1]
        self.var_names = [f"g{c}" for c in range(X.shape[1])]

    def copy(self):
        import copy

        return copy.deepcopy(self)

    def __getitem__(self, at):
        return Data(self.X[:, [self.var_names.index(at[1])]], self.obs)


@pytest.fixture
def adata(blobs):
    pandas = pytest.importorskip("pandas")
    X, labels = blobs
    obs = pandas.DataFrame({"type": pandas.Categorical([f"T{c}" for c in labels])})
    try:
        import anndata

        obs.index = obs.index.astype(str)
        var = pandas.DataFrame(index=[f"g{c}" for c in range(X.shape[1])])
        return anndata.AnnData(X.copy(), obs=obs, var=var)
    except ImportError:
        return Data(X.copy(), obs)


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


def test_distributed_rows(blobs, tmp_path):
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
    out = run_ranks(3, script, tmp_path)
    alone = iktsne.TSNE(**FEW).fit(blobs[0])
    told = iktsne.evaluate(blobs[0], alone.embedding_, measures="trustworthiness")
    assert float(out) == told["trustworthiness (k 12)"]
    np.testing.assert_array_equal(np.load(tmp_path / "map.npy"), alone.embedding_)
    np.testing.assert_array_equal(np.load(tmp_path / "near.npy"),
                                  alone.transform(blobs[0] + np.float32(1e-3)))


def run_ranks(count, script, folder):
    pytest.importorskip("mpi4py")
    launcher = os.environ.get("IKT_MPIRUN", "mpirun -n").split()
    if not shutil.which(launcher[0]):
        pytest.skip("there is no mpirun")
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    out = subprocess.run([*launcher, str(count), sys.executable, "-c", script], cwd=folder,
                         env=environment, capture_output=True, text=True, timeout=120)
    assert out.returncode == 0, out.stderr
    return out.stdout


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


def test_what_one_rank_refuses_all_refuse(tmp_path):
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
told = comm.gather(told)
if comm.rank == 0:
    print(all(len(t) == 2 for t in told), "rank 1 of comm" in told[0][0], "NaN" in told[2][0],
          "rank 0 of comm" in told[1][1])
"""
    assert run_ranks(3, script, tmp_path).split() == ["True"] * 4


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
