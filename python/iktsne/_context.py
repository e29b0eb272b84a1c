"""The contexts of this process, and values of settings as the library takes them."""

import atexit
import contextlib
import difflib
import functools
import inspect
import operator
import os
import re
import threading
from collections.abc import Mapping

from . import _core

_contexts = {}
_making = threading.Lock()


@functools.cache
def _table():
    """What settings() copies from. A thread sees it whole or makes it itself."""
    table = {}
    for entry in _core.settings():
        entry = dict(entry)
        if entry["choices"]:
            entry["choices"] = entry["choices"].split("|")
        table[entry.pop("key")] = entry
    return table


def settings():
    """All keys of ``settings={...}``: a dict from "section.key" to a dict with its type, default,
    least and largest value, choices, unit and help."""
    return {key: dict(entry) for key, entry in _table().items()}


# Parameters of TSNE that stand for one key each; None leaves the key at its default.
KEYS = {
    "n_components": "layout.dimensions",
    "n_neighbors": "affinity.neighbours",
    "perplexity": "gaussian.perplexity",
    "psi": "isolation.psi",
    "t": "isolation.partitionings",
    "early_exaggeration": "layout.exaggeration",
    "early_exaggeration_iter": "layout.exaggeration_iterations",
    "max_iter": "layout.iterations",
    "exaggeration": "layout.final_exaggeration",
    "dof": "layout.degrees_of_freedom",
}

# What is said to names of other packages where the program's own hint is of no help here.
_HINTS = {
    "neighbors_key neighbors connectivities distances obsp precomputed": "a graph is named by obsp= of "
    "iktsne.tl.tsne, as obsp='distances', or given as X with metric='precomputed'",
    "use_rep layer obsm n_pcs n_pca initial_dims": "what is embedded of an AnnData is said by use_rep=, "
    "layer= and n_pcs= of iktsne.tl.tsne; settings={'preprocess.pca': 50} reduces any rows",
    "labels label hue c groupby cluster_key colour color_by": "what gives the colours is color= of "
    "iktsne.view, and classes are labels= of iktsne.evaluate",
    "palette color_map cmap colors": "colours are chosen on the page; those of an AnnData are its uns",
    "gene_symbols": "variables are found by their index, and by gene_symbols or feature_name of var",
}

_STAND_FOR = {"metric": "preprocess.metric", "kernel": "affinity.kind", "init": "layout.init",
              "learning_rate": "layout.learning_rate", "random_state": "run.seed", "n_jobs": "run.threads",
              **KEYS}


def _hint(name, known):
    """What to write in place of the argument `name`, as the end of a sentence."""
    for names, sentence in _HINTS.items():
        if name in names.split():
            return f": {sentence}"
    sentence = _core.hint(name)
    if sentence is None:
        near = difflib.get_close_matches(name, known, 1)
        return f": did you mean {near[0]!r}?" if near else f"; it has {', '.join(known)}"
    keys = [key for key in settings() if re.search(rf"(?<![\w.]){re.escape(key)}(?![\w.]*\w)", sentence)]
    here = [f"{parameter}= for {key}" for parameter, key in _STAND_FOR.items() if key in keys]
    others = [f"{key!r}: ..." for key in keys if key not in _STAND_FOR.values()]
    here += [f"settings={{{', '.join(others)}}}"] if others else []
    return f": {sentence}" + (f". Here write {', '.join(here)}" if here else "")


def with_hints(function):
    """A function that answers to an argument which it has not with what to write in its place."""
    parameters = inspect.signature(function).parameters
    known = [name for name in parameters if name != "self"]

    @functools.wraps(function)
    def call(*args, **given):
        for name in given:
            if name not in parameters:
                raise TypeError(f"{function.__qualname__.split('.')[0]} has no argument {name!r}"
                                + _hint(name, known))
        return function(*args, **given)

    return call


