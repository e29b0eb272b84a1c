"""The estimator: parameters, callbacks, an early end, new rows, and what is refused."""

import datetime
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import iktsne

FEW = {"max_iter": 60, "early_exaggeration_iter": 20}


def test_the_map_does_not_depend_on_threads(blobs):
    X = blobs[0]
    one, two = (iktsne.TSNE(n_jobs=n, **FEW).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    other = iktsne.TSNE(random_state=2, **FEW).fit(X)
    assert one.hash_ == two.hash_ != other.hash_
    assert one.embedding_.dtype == np.float32 and one.embedding_.shape == (300, 2)
    assert one.n_iter_ == 60 and one.n_features_in_ == 8 and not one.stopped_
    assert 0 < one.kl_divergence_ < 5


def test_clusters_come_apart(blobs):
    X, labels = blobs
    Y = iktsne.TSNE().fit_transform(X)
    assert iktsne.evaluate(None, Y, labels, "10-NN accuracy")["10-NN accuracy"] > 0.97


@pytest.mark.parametrize("q", [1, 2, 3])
def test_dimensions(blobs, q):
    assert iktsne.TSNE(q, **FEW).fit_transform(blobs[0]).shape == (300, q)


def test_parameters_are_settings(blobs):
    fitted = iktsne.TSNE(psi=20, t=50, n_neighbors=12, early_exaggeration=8, learning_rate=150.0,
                         random_state=9, settings={"layout.momentum": 0.4}, **FEW).fit(blobs[0])
    used = fitted.configuration_
    for line in ("psi: 20", "partitionings: 50", "neighbours: 12", "exaggeration: 8", "seed: 9",
                 "learning_rate: 150", "final_learning_rate: 150", "momentum: 0.4", "iterations: 60",
                 "kind: isolation"):
        assert f"  {line}\n" in used, (line, used)
    assert "kind: gaussian" in iktsne.TSNE(perplexity=10, **FEW).fit(blobs[0]).configuration_


def test_random_state(blobs):
    make = lambda state: iktsne.TSNE(random_state=state, **FEW).fit(blobs[0]).hash_
    assert make(np.random.RandomState(3)) == make(np.random.RandomState(3))
    assert make(np.random.default_rng(3)) == make(np.random.default_rng(3))
    assert make(None) != make(None)


def test_callbacks(blobs):
    seen = []
    Y0 = np.random.default_rng(1).normal(size=(300, 2)).astype(np.float32)
    fitted = iktsne.TSNE(init=Y0, settings={"layout.init_scale": 0}, callbacks_every_iters=20,
                         callbacks=[lambda i, error, Y: seen.append((i, error, Y))], **FEW).fit(blobs[0])
    assert [i for i, _, _ in seen] == [0, 20, 40, 60]
    np.testing.assert_array_equal(seen[0][2], Y0)
    assert seen[-1][1] == fitted.kl_divergence_
    last = seen[-1][2].astype(np.float64)
    np.testing.assert_allclose(last - last.mean(axis=0), fitted.embedding_, atol=1e-5)


def test_a_callback_stops(blobs):
    whole = iktsne.TSNE(**FEW).fit(blobs[0])
    stopped = iktsne.TSNE(callbacks=lambda i, *_: i >= 30, callbacks_every_iters=10, **FEW).fit(blobs[0])
    assert stopped.stopped_ and stopped.n_iter_ == 31 and whole.n_iter_ == 60
    same = iktsne.TSNE(max_iter=31, early_exaggeration_iter=20).fit(blobs[0])
    np.testing.assert_array_equal(stopped.embedding_, same.embedding_)


def test_an_exception_of_a_callback_is_raised(blobs):
    def fail(*_):
        raise LookupError("no such row")

    with pytest.raises(LookupError, match="no such row"):
        iktsne.TSNE(callbacks=fail, **FEW).fit(blobs[0])


def test_what_an_exception_refers_to_is_freed(blobs):
    """Without the garbage collector: no cycle keeps the map that a callback has ended."""
    class Kept:
        pass

    def fit():
        kept = Kept()

        def fail(*_):
            raise LookupError(kept)

        try:
            iktsne.TSNE(callbacks=fail, **FEW).fit(blobs[0])
        except LookupError:
            return weakref.ref(kept)

    gc.collect()
    gc.disable()
    try:
        assert fit()() is None
    finally:
        gc.enable()


def test_a_callback_cannot_call_iktsne(blobs):
    with pytest.raises(RuntimeError, match="afterwards"):
        iktsne.TSNE(callbacks=lambda i, error, Y: iktsne.evaluate(None, Y), **FEW).fit(blobs[0])
    iktsne.evaluate(None, blobs[0][:, :2])  # the library is free again


def test_threads_take_turns(blobs):
    X = blobs[0]
    models = [iktsne.TSNE(random_state=k % 3 + 1, n_jobs=k % 2 + 1, **FEW) for k in range(6)]
    started, release = threading.Event(), threading.Event()

    def hold(*_):
        started.set()
        release.wait(30)

    holder = threading.Thread(target=iktsne.TSNE(callbacks=hold, callbacks_every_iters=1000, **FEW).fit,
                              args=(X,))
    holder.start()
    started.wait(30)
    workers = [threading.Thread(target=model.fit, args=(X,)) for model in models]
    for worker in workers:
        worker.start()
    release.set()
    for worker in [holder, *workers]:
        worker.join()
    for k, model in enumerate(models):
        assert model.hash_ == models[k % 3].hash_
    assert len({model.hash_ for model in models}) == 3


def test_a_fit_that_fails_leaves_no_map(blobs):
    model = iktsne.TSNE(**FEW).fit(blobs[0])
    with pytest.raises(ValueError, match="psi"):
        model.set_params(psi=10**6).fit(blobs[0])
    assert not hasattr(model, "embedding_") and not hasattr(model, "n_iter_")
    with pytest.raises(ValueError, match="not fitted"):
        model.transform(blobs[0])
    model.set_params(psi=None).fit(blobs[0])
    assert model.embedding_.shape == (300, 2)


def test_an_interrupt_leaves_the_map_so_far(blobs):
    started = threading.Event()
    model = iktsne.TSNE(max_iter=10**7, n_jobs=1, callbacks=lambda *_: started.set() and False)

    def interrupt():
        started.wait(30)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(blobs[0])
    thread.join()
    assert model.stopped_ and 0 < model.n_iter_ < 10**7
    assert np.isfinite(model.embedding_).all() and np.isfinite(model.kl_divergence_)


def test_other_threads_go_on(blobs):
    count, done = [0], threading.Event()

    def work():
        while not done.is_set():
            count[0] += 1

    thread = threading.Thread(target=work)
    thread.start()
    iktsne.TSNE(max_iter=300, n_jobs=1).fit(blobs[0])
    done.set()
    thread.join()
    assert count[0] > 1000


def test_new_rows(blobs):
    X = blobs[0]
    fitted = iktsne.TSNE(**FEW).fit(X)
    np.testing.assert_array_equal(fitted.transform(X), fitted.embedding_)
    np.testing.assert_array_equal(fitted.transform(X.astype(np.float64)), fitted.embedding_)
    new = X[5:25] + np.float32(1e-3)
    mixed = np.concatenate([new, X[:3]])
    placed = fitted.transform(mixed)
    np.testing.assert_array_equal(placed[-3:], fitted.embedding_[:3])
    np.testing.assert_array_equal(placed[:20], fitted.transform(new))
    spread = fitted.embedding_.std()
    assert np.median(np.abs(placed[:20] - fitted.embedding_[5:25])) < 0.2 * spread
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(new), placed[:20])
    twice = np.concatenate([X[:50], X[:50]])  # equal rows have places of their own
    fitted = iktsne.TSNE(**FEW).fit(twice)
    np.testing.assert_array_equal(fitted.transform(twice), fitted.embedding_)
    np.testing.assert_array_equal(fitted.transform(twice[60:70]), fitted.embedding_[10:20])
    without = iktsne.TSNE(keep_model=False, **FEW).fit(X)
    with pytest.raises(ValueError, match="keep_model=True"):
        without.transform(new)
    np.testing.assert_array_equal(without.transform(X), without.embedding_)


