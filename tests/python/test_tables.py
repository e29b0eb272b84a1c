"""Tables of pandas, pyarrow and polars: columns of vectors or of numbers, with labels beside them."""

import numpy as np
import pytest

import iktsne
from iktsne import _data

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

N, D = 60, 5
X = np.random.default_rng(3).normal(size=(N, D)).astype("f4")
KIND = [("wolf", "ant", "b\u00e4r")[i % 3] for i in range(N)]
B = np.arange(N) * 7 % 17
FEW = {"layout.iterations": 6, "layout.exaggeration_iterations": 3}


def pandas(form):
    vectors = {"list": X.tolist(), "fixed": list(X), "arrow": pd.arrays.ArrowExtensionArray(pa.array(list(X)))}
    return pd.DataFrame({"id": 10**18 + np.arange(N), "kind": pd.Categorical(KIND), "e": vectors[form],
                         "a": X[:, 0], "b": B})


def arrow(form):
    values = pa.array(X.ravel())
    vectors = (pa.FixedSizeListArray.from_arrays(values, D) if form == "fixed" else
               pa.ListArray.from_arrays(pa.array(np.arange(0, N * D + 1, D, dtype="i4")), values))
    table = pa.table({"id": 10**18 + np.arange(N), "kind": pa.array(KIND).dictionary_encode(), "e": vectors,
                      "a": X[:, 0], "b": B})
    return pa.concat_tables([table[:17], table[17:]])


def polars(form):
    pl = pytest.importorskip("polars")
    kind = pl.Array(pl.Float32, D) if form == "fixed" else pl.List(pl.Float32)
    return pl.DataFrame({"id": 10**18 + np.arange(N), "kind": pl.Series(KIND, dtype=pl.Categorical),
                         "e": pl.Series(X.tolist(), dtype=kind), "a": X[:, 0], "b": B})


TABLES = [(make, form) for make in (pandas, arrow, polars) for form in ("list", "fixed")] + [(pandas, "arrow")]


def tsne(**parameters):
    return iktsne.TSNE(psi=8, t=20, settings=FEW, **parameters)


@pytest.mark.parametrize("make, form", TABLES)
def test_a_column_of_vectors(make, form):
    """The map is that of the matrix: by the column's name, by the column itself, and for new rows."""
    table, wanted = make(form), tsne().fit(X.astype("f8") if (make, form) == (pandas, "list") else X)
    model = tsne().fit(table, column="e")
    np.testing.assert_array_equal(model.embedding_, wanted.embedding_)
    assert model.n_features_in_ == D
    np.testing.assert_array_equal(tsne().fit_transform(table["e"]), wanted.embedding_)
    new = X[:7] + np.float32(.1)
    rows = {"e": list(new)}
    other = pd.DataFrame(rows) if make is pandas else pa.table(rows) if make is arrow else type(table)(rows)
    np.testing.assert_array_equal(model.transform(other), wanted.transform(new))
    np.testing.assert_array_equal(model.transform(new), wanted.transform(new))
    found = iktsne.evaluate(table["e"], model.embedding_, table["kind"], "clusters")
    assert found == iktsne.evaluate(X, model.embedding_, KIND, "clusters")


@pytest.mark.parametrize("make, form", TABLES)
def test_several_columns(make, form):
    table = make(form)
    both = np.column_stack([X[:, :1], B])
    model = tsne().fit(table, column=["a", "b"])
    np.testing.assert_array_equal(model.embedding_, tsne().fit_transform(both))
    np.testing.assert_array_equal(model.transform(table), model.embedding_)  # whatever else it has
    wide = tsne().fit(table, column=["e", "a"])
    assert wide.n_features_in_ == D + 1
    np.testing.assert_array_equal(wide.embedding_, tsne().fit_transform(np.column_stack([X, X[:, 0]])))


