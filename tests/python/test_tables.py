"""Tables of pandas, pyarrow and polars: columns of vectors or of numbers, with labels beside them."""

import numpy as np
import pytest

import iktsne

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