@pytest.mark.parametrize("kernel", ["isolation", "knn"])
def test_new_rows_by_triplets(blobs, kernel):
    X = blobs[0]
    trimap = {"layout.objective": "trimap"}
    fitted = iktsne.TSNE(kernel=kernel, max_iter=60, settings=trimap).fit(X)
    new = X[5:25] + np.float32(1e-3)
    placed = fitted.transform(new)
    np.testing.assert_array_equal(fitted.transform(new[::-1])[::-1], placed)
    np.testing.assert_array_equal(fitted.transform(X), fitted.embedding_)
    assert np.median(np.abs(placed - fitted.embedding_[5:25])) < 0.2 * fitted.embedding_.std()


@pytest.mark.parametrize("objective", ["umap", "largevis"])
def test_objectives_without_a_model(blobs, objective):
    fitted = iktsne.TSNE(max_iter=60, settings={"layout.objective": objective}).fit(blobs[0])
    with pytest.raises(ValueError, match="tsne, nerv, jse and trimap"):
        fitted.transform(blobs[0][:3] + np.float32(1e-3))


def test_sparse_rows_are_known_again():
    sparse = pytest.importorskip("scipy.sparse")
    S = sparse.random(100, 40, 0.2, format="csr", random_state=1)
    fitted = iktsne.TSNE(**FEW).fit(S)
    np.testing.assert_array_equal(fitted.transform(S[10:20]), fitted.embedding_[10:20])
    np.testing.assert_array_equal(fitted.transform(S.toarray()), fitted.embedding_)