@pytest.mark.parametrize("make, form", TABLES)
def test_labels_and_hover(make, form):
    """Labels by the name of their column are those of the array; the page has the texts and whole ids."""
    table = make(form)
    settings = {**FEW, "affinity.kind": "fisher"}
    model = iktsne.TSNE(settings=settings).fit(table, "kind", column="e")
    wanted = iktsne.TSNE(settings=settings).fit(np.array(table["e"].to_list() if make is polars else list(X), "f4")
                                                if (make, form) != (pandas, "list") else X.astype("f8"), KIND)
    np.testing.assert_array_equal(model.embedding_, wanted.embedding_)
    hover = table.select(["id"]) if make is not pandas else table[["id"]]
    page = iktsne.view(model, color={"kind": table["kind"]}, hover=hover).page
    plain = iktsne.view(model, color={"kind": KIND}, hover={"id": 10**18 + np.arange(N)}).page
    assert page == plain and "wolf" in page


@pytest.mark.parametrize("make", [pandas, arrow, polars])
def test_labels_that_are_named_are_not_embedded(make):
    """Of a table whose labels are named the other columns are embedded, of texts and of numbers; transform takes
    the same ones, whether the labels are there or not."""
    rows = {f"x{c}": X[:, c] for c in range(D)}
    kinds = {"kind": KIND, "number": 1000 * (np.arange(N) % 3)}
    wanted = tsne().fit(X)
    for name, labels in kinds.items():
        columns = {"x0": rows["x0"], name: labels, **rows}  # somewhere between the others
        table = pd.DataFrame(columns) if make is pandas else (
            pa.table(columns) if make is arrow else pytest.importorskip("polars").DataFrame(columns))
        model = tsne().fit(table, name)
        np.testing.assert_array_equal(model.embedding_, wanted.embedding_)
        assert model.column_ == list(rows) and model.n_features_in_ == D
        np.testing.assert_array_equal(model.transform(table), wanted.embedding_)
        other = table[list(rows)] if make is pandas else table.select(list(rows))
        np.testing.assert_array_equal(model.transform(other), wanted.embedding_)
    chosen = tsne().fit(table, "number", column=["x0", "number"])  # who names columns gets these
    np.testing.assert_array_equal(chosen.embedding_, tsne().fit_transform(table[["x0", "number"]] if make is not arrow
                                                                          else table.select(["x0", "number"])))


class Ranks:
    """As much of a communicator as alike_rows needs: each rank's part, in turn."""

    def __init__(self, parts):
        self.told = [None if part is None else (part.shape, part.dtype) for part in parts]

    def allgather(self, own):
        assert own in self.told
        return self.told


@pytest.mark.parametrize("types, wanted", [(["f4", "f4"], "f4"), (["u1", "f4"], "f4"), (["u1", "u1"], "u1"),
                                           (["f4", "f8"], "f8")])
def test_rows_of_ranks_are_of_one_type(types, wanted):
    """As one array they would be; a rank without rows, first or last, has the columns and the type of the others."""
    full = [(10 * X[:9]).round().clip(0, 9).astype(kind) for kind in types]
    for parts in ([np.empty((0, 1)), *full], [*full, np.empty(0)], [full[0], np.empty((0, 1), "u1"), full[1]]):
        made = [_data.alike_rows(part, Ranks(parts)) for part in parts]
        assert [one.dtype for one in made] == [wanted] * 3
        assert [one.shape for one in made] == [(9, D) if len(part) else (0, D) for part in parts]
        np.testing.assert_array_equal(np.concatenate(made), np.concatenate(full))
        assert all(one is part for one, part in zip(made, parts) if len(part) and part.dtype == wanted)
    nothing = [np.empty((0, 1)), None]
    assert [_data.alike_rows(part, Ranks(nothing)) for part in nothing] == nothing
    assert _data.alike_rows(full[0], None) is full[0]


