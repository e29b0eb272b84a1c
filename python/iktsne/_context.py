"""The contexts of this process, and values of settings as the library takes them."""

import atexit
import os

from . import _core

_contexts = {}
_table = None


def settings():
    """All keys of ``settings={...}``: a dict from "section.key" to a dict with its type, default,
    least and largest value, choices, unit and help."""
    global _table
    if _table is None:
        _table = {}
        for entry in _core.settings():
            entry = dict(entry)
            if entry["choices"]:
                entry["choices"] = entry["choices"].split("|")
            _table[entry.pop("key")] = entry
    return {key: dict(entry) for key, entry in _table.items()}


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
    if isinstance(n_jobs, bool) or int(n_jobs) != n_jobs or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} is no number of threads: 1 or more, -1 for all, or None")
    if n_jobs == -1:
        return 0
    if n_jobs < 0:
        available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return max(1, available + 1 + int(n_jobs))
    return int(n_jobs)


def context(comm=None, n_jobs=-1, verbose=0):
    """A context for a communicator of mpi4py, or for this process alone; they are kept, as making
    one for a communicator is a call of all its ranks."""
    threads = threads_of(n_jobs)
    address = 0
    if comm is not None:
        try:
            from mpi4py import MPI
        except ImportError as error:
            raise ImportError("comm= is a communicator of mpi4py, which is not installed") from error
        if not isinstance(comm, MPI.Comm):
            raise TypeError(f"comm is a communicator of mpi4py, not {type(comm).__name__}")
        address = MPI._addressof(comm)
    if address not in _contexts:
        _contexts[address] = (_core.Context(address, threads), comm)  # the communicator stays alive
    made = _contexts[address][0]
    made.set_threads(threads)
    made.set_log(1 + min(max(int(verbose), 0), 3))  # warnings; stages; details
    return made


# Before mpi4py ends MPI, which it does at the exit as well: last registered, first called.
atexit.register(_contexts.clear)


def as_text(key, value):
    """A value of Python's as the library reads it."""
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
        return str(value)
    raise TypeError(f"settings[{key!r}] is {value!r}: give a number, a text, True, False or None (auto)")