def test_sparse_columns_stay_sparse():
    pandas, sparse = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    S = sparse.random(100, 40, 0.2, format="csr", random_state=1)
    fitted = iktsne.TSNE(**FEW).fit(pandas.DataFrame.sparse.from_spmatrix(S))
    assert sparse.issparse(iktsne._data.rows(pandas.DataFrame.sparse.from_spmatrix(S)))
    np.testing.assert_array_equal(fitted.embedding_, iktsne.TSNE(**FEW).fit_transform(S))


@pytest.mark.parametrize("part, at, value", [("indices", 3, 77), ("indices", 3, -1), ("indptr", 5, 10**6),
                                             ("indptr", 5, -3), ("indptr", -1, 10**6)])
def test_sparse_rows_with_wrong_indices(part, at, value):
    sparse = pytest.importorskip("scipy.sparse")
    S = sparse.random(100, 40, 0.2, format="csr", random_state=1)
    fitted = iktsne.TSNE(**FEW).fit(S)
    getattr(S, part)[at] = value
    for way in (iktsne.TSNE(**FEW).fit, fitted.transform, lambda X: iktsne.evaluate(X, np.eye(100, 2))):
        with pytest.raises(ValueError, match="X is a sparse matrix with wrong indices"):
            way(S)


@pytest.mark.parametrize("parameters, words", [
    ({"perplexity": 30, "kernel": "isolation"}, "kernel='gaussian'"),
    ({"metric": "chebyshev"}, "euclidean"),
    ({"settings": {"isolation.pssi": 3}}, "did you mean 'isolation.psi'"),
    ({"n_components": 5}, "from 1 to 3"),
    ({"psi": 10**6}, "larger than the 300 rows"),
    ({"init": np.zeros((3, 2))}, "a position for each row"),
    ({"init": np.full((300, 2), np.nan)}, "row 0, column 0"),
    ({"n_jobs": 0}, "n_jobs"),
    ({"random_state": "seven"}, "cannot be used to seed"),
    ({"metric": "precomputed"}, "300 x 8"),
    ({"callbacks": print, "callbacks_every_iters": 0}, "callbacks_every_iters=0"),
    ({"callbacks_every_iters": 1.5}, "callbacks_every_iters=1.5"),
    ({"n_jobs": float("nan")}, "n_jobs=nan"),
    ({"n_jobs": 10**30}, "from -4096 to 4096"),
    ({"verbose": float("inf")}, "verbose=inf"),
    ({"exaggeration": 0.0}, "final_exaggeration"),
    ({"dof": -1.0}, "degrees_of_freedom"),
    ({"settings": {"input.transposed": "yes"}}, "input.transposed"),
    ({"settings": {"input.dataset": "rows"}}, "input.dataset"),
])
def test_what_is_refused(blobs, parameters, words):
    with pytest.raises(ValueError, match=words):
        iktsne.TSNE(**parameters).fit(blobs[0])


