"""Tables of Parquet, Arrow and Feather become what the program reads."""

import re
import subprocess
import sys

import numpy as np
import pytest

from iktsne._convert import main

h5py = pytest.importorskip("h5py")
pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

N, D = 200, 6
X = np.random.default_rng(3).normal(size=(N, D))
KINDS = [("wolf", "ant", "b\u00e4r")[i % 3] for i in range(N)]


def table(kind, dtype="f4"):
    values = pa.array(X.astype(dtype).ravel())
    vectors = (pa.FixedSizeListArray.from_arrays(values, D) if kind == "fixed" else
               pa.ListArray.from_arrays(pa.array(np.arange(0, N * D + 1, D, dtype="i4")), values))
    return pa.table({"id": 10**18 + np.arange(N), "text": KINDS, "embedding": vectors, "score": X[:, 0]})


def write(data, path):
    if path.suffix == ".parquet":
        parquet.write_table(data, path, row_group_size=37)
    elif path.suffix == ".feather":
        feather.write_feather(data, path, chunksize=50)
    else:
        with pa.ipc.new_stream(path, data.schema) as stream:
            stream.write_table(data, max_chunksize=41)


@pytest.mark.parametrize("ending", ["parquet", "feather", "arrows"])
@pytest.mark.parametrize("kind", ["fixed", "list"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_vectors(tmp_path, ending, kind, dtype):
    if ending == "parquet" and dtype == "f2" and int(pa.__version__.split(".")[0]) < 15:
        pytest.skip("no float16 in Parquet")
    write(table(kind, dtype), tmp_path / f"t.{ending}")
    assert main(["convert", str(tmp_path / f"t.{ending}"), str(tmp_path / "t.h5")]) == 0
    with h5py.File(tmp_path / "t.h5") as file:
        assert file["X"].dtype == dtype
        np.testing.assert_array_equal(file["X"][:], X.astype(dtype))
        np.testing.assert_array_equal(file["columns/id"][:], 10**18 + np.arange(N))
        np.testing.assert_array_equal(file["columns/score"][:], X[:, 0])
        assert file["columns/text"].asstr()[:].tolist() == KINDS


def test_named_and_plain_columns(tmp_path):
    write(table("list"), tmp_path / "t.parquet")
    assert main(["convert", str(tmp_path / "t.parquet"), str(tmp_path / "t.h5"), "--column", "embedding,score"]) == 0
    with h5py.File(tmp_path / "t.h5") as file:
        np.testing.assert_array_equal(file["X"][:], np.hstack([X.astype("f4"), X[:, :1]]))
    write(pa.table({"a": [1, None, 3], "k": ["x", None, "z"], "b": [True, False, True]}), tmp_path / "u.parquet")
    assert main(["convert", str(tmp_path / "u.parquet"), str(tmp_path / "u.h5")]) == 0
    with h5py.File(tmp_path / "u.h5") as file:
        np.testing.assert_array_equal(file["X"][:], [[1, 1], [np.nan, 0], [3, 1]])
        assert file["columns/k"].asstr()[:].tolist() == ["x", "", "z"]


def test_name_of_another_format(tmp_path, capsys):
    write(pa.table({"v": [[1.0, 2.0]]}), tmp_path / "t.parquet")
    assert main(["convert", str(tmp_path / "t.parquet"), str(tmp_path / "t.NPY")]) == 2
    assert re.search(r"is an HDF5 file, .*: name it .*t\.h5\n$", capsys.readouterr().err)
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


@pytest.mark.parametrize("data, words", [
    ({"v": [[1.0, 2.0], [3.0]]}, "row 1 .* 1 numbers, where others have 2"),
    ({"v": [[1.0, 2.0], None]}, "row 1 .* the vector is missing"),
    ({"v": [[1.0]], "w": [[2.0]]}, "several columns: v, w"),
    ({"k": ["x"]}, "no column of numbers or vectors"),
    ({"v": [[1.0]], "a/b": [1], "a_b": [2]}, "'a/b' and 'a_b' would both be columns/a_b")])
def test_refused(tmp_path, capsys, data, words):
    write(pa.table(data), tmp_path / "t.parquet")
    assert main(["convert", str(tmp_path / "t.parquet"), str(tmp_path / "t.h5")]) == 3
    assert re.search(words, capsys.readouterr().err)
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def late(first, second):
    """A table of two batches: vectors, and the column `a`."""
    count = len(first) + len(second)
    vectors = np.arange(2.0 * count).reshape(-1, 2).tolist()
    a = pa.chunked_array([first, second])
    return pa.table({"v": pa.chunked_array([vectors[:len(first)], vectors[len(first):]]), "a": a})


def write_batches(data, path):
    with pa.ipc.new_stream(path, data.schema) as stream:
        stream.write_table(data)


@pytest.mark.parametrize("first, second, wanted", [
    (pa.array([1, 2], "i4"), pa.array([None, 4, 5], "i4"), [1, 2, np.nan, 4, 5]),
    (pa.array([None, 2], "i8"), pa.array([3, 4], "i8"), [np.nan, 2, 3, 4]),
    (pa.array([True, False]), pa.array([None, True]), [1, 0, np.nan, 1])])
def test_missing_in_a_later_batch(tmp_path, first, second, wanted):
    write_batches(late(first, second), tmp_path / "t.arrows")
    assert main(["convert", str(tmp_path / "t.arrows"), str(tmp_path / "t.h5")]) == 0
    with h5py.File(tmp_path / "t.h5") as file:
        assert file["columns/a"].dtype == "f8"
        np.testing.assert_array_equal(file["columns/a"][:], wanted)


@pytest.mark.parametrize("first, second", [([2**60 + 1], [None, 4]), ([None, 4], [2**60 + 1]),
                                           ([-2**60 - 1], [None]), ([1], [2**60 + 1, None])])
def test_missing_beside_long_integers(tmp_path, capsys, first, second):
    write_batches(late(pa.array(first, "i8"), pa.array(second, "i8")), tmp_path / "t.arrows")
    assert main(["convert", str(tmp_path / "t.arrows"), str(tmp_path / "t.h5")]) == 3
    assert re.search("over 2.53|9007199254740992", capsys.readouterr().err)
    assert not (tmp_path / "t.h5").exists()


def test_decimals_and_what_is_left_out(tmp_path, capsys):
    from decimal import Decimal
    prices = [Decimal("1.25"), Decimal("-3.50")]
    when = pa.array([0, 1], pa.timestamp("s"))
    write(pa.table({"v": [[1.0, 2.0], [3.0, 4.0]], "price": prices, "when": when}), tmp_path / "t.parquet")
    assert main(["convert", str(tmp_path / "t.parquet"), str(tmp_path / "t.h5")]) == 0
    told = capsys.readouterr().err
    assert re.search(r"left out: when \(timestamp", told) and "price" not in told
    with h5py.File(tmp_path / "t.h5") as file:
        np.testing.assert_array_equal(file["columns/price"][:], [1.25, -3.5])
    write(pa.table({"price": prices, "v": [prices, prices]}), tmp_path / "u.parquet")
    for column, wanted in ("price", [[1.25], [-3.5]]), ("v", [[1.25, -3.5]] * 2):
        assert main(["convert", str(tmp_path / "u.parquet"), str(tmp_path / f"{column}.h5"), "--column", column]) == 0
        with h5py.File(tmp_path / f"{column}.h5") as file:
            np.testing.assert_array_equal(file["X"][:], wanted)


def test_columns_of_one_name(tmp_path, capsys):
    twice = pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4])], names=["a", "a"])
    write_batches(twice, tmp_path / "t.arrows")
    assert main(["convert", str(tmp_path / "t.arrows"), str(tmp_path / "t.h5")]) == 3
    assert "several columns of the same name: a" in capsys.readouterr().err


def test_embeds(tmp_path, program):
    write(table("fixed"), tmp_path / "t.parquet")
    subprocess.run([sys.executable, "-m", "iktsne", "convert", "t.parquet", "t.h5"], cwd=tmp_path, check=True)
    told = program("embed", "t.h5", "input.labels=columns/text", "layout.iterations=5",
                   "layout.exaggeration_iterations=2", "--json")
    assert '"rows": 200' in told
