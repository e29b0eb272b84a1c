"""The same bits as the program gives for the same numbers in files."""

import json

import numpy as np
import pytest

import iktsne

h5py = pytest.importorskip("h5py")
sparse = pytest.importorskip("scipy.sparse")

FEW = {"max_iter": 60, "early_exaggeration_iter": 20}
FEW_KEYS = ["layout.iterations=60", "layout.exaggeration_iterations=20"]


def embed(program, tmp_path, *arguments):
    told = program("embed", *arguments, *FEW_KEYS, "run.threads=2", "--json")
    hash = int(json.loads(told[told.index("{"):])["hash"], 16)
    (result,) = tmp_path.glob("*.embedding.h5")
    with h5py.File(result) as file:
        return file["embedding"][:], hash


def same(fitted, expected):
    positions, hash = expected
    np.testing.assert_array_equal(fitted.embedding_, positions)
    assert fitted.hash_ == hash


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_rows(program, tmp_path, blobs, dtype):
    X = blobs[0]
    X = (10 * (X - X.min())).clip(0, 255).astype(dtype) if dtype == "uint8" else X.astype(dtype)
    np.save(tmp_path / "rows.npy", X)
    same(iktsne.TSNE(**FEW).fit(X), embed(program, tmp_path, "rows.npy"))


@pytest.mark.parametrize("metric", ["cosine", "correlation", "manhattan"])
def test_metrics(program, tmp_path, blobs, metric):
    np.save(tmp_path / "rows.npy", blobs[0])
    fitted = iktsne.TSNE(metric=metric, **FEW).fit(blobs[0])
    same(fitted, embed(program, tmp_path, "rows.npy", f"preprocess.metric={metric}"))
    assert fitted.hash_ != iktsne.TSNE(**FEW).fit(blobs[0]).hash_


@pytest.mark.parametrize("name, key", [("dof", "layout.degrees_of_freedom"),
                                       ("exaggeration", "layout.final_exaggeration")])
def test_tails_and_late_exaggeration(program, tmp_path, blobs, name, key):
    np.save(tmp_path / "rows.npy", blobs[0])
    fitted = iktsne.TSNE(**{name: 2.0}, **FEW).fit(blobs[0])
    same(fitted, embed(program, tmp_path, "rows.npy", f"{key}=2"))
    assert fitted.hash_ != iktsne.TSNE(**FEW).fit(blobs[0]).hash_


def write_csr(group, S):
    group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", S.shape
    group["data"], group["indices"], group["indptr"] = S.data, S.indices, S.indptr


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_sparse_rows(program, tmp_path, index):
    S = sparse.random(300, 80, 0.1, format="csr", random_state=1, dtype=np.float32)
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        write_csr(file.create_group("X"), S)
    S.indptr, S.indices = S.indptr.astype(index), S.indices.astype(index)
    same(iktsne.TSNE(**FEW).fit(S), embed(program, tmp_path, "rows.h5"))


def distances(X):
    return np.sqrt(((X[:, None].astype(np.float64) - X[None]) ** 2).sum(axis=2))


def test_all_pairs(program, tmp_path, blobs):
    D = distances(blobs[0])
    np.save(tmp_path / "distances.npy", D)
    expected = embed(program, tmp_path, "distances.npy", "preprocess.metric=precomputed",
                     "output.file=d.embedding.h5")
    same(iktsne.TSNE(metric="precomputed", **FEW).fit(D), expected)


def test_graph_of_distances(program, tmp_path, blobs):
    D = distances(blobs[0])
    near = np.argsort(D, axis=1)[:, 1:61]
    begin = np.arange(0, 60 * len(D) + 1, 60)
    G = sparse.csr_matrix((np.take_along_axis(D, near, 1).ravel(), near.ravel(), begin), D.shape)
    with h5py.File(tmp_path / "graph.h5", "w") as file:
        write_csr(file.create_group("obsp/distances"), G)
    expected = embed(program, tmp_path, "input.graph=graph.h5:obsp/distances",
                     "gaussian.perplexity=15", "output.file=d.embedding.h5")
    same(iktsne.TSNE(metric="precomputed", perplexity=15, **FEW).fit(G), expected)


@pytest.mark.parametrize("scale", [None, 0])
def test_starting_positions(program, tmp_path, blobs, scale):
    X = blobs[0]
    Y = np.random.default_rng(5).normal(size=(len(X), 2)).astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "start.npy", Y)
    keys = [] if scale is None else ["layout.init_scale=0"]
    expected = embed(program, tmp_path, "rows.npy", "layout.init=file", "layout.init_file=start.npy",
                     *keys)
    settings = None if scale is None else {"layout.init_scale": 0}
    same(iktsne.TSNE(init=Y, settings=settings, **FEW).fit(X), expected)


def test_new_rows(program, tmp_path, blobs):
    X, new = blobs[0], blobs[0][::7] + np.float32(0.01)
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "new.npy", new)
    embed(program, tmp_path, "rows.npy", "output.model=model.h5")
    program("transform", "model.h5", "new.npy", "placed.h5")
    with h5py.File(tmp_path / "placed.h5") as file:
        expected = file["embedding"][:]
        columns = {name: file["diagnostics"][name][:] for name in file["diagnostics"]}
    fitted = iktsne.TSNE(**FEW).fit(X)
    placed = fitted.place(new)
    assert set(placed) == {"positions", "similarities", "nearest", "divergences", "distances", "is_far"}
    np.testing.assert_array_equal(placed["positions"], expected)
    np.testing.assert_array_equal(placed["distances"], columns["distance"])
    np.testing.assert_array_equal(placed["is_far"], columns["is_far"])
    assert fitted.place(new + np.float32(1e3))["is_far"].all()
    np.testing.assert_array_equal(fitted.transform(new), expected)
    np.testing.assert_array_equal(fitted.transform(new[3:5]), expected[3:5])


def test_the_configuration_is_one_of_the_program(program, tmp_path, blobs):
    X = blobs[0]
    fitted = iktsne.TSNE(random_state=4, **FEW).fit(X)
    np.save(tmp_path / "rows.npy", X)
    (tmp_path / "run.yaml").write_text(fitted.configuration_)
    same(fitted, embed(program, tmp_path, "run.yaml", "input.file=rows.npy",
                       "output.file=d.embedding.h5"))


def test_settings_are_those_of_the_program(program):
    help = program("embed", "--help")
    for key, entry in iktsne.settings().items():
        assert key.split(".")[1] in help
        assert entry["type"] in ("int", "real", "bool", "text", "choice")
        assert (entry["choices"] is not None) == (entry["type"] == "choice")