def test_a_stop_before_there_is_a_map(tmp_path, blobs):
    class Interrupt:  # the first report of the search: Python raises there
        def __call__(self, unit, done, total):
            raise KeyboardInterrupt

    from iktsne import _context, _core, _data

    given = _data.given(blobs[0])
    with pytest.raises(KeyboardInterrupt):
        _core.embed(_context.context(), [], given, Interrupt(), None, 0, None)


def test_missing_values(blobs):
    X = blobs[0].copy()
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        iktsne.TSNE(**FEW).fit(X)
    fitted = iktsne.TSNE(settings={"preprocess.missing": "mean"}, **FEW).fit(X)
    filled = X.copy()
    filled[7, 3] = np.nanmean(X[:, 3].astype(np.float64))
    np.testing.assert_array_equal(fitted.embedding_, iktsne.TSNE(**FEW).fit_transform(filled))
    np.testing.assert_array_equal(fitted.transform(X), fitted.embedding_)
    assert np.isfinite(fitted.transform(X[5:10] + np.float32(1e-3))).all()


def test_masked_values_are_missing(blobs):
    X = np.ma.masked_array(blobs[0], mask=False)
    assert iktsne.TSNE(**FEW).fit(X).hash_ == iktsne.TSNE(**FEW).fit(blobs[0]).hash_
    X[7, 3] = np.ma.masked
    holes = blobs[0].copy()
    holes[7, 3] = np.nan
    mean = {"settings": {"preprocess.missing": "mean"}, **FEW}
    assert iktsne.TSNE(**mean).fit(X).hash_ == iktsne.TSNE(**mean).fit(holes).hash_


def ways(X):
    """Every function that takes rows or positions."""
    good = np.eye(60, 3)
    fitted = iktsne.TSNE(max_iter=10, early_exaggeration_iter=2).fit(good)
    yield lambda: iktsne.TSNE(**FEW).fit(X)
    yield lambda: iktsne.TSNE(**FEW).fit_transform(X)
    yield lambda: fitted.transform(X)
    yield lambda: iktsne.evaluate(X, good)
    yield lambda: iktsne.evaluate(None, X)
    yield lambda: iktsne.view(X)
    yield lambda: iktsne.TSNE(n_components=3, init=X, **FEW).fit(good)


def of_kind(kind):
    if kind == "frame":
        pandas = pytest.importorskip("pandas")
        return pandas.DataFrame({"a": [0.5] * 60, "id": [2**53 + 1] * 60, "b": [1] * 60})
    if kind == "Int64":
        pandas = pytest.importorskip("pandas")
        return pandas.DataFrame({"a": pandas.array([3, None] * 30, dtype="Int64"), "b": 1.5, "c": 0})
    X = np.tile(np.arange(60.0)[:, None], 3)
    if kind == "sparse":
        X = X.astype(np.int64)
        X[2, 1] = 2**53 + 1
        return pytest.importorskip("scipy.sparse").csr_matrix(X)
    return {"int64": lambda: X.astype(np.int64) + 2**53,
            "uint64": lambda: X.astype(np.uint64) + np.uint64(2**53),
            "objects": lambda: X.astype(np.int64).astype(object) + 2**60,
            "masked": lambda: np.ma.masked_array(X, mask=X == 2),
            "dates": lambda: X.astype("datetime64[D]"),
            "spans": lambda: X.astype("timedelta64[s]"),
            "objects of dates": lambda: np.full((60, 3), datetime.date(2020, 1, 1), dtype=object),
            "texts": lambda: X.astype(str),
            "objects of texts": lambda: X.astype(str).astype(object),
            "None": lambda: np.full((60, 3), None)}[kind]()