def test_a_rank_without_rows(tmp_path, run_ranks):
    """Of a column of lists it has not the length: map, new rows and measures are those of one process."""
    script = """
from mpi4py import MPI
import numpy as np, pandas as pd, pyarrow as pa, iktsne
comm = MPI.COMM_WORLD
X = np.load("rows.npy")
ends = [0, 0, 25, 60] if comm.size == 3 else [0, 60, 60]
own = slice(*ends[comm.rank:comm.rank + 2])
settings = {"layout.iterations": 6, "layout.exaggeration_iterations": 3, "output.model": "model.h5",
            "output.overwrite": True}
columns = {"e": list(X), "k": np.arange(60) % 3}
for table in (pa.table(columns)[own], pd.DataFrame(columns).iloc[own]):
    for how in ({"X": table, "column": "e"}, {"X": table["e"]}):
        model = iktsne.TSNE(psi=8, t=20, n_jobs=1, comm=comm, settings=settings).fit(**how)
        new = comm.gather(model.transform(how["X"]))
        told = iktsne.evaluate(table["e"], model.embedding_, table["k"], "clusters", comm=comm)
        if comm.rank == 0:
            np.save("new.npy", np.concatenate(new))
            print(model.hash_, model.n_features_in_, sorted(told.items()))
"""
    np.save(tmp_path / "rows.npy", X)
    wanted = tsne().fit(X)
    told = sorted(iktsne.evaluate(X, wanted.embedding_, np.arange(N) % 3, "clusters").items())
    for count in (2, 3):
        assert run_ranks(count, script) == 4 * f"{wanted.hash_} {D} {told!r}\n"
        np.testing.assert_array_equal(np.load(tmp_path / "new.npy"), wanted.place(X)["positions"])


def test_whole_numbers_that_lack_one():
    """Ids stay whole where one is missing, which numbers in doubles would not."""
    ids = [10**18 + 1, None] * (N // 2)
    page = iktsne.view(X[:, :2], hover=pa.table({"id": ids})).page
    assert page == iktsne.view(X[:, :2], hover={"id": np.array(ids, dtype=object)}).page


TEXT = pa.table({"e": [str(v.tolist()) for v in X], "k": KIND})


@pytest.mark.parametrize("table, how, words", [
    (arrow("list"), {}, r"vectors in its column 'e'.*fit\(X, column='e'\)"),
    (pandas("list")[["e", "a"]], {}, r"vectors in its column 'e'.*column='e'"),
    (arrow("list"), {"column": "x"}, "no column 'x'; it has id, kind, e, a, b"),
    (arrow("list"), {"column": "kind"}, "column 'kind' of X has to be of numbers"),
    (arrow("list"), {"column": []}, "names no column"),
    (arrow("list"), {"column": "id"}, "column 'id' of X, row 0.* beyond 2.53"),
    (X, {"column": "e"}, "X is no table"),
    (X, {"y": "kind"}, "X is no table"),
    (pa.table({"k": np.arange(N)}), {"y": "k"}, "no column but the labels 'k'"),
    (pandas("list")[["kind", "e", "a"]], {"y": "kind"}, r"vectors in its column 'e'.*column='e'"),
    (TEXT, {"column": "e"}, "vectors as texts: .*json.loads"),
    (pa.table({"e": [[1., 2.], [3.], [4., 5.]]}), {"column": "e"}, "row 1 .* 1 numbers, where others have 2"),
    (pa.table({"e": [[1., 2.], None, [4., 5.]]}), {"column": "e"}, "row 1 .* the vector is missing"),
    (pa.table({"e": [[1., 2.], [3., None], [4., 5.]]}), {"column": "e"}, "X, row 1, column 1 is NaN"),
    (pd.DataFrame([[1., 2.]] * 3, columns=["a", "a"]), {"column": "a"}, "2 columns 'a': rename")])
def test_refused(table, how, words):
    with pytest.raises(ValueError, match=words):
        tsne().fit(table, **how)


def test_lazy_frame():
    pl = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="collect"):
        tsne().fit(pl.DataFrame({"a": X[:, 0]}).lazy())


def test_clone_and_names():
    """A table of numbers alone names its columns, as a data frame does; column is of the fit, not of the estimator."""
    model = tsne().fit(pd.DataFrame(X, columns=list("abcde")))
    assert model.feature_names_in_.tolist() == list("abcde") and model.column_ is None
    assert tsne().fit(arrow("list"), column=["b", "a"]).column_ == ["b", "a"]
