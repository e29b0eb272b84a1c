"""The estimator TSNE: scikit-learn's conventions on the C library."""

import copy
import os
import re
import tempfile

import numpy as np

from . import _core, _table
from ._context import KEYS, agreement, as_text, chosen, context, whole, with_hints
from ._data import alike, alike_rows, chosen_columns, codes, given, is_sparse, rows
from ._estimator import (BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin,
                         check_is_fitted, check_rows, seed_of)
from ._metric import metric_settings
from ._progress import Bar, log, raise_kept

# What a fit leaves; the next one begins without it, and may end before there is a map.
_FITTED = ("embedding_", "kl_divergence_", "n_iter_", "stopped_", "hash_", "n_zero_similarity_",
           "configuration_", "model_", "column_", "_rows", "_n_features_out")


class TSNE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """t-SNE with the Isolation kernel, or with Gaussian affinities.

    Parameters
    ----------
    n_components : 1, 2 or 3
        Dimensions of the map.
    perplexity : float, optional
        Effective number of neighbours of Gaussian affinities. Given, it chooses kernel="gaussian":
        the Isolation kernel has ``psi`` in its place. None: 30 for
        kernel="gaussian", but at most a third of the other rows.
    n_neighbors : int, optional
        Most similar rows that a row is attracted to; None: as many as suit the kernel.
    metric : "euclidean", "cosine", "correlation", "manhattan" or "precomputed"
        How rows are compared. "precomputed": X holds the distances of all pairs (n x n), or, sparse,
        those of each row to its neighbours.
    kernel : "auto", "isolation", "gaussian", "knn" or "adaptive"
        "auto" is "isolation", but "gaussian" with a perplexity or with sparse distances.
    psi, t : int, optional
        Cells of a partitioning, and partitionings, of the Isolation kernel: more cells see finer
        structure. None: chosen by the number of rows.
    early_exaggeration : float, optional
    early_exaggeration_iter : int, optional
        Factor of the attraction in the first iterations, and how many these are. None: 12 and 250;
        below 150 rows 1.5 and fewer.
    max_iter : int, optional
        All iterations, those above included, as in scikit-learn.
    learning_rate : "auto" or float
        In the convention of openTSNE and FIt-SNE, in which "auto" is n / exaggeration but at least
        200; scikit-learn's is a quarter of it.
    init : "auto", "pca", "random", "landmark", "spectral" or array of shape (n, n_components)
        Where rows start. Positions are scaled to a standard deviation of 1e-4 unless
        ``settings={"layout.init_scale": 0}`` keeps them as they are, as to go on with a map.
    random_state : int, None or a generator of numpy
        Equal integers give equal maps, bit for bit, on any number of threads and ranks.
    n_jobs : int, optional
        Threads: -1 all processors, None one. The map does not depend on it.
    verbose : int
        0 warnings only, 1 the stages, 2 details.
    progress : bool
        Draws a bar, where tqdm is installed.
    callbacks : callable or list of callables, optional
        Called as ``callback(iteration, error, embedding)`` every ``callbacks_every_iters`` iterations,
        as openTSNE does. One that returns True stops the layout: the map so far is the result.
    callbacks_every_iters : int
    keep_model : bool
        Keep what ``transform`` needs: some 200 bytes a row (Isolation kernel on dense rows), or
        the rows themselves (other kernels with layout.objective=trimap).
    settings : dict, optional
        Any other key of the library, "section.key": value (``iktsne.settings()``, docs/settings.md).
        It wins over the parameters above.
    comm : mpi4py.MPI.Comm, optional
        Rows are distributed: each rank calls with its own rows, and gets their positions.
    exaggeration : float, optional
    dof : float, optional
        Factor of the attraction in the iterations after the first ones, and degrees of freedom of the
        kernel in the map, as in openTSNE.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components), float32
    kl_divergence_ : float
    n_iter_ : int
    stopped_ : bool
        Whether a callback or an interrupt ended the layout early.
    hash_ : int
        Checksum of the map, which ``iktsne embed`` prints.
    configuration_ : str
        All settings as they were used, as YAML that ``iktsne embed`` reads.
    column_ : str, list of str or None
        The columns of a table that were embedded, and that transform takes; None: all.
    n_features_in_, feature_names_in_
        As in every estimator of scikit-learn.

    An interrupt (Ctrl-C) ends the layout at the next iteration; ``embedding_`` and the other
    attributes then hold the map so far, and KeyboardInterrupt is raised.
    """

    @with_hints
    def __init__(self, n_components=2, *, perplexity=None, n_neighbors=None, metric="euclidean",
                 kernel="auto", psi=None, t=None, early_exaggeration=None,
                 early_exaggeration_iter=None, max_iter=None, learning_rate="auto", init="auto",
                 random_state=1, n_jobs=-1, verbose=0, progress=False, callbacks=None,
                 callbacks_every_iters=50, keep_model=True, settings=None, comm=None,
                 exaggeration=None, dof=None):
        self.n_components = n_components
        self.perplexity = perplexity
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.kernel = kernel
        self.psi = psi
        self.t = t
        self.early_exaggeration = early_exaggeration
        self.early_exaggeration_iter = early_exaggeration_iter
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress
        self.callbacks = callbacks
        self.callbacks_every_iters = callbacks_every_iters
        self.keep_model = keep_model
        self.settings = settings
        self.comm = comm
        self.exaggeration = exaggeration
        self.dof = dof

    # --- what the parameters stand for ------------------------------------------------------------

    def _is_precomputed(self):
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _check_single(self):
        """Refuses an array where there is one value, which is compared with others."""
        for name in ("metric", "kernel", "learning_rate", "keep_model", "progress"):
            value = getattr(self, name)
            if np.ndim(value) > 0:
                raise ValueError(f"{name}={value!r} is no single value")

    def _form(self, X):
        """What X is: "rows"; "matrix", distances that stand in place of rows; or "graph", distances
        that stand in place of a kernel."""
        if not self._is_precomputed():
            return "rows"
        return "graph" if is_sparse(X) else "matrix"

    def _settings(self, form="rows"):
        """The parameters as keys of the library; what the user names in ``settings`` wins."""
        kernel = self.kernel
        if kernel is None or kernel == "auto":
            is_gaussian = self.perplexity is not None or form == "graph"
            kernel = "gaussian" if is_gaussian else "isolation"
        if self.perplexity is not None and kernel != "gaussian":
            raise ValueError(f"perplexity is of kernel='gaussian', and kernel is {kernel!r}: give psi "
                             "in its place, or leave kernel out")
        if form != "graph":
            used = {"affinity.kind": kernel}
        elif kernel in ("gaussian", "knn"):
            used = {"graph.values": "distances", "graph.weights": kernel}
        else:
            raise ValueError(f"kernel={kernel!r} does not go with such precomputed distances: take "
                             "kernel='gaussian' or 'knn', or leave it out")
        if form != "graph":
            used.update(metric_settings(self.metric))
        for name, key in KEYS.items():
            if getattr(self, name) is not None:
                used[key] = getattr(self, name)
        if self.learning_rate != "auto":
            used["layout.learning_rate"] = self.learning_rate
        if isinstance(self.init, str) and self.init != "auto":
            used["layout.init"] = self.init
        used["run.seed"] = seed_of(self.random_state)
        used["output.measures"] = "none"
        used.update(chosen(self.settings))
        return {key: as_text(key, value) for key, value in used.items()}

    def _keeps_model(self, used, X, size):
        objective = used.get("layout.objective", "tsne")
        is_isolation = used.get("affinity.kind") == "isolation"
        has_form = (used.get("isolation.form", "voronoi") == "voronoi" if is_isolation
                    else objective == "trimap")
        return (self.keep_model and not used.get("output.model") and size == 1 and not is_sparse(X)
                and used.get("preprocess.metric") != "precomputed" and not used.get("input.graph")
                and has_form and objective in ("tsne", "nerv", "jse", "trimap"))

    def _labels(self, y, n):
        """COLLECTIVE. Classes of the rows, or None; and why y gives none, as targets of a regression
        do not. All ranks do without where one has to."""
        labels = names = why = None
        try:
            if y is not None:
                labels, names = codes(y)
                why = None if labels.shape == (n,) else f"it has {len(labels)} values for {n} rows"
        except (TypeError, ValueError) as error:
            why = str(error)
        if self.comm is not None:
            why = next((one for one in self.comm.allgather(why) if one is not None), None)
        return None if why else alike(labels, names, self.comm), why

    def _report(self):
        """The callbacks as one function, or None; it returns True where one of them does."""
        whole("callbacks_every_iters", self.callbacks_every_iters, 1)
        if self.callbacks is None:
            return None
        callbacks = [self.callbacks] if callable(self.callbacks) else list(self.callbacks)

        def report(iteration, error, embedding):
            answers = [callback(iteration, error, embedding) for callback in callbacks]
            return any(answer is not None and bool(answer) for answer in answers)

        return report if callbacks else None

    # --- fitting ----------------------------------------------------------------------------------

    def fit(self, X, y=None, *, column=None):
        """Embeds the rows of X.

        X: array of shape (n, columns), a sparse matrix of scipy, or a table or column of pandas,
            pyarrow or polars; float32, float64 and uint8 are used as they are, without a copy. With
            metric="precomputed": distances, n x n.
        column: of a table, the name of the column that is embedded, of vectors or of numbers, or a
            list of such names; None: all columns but the one that y names, which have to be of
            numbers. transform takes the same ones.
        y: labels, or the name of the column of X that holds them, for settings that need them
            (pictures, objectives with labels); else not used. What cannot be classes, such as values
            of which some are missing and some negative, is no labels.
        """
        self.fit_transform(X, y, column=column)
        return self

    def fit_transform(self, X, y=None, *, column=None):
        """Embeds the rows of X, as fit does, and returns their positions."""
        made = context(self.comm, self.n_jobs, self.verbose)
        for name in _FITTED:
            self.__dict__.pop(name, None)
        with agreement(self.comm):
            self._check_single()
            is_named = column is not None
            if isinstance(y, str):
                name, y = y, _table.column(X, y)
                column = column if is_named else _table.others(X, name)
            X, own = self._own_rows(X, column, is_named)
        own = alike_rows(own, self.comm)
        with agreement(self.comm):
            X, used, data, report = self._prepare(X, own)
            self.column_ = column
        labels, why = self._labels(y, X.shape[0])
        if labels is not None:
            data["labels"] = labels
        if self.comm is not None and not isinstance(self.random_state, (int, np.integer)):
            used["run.seed"] = self.comm.bcast(used["run.seed"])  # each rank has drawn another one
        bar = Bar(self.progress)
        folder = None
        try:
            if self._keeps_model(used, X, made.size):
                folder = tempfile.TemporaryDirectory(prefix="iktsne-")
                used["output.model"] = os.path.join(folder.name, "model.h5")
            every = int(self.callbacks_every_iters)
            out = _core.embed(made, list(used.items()), data, bar.function(), report, every, log)
            self._take(out, used, folder)
        except ValueError as error:
            if why and "needs labels" in str(error):
                raise ValueError(f"{error}. y gives none: {why}") from error
            raise
        finally:
            bar.close()
            if folder is not None:
                folder.cleanup()
        self._remember_rows(data, made.size)
        raise_kept(out.pop("error"))
        return self.embedding_

    def _allows_nan(self):
        """Whether missing values have something to stand for them."""
        return chosen(self.settings).get("preprocess.missing", "refuse") != "refuse"

    def _own_rows(self, X, column, takes_vectors=True):
        """X, or the matrix of these columns of it, and what `rows` makes of that."""
        if column is not None:
            X = chosen_columns(X, column, takes_vectors=takes_vectors)
        return X, rows(X, allow_missing=self._allows_nan())

    def _prepare(self, X, own):
        """The rows of this rank, made of X and checked; all settings, what _core.embed is handed, and
        whom it is to report to."""
        least = 2 if self.comm is None else 0  # a rank may have none
        check_rows(self, X, own, True, least)
        X = own
        if self._is_precomputed() and X.shape[0] != X.shape[1] and self.comm is None:
            raise ValueError(f"metric='precomputed' needs a square matrix, and X is {X.shape[0]} x "
                             f"{X.shape[1]}")
        form = self._form(X)
        used = self._settings(form)
        start = None if self.init is None or isinstance(self.init, str) else rows(self.init, "init")
        if start is not None and start.shape != (X.shape[0], self.n_components):
            raise ValueError(f"init has the shape {start.shape}; it needs a position for each row, "
                             f"{(X.shape[0], self.n_components)}")
        data = given(X, start, form == "graph")
        return X, used, data, self._report()

    def _take(self, out, used, folder):
        self.embedding_ = out["positions"]
        self.kl_divergence_ = out["objective"]
        self.n_iter_ = int(out["iterations"])
        self.stopped_ = out["stopped"]
        self.hash_ = out["hash"]
        self.n_zero_similarity_ = int(out["zero_similarity"])
        self.configuration_ = out["configuration"]
        self._n_features_out = self.embedding_.shape[1]
        self.model_, self._rows = None, None
        if folder is not None:  # the file is gone when anybody reads this
            self.configuration_ = re.sub(r"(?m)^  model: .*$", '  model: ""', self.configuration_)
            with open(used["output.model"], "rb") as file:
                self.model_ = file.read()
        elif used.get("output.model"):
            self.model_ = used["output.model"]

    def _remember_rows(self, data, size):
        """Checksums of the rows, by which transform knows them again."""
        if size == 1 and ("rows" in data or "sparse" in data):
            hashes = _core.row_hashes(data)
            order = np.lexsort((np.arange(len(hashes)), hashes[:, 1], hashes[:, 0]))
            self._rows = (hashes[order], order)

    def _known_rows(self, data):
        """For each new row the number of the row of the fit that is the same, the first of several,
        or -1."""
        found = np.full(data["count"], -1, dtype=np.int64)
        if self._rows is None or data["count"] == 0:
            return found
        old, order = self._rows
        new = _core.row_hashes(data)
        if len(new) == len(old) and (new[order] == old).all():  # the data of the fit, row by row
            return np.arange(len(new))
        place = np.minimum(np.searchsorted(old[:, 0], new[:, 0]), len(old) - 1)
        same = (old[place] == new).all(axis=1)
        found[same] = order[place[same]]
        return found

    # --- new rows ---------------------------------------------------------------------------------

    def transform(self, X):
        """Positions of new rows in the map, whose rows stay where they are.

        Each row is placed for itself, so that the result does not depend on the batch. A row that was
        embedded, number for number, gets its own position, that of the first of several equal rows:
        transform of the data of the fit is embedding_. Needs the Isolation kernel (any kernel with
        layout.objective=trimap), dense rows and keep_model=True in the fit; there is none of maps
        by sne, umap, largevis and sammon.
        """
        made, X = self._new_rows(X)
        with agreement(self.comm):
            known = self._known_rows(given(X))
        is_new = known < 0
        placed = np.empty((X.shape[0], self.embedding_.shape[1]), dtype=np.float32)
        placed[~is_new] = self.embedding_[known[~is_new]]
        if made.size > 1 or is_new.any():
            placed[is_new] = self._place(made, X[np.flatnonzero(is_new)])["positions"]
        return placed

    def place(self, X):
        """What ``transform`` finds of new rows, as a dict of arrays: ``positions``; ``similarities``
        to the ``nearest`` row of the fit; ``divergences``; ``distances`` from the nearest of up to
        2,048 rows of the fit; and ``is_far``, 1 where 99 in 100 of these are nearer to each other, so
        that the position says little. An array that the model knows nothing for is None. All rows are
        taken for new ones, those of the fit, too.
        """
        made, X = self._new_rows(X)
        return self._place(made, X)

    def _new_rows(self, X):
        check_is_fitted(self)
        with agreement(self.comm):
            X, own = self._own_rows(X, None if _table.names(X) is None else self.column_)
        own = alike_rows(own, self.comm)
        with agreement(self.comm):
            check_rows(self, X, own, False, 1 if self.comm is None else 0)
        return context(self.comm, self.n_jobs, self.verbose), own

    def _place(self, made, X):
        if self.model_ is None:
            raise ValueError("there is no model to place new rows by: transform needs the Isolation "
                             "kernel or layout.objective=trimap, dense rows and keep_model=True in "
                             "the fit (with comm, settings={'output.model': FILE}), and goes with "
                             "the objectives tsne, nerv, jse and trimap")
        if is_sparse(X):
            X = X.toarray()
        if isinstance(self.model_, bytes):
            out = self._place_by_held(made, X)
        else:
            out = self._place_by(made, self.model_, X)
        raise_kept(out.pop("error"))
        return out

    def _place_by_held(self, made, X):
        with tempfile.TemporaryDirectory(prefix="iktsne-") as folder:
            path = os.path.join(folder, "model.h5")
            with open(path, "wb") as file:
                file.write(self.model_)
            try:
                return self._place_by(made, path, X)
            except Exception as error:
                if path not in str(error):
                    raise
                text = str(error).replace(path, "the model that this TSNE holds")
                if isinstance(error, OSError) or "another copy" in text or "damaged" in text:
                    text = ("the model that this TSNE holds is damaged, as the pickle that it came from may be: load "
                            f"another copy of that, or fit again ({text})")
                raise type(error)(text) from None

    def _place_by(self, made, path, X):
        bar = Bar(self.progress)
        try:
            return _core.transform(made, path, given(X), 0, 0, bar.function(), log)
        finally:
            bar.close()

    # --- scikit-learn -----------------------------------------------------------------------------

    def __sklearn_clone__(self):
        """As of every estimator; but a communicator cannot be copied, and is the same one."""
        alone = copy.copy(self)
        alone.comm = None
        cloned = super(TSNE, alone).__sklearn_clone__()
        cloned.comm = self.comm
        return cloned

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._allows_nan()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.transformer_tags.preserves_dtype = []  # positions are float32
        return tags

    def _more_tags(self):  # scikit-learn before 1.6
        return {"pairwise": self._is_precomputed(), "allow_nan": self._allows_nan(),
                "preserves_dtype": []}