@pytest.mark.parametrize("kind, words", [
    ("int64", "row 1, column 0: an integer beyond 2.53 loses digits"),
    ("uint64", "row 1, column 0: an integer beyond 2.53 loses digits"),
    ("objects", "row 0, column 0: an integer beyond 2.53 loses digits"),
    ("frame", "column 'id' of .*, row 0: an integer beyond 2.53 loses digits"),
    ("sparse", "row 2, column 1: an integer beyond 2.53 loses digits"),
    ("masked", "row 2, column 0 is NaN, a missing value"),
    ("Int64", "row 1, column 0 is NaN, a missing value"),
    ("None", "row 0, column 0 is NaN, a missing value"),
    ("dates", "holds dates or times"),
    ("spans", "holds dates or times"),
    ("objects of dates", "holds dates or times"),
    ("texts", "has to be of numbers, and is of <U"),
    ("objects of texts", "has to be of numbers, and has texts"),
])
def test_what_is_no_number_is_refused_everywhere(kind, words):
    for way in ways(of_kind(kind)):
        with pytest.raises(ValueError, match=words):
            way()


def test_labels_with_missing_values(blobs):
    X, labels = blobs
    named = np.array(list("abcde"), dtype=object)[labels]
    named[0] = None
    without = labels.copy()
    without[0] = -1
    assert (iktsne.evaluate(None, X[:, :2], named, "clusters")
            == iktsne.evaluate(None, X[:, :2], without, "clusters"))
    with pytest.raises(ValueError, match="both missing and negative"):
        iktsne.evaluate(None, X[:, :2], np.where(labels == 0, np.nan, labels - 3))


def test_labels_of_any_objects(blobs):
    X, labels = blobs
    Y = X[:, :2]
    told = iktsne.evaluate(None, Y, labels, "clusters")
    for names in ([(0, "a"), (1, "b"), (2, "c"), (3, "d"), (4, "e")], [(), (1,), (1, 2), (3,), [4, 5]],
                  [b"\xff", b"\xfe", b"a", "b", "\u00e4".encode()]):
        kinds = np.empty(5, dtype=object)
        kinds[:] = names
        assert iktsne.evaluate(None, Y, kinds[labels], "clusters") == pytest.approx(told)
    assert iktsne.evaluate(None, Y, np.array([b"\xff", b"\xfe", b"a", b"b", b"c"])[labels],
                           "clusters") == pytest.approx(told)


def test_targets_that_are_no_classes(blobs):
    X = blobs[0]
    y = np.where(np.arange(len(X)) == 4, np.nan, np.arange(len(X)) - 10.0)
    assert np.array_equal(iktsne.TSNE(**FEW).fit_transform(X, y), iktsne.TSNE(**FEW).fit_transform(X))
    with pytest.raises(ValueError, match="needs labels.*both missing and negative"):
        iktsne.TSNE(settings={"layout.objective": "kda"}).fit(X, y)


def test_distances_by_settings(blobs):
    """No model is kept of them, however they are named: there are no rows to make it of."""
    X = blobs[0].astype(np.float64)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    by_settings = iktsne.TSNE(settings={"preprocess.metric": "precomputed"}, **FEW).fit(D)
    assert by_settings.hash_ == iktsne.TSNE(metric="precomputed", **FEW).fit(D).hash_


def test_settings_of_any_type(blobs):
    assert iktsne.settings()["isolation.psi"]["takes_auto"]
    for wrong in (3, "layout.momentum", [1]):
        with pytest.raises(TypeError, match="is no dict"):
            iktsne.TSNE(settings=wrong, **FEW).fit(blobs[0])
        with pytest.raises(TypeError, match="is no dict"):
            iktsne.evaluate(None, blobs[0][:, :2], settings=wrong)
    with pytest.raises(TypeError, match="layout.momentum"):
        iktsne.TSNE(settings={"layout.momentum": [1]}, **FEW).fit(blobs[0])
    iktsne.TSNE(settings={"layout.momentum": np.float64(0.5), "isolation.psi": None,
                          "layout.init": "random"}, **FEW).fit(blobs[0])


def test_a_forked_process_is_told(blobs):
    iktsne.TSNE(**FEW).fit(blobs[0])
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            iktsne.TSNE(**FEW).fit(blobs[0])
            said = "nothing"
        except ValueError as error:
            said = str(error)
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as pipe:
        assert "spawn" in pipe.read()