def whole(name, value, least=0, most=2**31 - 1):
    """The argument of that name, which has to be a whole number within these limits."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise ValueError(f"{name}={value!r} is no whole number from {least} to {most}")
    return number


def chosen(settings):
    """The argument settings, as a dict."""
    if settings is not None and not isinstance(settings, Mapping):
        raise TypeError(f"settings={settings!r} is no dict from \"section.key\" to a value")
    return dict(settings or {})


def threads_of(n_jobs):
    """Threads for scikit-learn's n_jobs: None is 1, or what joblib's context says; -1 all
    processors that this process may use, -2 all but one. 0 stands for all in the library."""
    if n_jobs is None:
        try:
            from joblib.parallel import get_active_backend
        except ImportError:
            return 1
        backend, wanted = get_active_backend()[:2]
        n_jobs = wanted if wanted is not None else 1
    try:
        is_none = isinstance(n_jobs, bool) or operator.index(n_jobs) == 0
    except TypeError:
        is_none = True
    if is_none:
        raise ValueError(f"n_jobs={n_jobs!r} is no number of threads: 1 or more, -1 for all, or None")
    n_jobs = whole("n_jobs", n_jobs, -4096, 4096)
    if n_jobs == -1:
        return 0
    if n_jobs < 0:
        available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return max(1, available + 1 + n_jobs)
    return n_jobs


def _address_of(comm):
    """Where the handle of a communicator of mpi4py is, which is of the MPI of this package; 0 for a
    rank alone in a package without MPI."""
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError("comm= is a communicator of mpi4py, which is not installed") from error
    if not isinstance(comm, MPI.Comm):
        raise TypeError(f"comm is a communicator of mpi4py, not {type(comm).__name__}")
    if comm == MPI.COMM_NULL:
        raise ValueError("comm is MPI.COMM_NULL: it was freed, or this rank is in no group of it")
    own, other = (text.strip("\0 \n") for text in (_core.mpi_library(), MPI.Get_library_version()))
    if own.startswith("none"):
        if comm.Get_size() == 1:
            return 0
        raise ValueError(f"comm has {comm.Get_size()} ranks, and this iktsne was built for one process: "
                         "install it from its sources, with MPI (docs/install.md)")
    if own != other:
        raise ImportError(f"mpi4py stands on another MPI library ({other.splitlines()[0]}) than iktsne "
                          f"({own.splitlines()[0]}): install it by pip install --no-binary mpi4py mpi4py")
    return MPI._addressof(comm)


def context(comm=None, n_jobs=-1, verbose=0):
    """A context for a communicator of mpi4py, or for this process alone; they are kept, as making
    one for a communicator is a call of all its ranks."""
    threads = threads_of(n_jobs)
    level = 1 + min(whole("verbose", verbose), 3)  # warnings; stages; details
    address = 0 if comm is None else _address_of(comm)
    with _making:  # once, whichever thread comes first: it is a call of all ranks
        if address not in _contexts:
            _contexts[address] = (_core.Context(address), comm)  # the communicator stays alive
        kept = _contexts[address][0]
    return kept.with_options(threads, level)


@contextlib.contextmanager
def agreement(comm):
    """Around what a rank checks by itself before a call of all ranks: where one of them raises an
    exception all do, as the others would wait for it for ever. None: this process is alone."""
    if comm is None:
        yield
        return
    try:
        yield
    except Exception as error:
        comm.allgather(f"{type(error).__name__}: {error}")
        raise
    for rank, text in enumerate(comm.allgather(None)):
        if text is not None:
            raise ValueError(f"rank {rank} of comm has failed: {text}")


# Before mpi4py ends MPI, which it does at the exit as well: last registered, first called.
atexit.register(_contexts.clear)


def utf8(key, text):
    """The text itself. Errors: ValueError where it is none in UTF-8, as half a surrogate is not."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{key}={text!r} is no text in UTF-8: it holds half of a surrogate pair") from None
    return text


def as_text(key, value):
    """A value of Python's as the library reads it."""
    utf8("settings", str(key))
    if value is None:
        return "auto"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(float(value))  # float64 of numpy is a float as well
    try:
        import numpy as np

        if isinstance(value, np.bool_):
            return "yes" if value else "no"
        if isinstance(value, np.floating):
            return repr(float(value))
        if isinstance(value, np.integer):
            return str(int(value))
    except ImportError:
        pass
    if isinstance(value, (int, str, os.PathLike)):
        return utf8(key, str(value))
    raise TypeError(f"settings[{key!r}] is {value!r}: give a number, a text, True, False or None (auto)")
