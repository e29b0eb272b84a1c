"""Measures of the quality of a map, of any program."""

import re

from . import _core
from ._context import agreement, as_text, chosen, context, utf8, whole, with_hints
from ._data import alike, alike_rows, codes, given, positions, rows
from ._estimator import seed_of
from ._metric import metric_settings


@with_hints
def evaluate(X, Y, labels=None, measures=None, *, metric="euclidean", n_neighbors=10, trust_k=12,
             exact_limit=20000, sample=2000, random_state=1, n_jobs=-1, verbose=0, settings=None,
             comm=None):
    """How good a map is.

    X: the rows that were embedded, dense or sparse, or None: then only what the map and its labels
        tell is measured.
    Y: their positions, of iktsne or of any other program, in one, two or three dimensions.
    labels: a class for each row, of any type; or None.
    measures: names such as "trustworthiness" or "10-NN accuracy", or families such as "clusters", in a
        list or separated by commas; None: all that X and labels allow. docs/measures.md defines them.
    metric: how rows of X are compared, as in TSNE.
    n_neighbors, trust_k: neighbours of the label accuracy, where its name in measures has no number; of
        trustworthiness and continuity.
    exact_limit, sample: up to so many rows each is compared with all others; beyond that so many are.
    random_state: seed of the sample, of triplets and of k-means; as in TSNE.
    n_jobs, verbose, settings, comm: as in TSNE.

    Returns a dict from the names of the measures to their values, in the order of docs/measures.md;
    NaN where the data do not allow a value.
    """
    made = context(comm, n_jobs, verbose)
    with agreement(comm):
        Y = positions(Y)
        settings = chosen(settings)
        allow_missing = settings.get("preprocess.missing", "refuse") != "refuse"
        X = None if X is None else rows(X, allow_missing=allow_missing)
    X = alike_rows(X, comm)
    with agreement(comm):
        data, names = _given(X, Y, labels)
        of_metric = metric_settings(metric)
        used = {} if metric == "precomputed" else {"preprocess.normalise": "none"}
        used.update(of_metric)
        used.update(settings)
        text = [(key, as_text(key, value)) for key, value in used.items()]
        if measures is None:
            measures = ""
        elif not isinstance(measures, str):
            measures = ",".join(measures)
        utf8("measures", measures)
        numbers = [whole("n_neighbors", _neighbours_of(measures, n_neighbors), 1),
                   whole("trust_k", trust_k, 1), whole("exact_limit", exact_limit, 0, 2**62),
                   whole("sample", sample, 1, 2**62)]
        seed = seed_of(random_state)
    labels = alike(data.get("labels"), names, comm)
    if labels is not None:
        data["labels"] = labels
    if comm is not None:
        seed = comm.bcast(seed)
    found = _core.evaluate(made, text, data, Y, measures, *numbers, seed)
    return {name: value for name, value, _ in found}


def _neighbours_of(measures, usual):
    """The neighbours that "5-NN accuracy" names; the usual ones where no name has a number."""
    named = {int(number) for number in re.findall(r"(\d+)-nn accuracy", measures.lower())}
    if len(named) > 1:
        raise ValueError(f"label accuracies of {sorted(named)} neighbours are as many calls of evaluate")
    return named.pop() if named else usual


def _given(X, Y, labels):
    """Rows and labels as the library takes them, one of each for each position; names of classes."""
    names = None
    if X is not None and X.ndim != 2:
        raise ValueError(f"X is a matrix of rows, and not of {X.ndim} dimensions")
    if X is not None and X.shape[0] != Y.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, and Y has {Y.shape[0]} positions")
    data = {"count": int(Y.shape[0])} if X is None else given(X)
    if labels is not None:
        data["labels"], names = codes(labels)
        if len(data["labels"]) != Y.shape[0]:
            raise ValueError(f"there are {len(data['labels'])} labels for {Y.shape[0]} positions")
    return data, names