def test_two_threads_ask_first_for_the_settings(monkeypatch):
    """Each sees all keys, also where the other is in the middle of gathering them."""
    from iktsne import _context

    entries = _context._core.settings()
    first_is_in_the_middle, second_has_asked = threading.Event(), threading.Event()

    def slowly():
        yield entries[0]
        first_is_in_the_middle.set()
        second_has_asked.wait(5)
        yield from entries[1:]

    calls = iter([slowly(), entries])
    monkeypatch.setattr(_context, "_core", SimpleNamespace(settings=lambda: next(calls)))
    _context._table.cache_clear()
    keys = {}
    first = threading.Thread(target=lambda: keys.update(first=list(iktsne.settings())))
    first.start()
    first_is_in_the_middle.wait(5)
    keys["second"] = list(iktsne.settings())
    second_has_asked.set()
    first.join()
    assert keys["first"] == keys["second"] == [dict(entry)["key"] for entry in entries]


@pytest.mark.parametrize("work", [
    "iktsne.TSNE(max_iter=10**7, n_jobs=1).fit(X)",
    "iktsne.TSNE(max_iter=10**7, n_jobs=1, callbacks=lambda *_: time.sleep(0.2)).fit(X)",
    "iktsne.TSNE(max_iter=10**7, n_jobs=1, callbacks=lambda *_: threading.Event().wait()).fit(X)",
    "[iktsne.TSNE(max_iter=9, n_jobs=1).fit(X[:50]).transform(X[60:70]) for _ in range(10**5)]",
    "[iktsne.view(X[:, :2]) for _ in range(10**5)]",
])
def test_python_ends_while_threads_are_at_work(work, tmp_path):
    """Quietly, and with nothing left in the folder of temporary files."""
    script = f"""
import threading, time
import numpy as np, iktsne
X = np.random.default_rng(1).normal(size=(2000, 5)).astype(np.float32)
iktsne.view(X[:5, :2])
for _ in range(2):
    threading.Thread(target=lambda: {work}, daemon=True).start()
time.sleep(0.5)
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100,
                         env={**os.environ, "TMPDIR": str(tmp_path)})
    assert (out.returncode, out.stdout, out.stderr) == (0, "", "")
    assert not list(tmp_path.glob("iktsne-*"))


def test_what_is_called_at_the_exit_may_call(tmp_path):
    """Also by functions that were registered before the package was imported, which are called last."""
    script = """
import atexit
import numpy as np
atexit.register(lambda: print(iktsne.view(np.eye(5, 2))))
import iktsne
iktsne.view(np.eye(5, 2))
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (out.returncode, out.stderr) == (0, "") and "iktsne.View of" in out.stdout


def test_a_process_forked_during_a_fit_is_told(blobs):
    """Where the thread that is in the library is not there, and would never give its turn back."""
    started, release = threading.Event(), threading.Event()

    def hold(*_):
        started.set()
        release.wait(30)

    thread = threading.Thread(target=iktsne.TSNE(callbacks=hold, **FEW).fit, args=(blobs[0],))
    thread.start()
    started.wait(30)
    child = os.fork()
    if child == 0:
        try:
            iktsne.view(blobs[0][:, :2])
        except ValueError as error:
            os._exit(7 if "spawn" in str(error) else 1)
        os._exit(0)
    release.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_without_scikit_learn(blobs, tmp_path):
    """In a process where scikit-learn, scipy and tqdm cannot be imported."""
    np.save(tmp_path / "rows.npy", blobs[0])
    script = """
import sys
for name in ("sklearn", "scipy", "tqdm", "joblib", "mpi4py"):
    sys.modules[name] = None
import numpy as np, iktsne, pickle
X = np.load("rows.npy")
model = iktsne.TSNE(max_iter=60, early_exaggeration_iter=20, progress=True)
assert model.get_params()["max_iter"] == 60 and "max_iter=60" in repr(model)
Y = model.set_params(random_state=1).fit_transform(X)
assert model.transform(X[:4]).shape == (4, 2)
for bad, words in ((np.full((5, 2), np.nan), "NaN"), (np.zeros(5), "2D"), (np.zeros((1, 3)), "1 sample"),
                   (np.ones((5, 2), complex), "complex128"), (np.array([["a"], ["b"]]), "numbers")):
    try:
        model.fit(bad)
    except ValueError as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
print(f"{model.fit(X).hash_:016x}")
"""
    out = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    assert int(out.stdout, 16) == iktsne.TSNE(**FEW).fit(blobs[0]).hash_


def test_a_bar_is_drawn(blobs, capsys):
    pytest.importorskip("tqdm")
    iktsne.TSNE(progress=True, max_iter=400, n_jobs=1).fit(blobs[0])
    assert "iterations" in capsys.readouterr().err


def test_lines_of_the_log(blobs, capsys):
    iktsne.TSNE(verbose=1, **FEW).fit(blobs[0])
    assert "300 rows x 8" in capsys.readouterr().err
    iktsne.TSNE(**FEW).fit(blobs[0])
    assert capsys.readouterr().err == ""


def test_columns_of_a_frame_are_known(blobs):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    frame = pandas.DataFrame(blobs[0], columns=[f"gene {c}" for c in range(8)])
    fitted = iktsne.TSNE(**FEW).fit(frame)
    assert list(fitted.feature_names_in_) == list(frame.columns)
    assert list(fitted.get_feature_names_out()) == ["tsne0", "tsne1"]


def test_scikit_learns_checks():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    results = checks.check_estimator(iktsne.TSNE(max_iter=30, n_jobs=1), on_fail=None, on_skip=None)
    failed = [f"{r['check_name']}: {r['exception']}" for r in results if r["status"] == "failed"]
    assert not failed, failed
    assert sum(r["status"] == "passed" for r in results) > 35


def test_clone_and_grid():
    base = pytest.importorskip("sklearn.base")
    model = iktsne.TSNE(psi=32, settings={"layout.momentum": 0.5})
    assert base.clone(model).get_params() == model.get_params()


def test_clones_share_a_communicator():
    base = pytest.importorskip("sklearn.base")
    MPI = pytest.importorskip("mpi4py.MPI")
    comm = MPI.COMM_SELF.Dup()
    model = iktsne.TSNE(psi=32, settings={"layout.momentum": 0.5}, comm=comm)
    cloned = base.clone(model)
    assert cloned.comm is comm and model.comm is comm and cloned.settings is not model.settings
    assert cloned.psi == 32
    comm.Free()
    with pytest.raises(ValueError, match="COMM_NULL"):
        cloned.fit(np.eye(5))


# --- arguments that are not what they seem ----------------------------------------------------------


def test_columns_of_one_name_are_columns(blobs):
    pandas = pytest.importorskip("pandas")
    X = blobs[0]
    frame = pandas.DataFrame(X, columns=list("aabcdefg"))
    made = iktsne.TSNE(**FEW)
    assert np.array_equal(made.fit_transform(frame), iktsne.TSNE(**FEW).fit_transform(X))
    assert not hasattr(made, "feature_names_in_")
    assert made.transform(frame[:3]).shape == (3, 2)


def test_half_a_surrogate_is_no_text(blobs):
    X = blobs[0]
    for parameters in ({"kernel": "a\ud800"}, {"settings": {"output.file": "\udcff.h5"}}, {"settings": {"a\ud800": 1}}):
        with pytest.raises(ValueError, match="no text in UTF-8"):
            iktsne.TSNE(**FEW, **parameters).fit(X)
    with pytest.raises(ValueError, match="no text in UTF-8"):
        iktsne.evaluate(X, X[:, :2], measures="a\ud800")


def test_an_array_is_no_single_value(blobs):
    X = blobs[0]
    for name in ("metric", "kernel", "learning_rate", "keep_model", "progress", "n_jobs"):
        for value in (np.array(["a", "b"]), np.array([1, 2])):
            with pytest.raises(ValueError, match=f"^{name}=array"):
                iktsne.TSNE(**{**FEW, name: value}).fit(X)
    with pytest.raises(ValueError, match="^metric=array"):
        iktsne.evaluate(X, X[:, :2], metric=np.array(["a", "b"]))


def test_a_damaged_model_is_told_without_the_name_of_a_file_that_is_gone(blobs):
    X = blobs[0]
    made = iktsne.TSNE(**FEW).fit(X)
    for damaged in (b"xx", made.model_[:-100], made.model_[:5000] + b"damage" + made.model_[5006:]):
        other = pickle.loads(pickle.dumps(made))
        other.model_ = damaged
        with pytest.raises((ValueError, OSError), match="that this TSNE holds is damaged.*: load another copy") as error:
            other.transform(X[:3] + 1)
        assert "model.h5" not in str(error.value)
