"""Arguments of Python brought into the form that the library takes, copied only where they have to
be: rows (`rows`) and classes (`codes`)."""

import datetime

import numpy as np

from . import _table

FLOATS = (np.float64, np.float32, np.uint8)  # what the library reads; others become the first
_EXACT = 2**53  # a float64 holds all whole numbers up to here
_TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def is_sparse(X):
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


# --- rows ------------------------------------------------------------------------------------------


def rows(X, name="X", allow_missing=False):
    """X as uint8, float32 or float64 in C order and in the bytes of this machine, or as CSR rows of
    these types: whatever an argument of rows or positions may be, a list, a data frame, any array, a
    column of vectors.

    Masked values and those that pandas calls missing become NaN; NaN is refused unless missing
    values are allowed, and so are infinity, complex numbers, dates, texts, and whole numbers that a
    float64 does not hold.
    """
    if hasattr(X, "obsm"):
        raise TypeError(f"{name} is an AnnData: embed it by iktsne.tl.tsne(adata), or give adata.X")
    if hasattr(X, "sparse") and hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:
        X = X.sparse.to_coo()  # all columns are sparse
    elif _table.names(X) is not None:
        X = _frame(X, name)
    if is_sparse(X):
        X = X.tocsr()
        try:
            X.check_format(full_check=True)  # whoever follows wrong indices reads memory of others
        except ValueError as error:
            raise ValueError(f"{name} is a sparse matrix with wrong indices: {error}") from error
        data = _numbers(X.data, name, X)
        if data is not X.data:
            X = type(X)((data, X.indices, X.indptr), shape=X.shape)
        _check_finite(X, name, allow_missing)
        return X
    array = _numbers(X, name)
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).reshape(array.shape)
    _check_finite(array, name, allow_missing)
    return array


def _frame(X, name):
    """A table as an array; where its columns differ, each for itself, since numpy would round whole
    numbers that stand beside fractions."""
    kinds = set(X.dtypes) if hasattr(X, "iloc") else ()
    if len(kinds) == 1 and isinstance(next(iter(kinds)), np.dtype) and next(iter(kinds)).kind != "O":
        return np.asarray(X)
    labels = _table.names(X)
    columns = [X.iloc[:, c].to_numpy() if hasattr(X, "iloc") else _table.as_array(X[label])
               for c, label in enumerate(labels)]
    for label, values in zip(labels, columns):
        if values.ndim == 2 or _table.has_vectors(values):
            raise _of_vectors(name, label)
    return _beside(columns, [f"column {label!r} of {name}" for label in labels], X.shape)


def _beside(columns, places, shape):
    """Columns of numbers, and matrices, beside each other in one type that holds them all."""
    parts = [_numbers(values, place) for values, place in zip(columns, places)]
    return np.column_stack(parts) if parts else np.empty(shape)


def _of_vectors(name, label):
    return ValueError(f"{name} has vectors in its column {label!r}: name the columns that are to be "
                      f"embedded, fit(X, column={label!r})")


def chosen_columns(X, column, name="X", takes_vectors=True):
    """The columns of a table that `column` names, a name or a list of them, as a matrix: numbers as a
    column each, vectors as many, or refused as in a table of which no columns are named."""
    labels = list(column) if isinstance(column, (list, tuple)) else [column]
    if not labels:
        raise ValueError("column names no column")
    places = [f"column {label!r} of {name}" for label in labels]
    columns = [np.ma.asanyarray(_table.as_array(_table.column(X, label, name))) for label in labels]
    for label, values in zip(labels, columns):
        if not takes_vectors and (values.ndim == 2 or _table.has_vectors(values)):
            raise _of_vectors(name, label)
    columns = [_vectors(values, place) for values, place in zip(columns, places)]
    return _beside(columns, places, (0, 0))


def alike_rows(X, comm):
    """COLLECTIVE. X from `rows`, or None, in the type that holds the rows of all ranks of comm, as if
    they were one array. A rank without rows gets the columns of the others: an empty column of lists
    does not tell how long they would be."""
    if comm is None:
        return X
    of_ranks = comm.allgather(None if X is None else (X.shape, X.dtype))
    filled = [one for one in of_ranks if one is not None and len(one[0]) == 2 and one[0][0] > 0]
    if X is None or not filled:
        return X
    if X.shape[:1] == (0,) and not is_sparse(X):
        X = np.empty((0, filled[0][0][1]))
    return X.astype(np.result_type(*(dtype for _, dtype in filled)), copy=False)


def _vectors(values, place):
    """A column as it is, or its vectors as a matrix."""
    if values.dtype.kind in "OUT" and values.ndim == 1 and len(values) and isinstance(values[0], str) and (
            values[0].lstrip()[:1] == "["):
        raise ValueError(f"{place} has vectors as texts: [json.loads(text) for text in ...] makes numbers of them")
    return _table.matrix(np.asarray(values), place) if _table.has_vectors(values) else values


def _numbers(values, name, sparse=None):
    """Numbers of any type as one of FLOATS, with NaN in place of what is masked or missing; those of
    sparse rows where these are given."""
    mask = np.ma.getmask(values)
    array = np.asarray(_table.as_array(values))
    if _table.has_vectors(array):
        array, mask = _table.matrix(array, name), np.ma.nomask
    if array.dtype.kind == "O":
        array = _objects(array, name)
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "c":
        raise ValueError(f"Complex data not supported: {name} is of {array.dtype}")
    if kind in "mM":
        raise _of_times(name)
    if kind not in "biuf":
        raise ValueError(f"{name} has to be of numbers, and is of {array.dtype}")
    if kind in "iu" and size == 8 and array.size:
        if array.max() > _EXACT or array.min() < -_EXACT:
            raise _inexact(_place(name, (array > _EXACT) | (array < -_EXACT), sparse))
    if array.dtype.type not in FLOATS:
        array = array.astype(np.float32 if kind == "f" and size <= 4 else
                             np.uint8 if kind == "b" else np.float64)
    if mask is not np.ma.nomask and mask.any():
        array = array.astype(np.result_type(array.dtype, np.float32))
        array[mask] = np.nan
    return array


def _objects(array, name):
    """Objects as float64: numbers, and what stands for a missing one."""
    kinds = {type(value) for value in array.flat}
    if any(kind.__name__ == "NAType" for kind in kinds):  # of pandas; numpy itself takes None
        array = np.where(is_missing(array), np.nan, array)
    if any(issubclass(kind, _TIMES) for kind in kinds):
        raise _of_times(name)
    if any(issubclass(kind, (str, bytes)) for kind in kinds):
        raise ValueError(f"{name} has to be of numbers, and has texts: leave them out or number them; "
                         "texts of numbers become such by .astype(float)")
    if any(issubclass(kind, (int, np.integer)) for kind in kinds):
        wide = [isinstance(value, (int, np.integer)) and abs(int(value)) > _EXACT
                for value in array.flat]
        if any(wide):
            raise _inexact(_place(name, np.reshape(wide, array.shape)))
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} has to be of numbers: {error}") from error


def is_missing(array):
    """Which entries are NaN, None, or what pandas has in their place."""
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype.kind in "mM":
        return np.isnat(array)
    if array.dtype.kind != "O":
        return np.zeros(array.shape, dtype=bool)
    found = [value is None or type(value).__name__ in ("NAType", "NaTType")
             or isinstance(value, (float, np.floating)) and value != value for value in array.flat]
    return np.reshape(found, array.shape).astype(bool)


def _place(name, found, sparse=None):
    """Where the first of the values is that were found: "X, row 3, column 2"."""
    place = np.argwhere(found)[0] if np.ndim(found) else []
    if sparse is not None:
        place = np.searchsorted(sparse.indptr, place[0], side="right") - 1, sparse.indices[place[0]]
    return name + "".join(f", {axis} {at}" for axis, at in zip(("row", "column"), place))


def _inexact(place):
    return ValueError(f"{place}: an integer beyond 2^53 loses digits as a floating number; "
                      "store it otherwise")


def _of_times(name):
    return ValueError(f"{name} holds dates or times, which are no numbers: give the days or seconds "
                      "since one of them, such as (t - t.min()) / numpy.timedelta64(1, 'D')")


def _check_finite(X, name, allow_missing):
    values = X.data if is_sparse(X) else X
    if values.dtype.kind != "f":
        return
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):  # nearly always; else it may be an overflow
            return
    bad = np.isinf(values) if allow_missing else ~np.isfinite(values)
    if not bad.any():
        return
    where = _place(name, bad, X if is_sparse(X) else None)
    is_nan = np.isnan(values[bad][0])
    what = "NaN, a missing value" if is_nan else "infinity"
    hint = ("" if name != "X" or not is_nan else ": fill it or leave its row out, or say by settings="
            "{'preprocess.missing': 'mean'} what stands for missing values")
    raise ValueError(f"{where} is {what}{hint}")


def positions(Y):
    """Positions of any program as the library takes them: a matrix of float32."""
    Y = rows(Y, "the map")
    if Y.ndim == 1:
        Y = Y[:, None]
    if is_sparse(Y) or Y.ndim != 2 or not 1 <= Y.shape[1] <= 3:
        raise ValueError(f"a map is an array of n rows and one to three columns, not of shape {Y.shape}")
    return np.ascontiguousarray(Y, dtype=np.float32)


def csr(X):
    """indptr, indices and data of CSR rows, the first two of one type."""
    start, column = X.indptr, X.indices
    wide = start.dtype.itemsize > 4 or column.dtype.itemsize > 4
    index = np.int64 if wide else np.int32
    return (
        np.ascontiguousarray(start, dtype=index),
        np.ascontiguousarray(column, dtype=index),
        np.ascontiguousarray(X.data, dtype=X.data.dtype.newbyteorder("=")),
    )


def given(X, start=None, is_graph=False):
    """What _core.embed and its like are handed: X from `rows`, or sparse as a graph."""
    out = {"count": int(X.shape[0])}
    if is_sparse(X):
        out["graph" if is_graph else "sparse"] = (*csr(X), int(X.shape[1]))
    else:
        out["rows"] = X
    if start is not None:
        out["start"] = start.astype(np.float32) if start.dtype == np.uint8 else start
    return out


# --- classes ---------------------------------------------------------------------------------------


def text_of(value):
    """A label as text. Bytes are taken for UTF-8, and those that are none stay apart."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def plain(known):
    """Labels without missing ones as numpy has numbers and texts, such as whole numbers that stood
    beside the NA of pandas; of any others, such as tuples, the texts."""
    if known.dtype.kind == "S" or known.dtype.kind == "O" and not all(
            isinstance(value, (int, float, str, np.number, np.bool_)) for value in known):
        return np.array([text_of(value) for value in known], dtype=str)
    return np.asarray(known.tolist()) if known.dtype.kind == "O" else known


def codes(labels):
    """Labels of any type as int64, and a name for each class; None where they are their own names.
    Rows without one (masked, None, NaN) are class -1, as in the program."""
    labels = _table.as_array(labels)
    if hasattr(labels, "cat"):  # a categorical column of pandas
        labels = labels.cat
    if hasattr(labels, "categories") and hasattr(labels, "codes"):  # or a pandas.Categorical
        return np.ascontiguousarray(labels.codes, dtype=np.int64), [str(c) for c in labels.categories]
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError("labels are one for each row")
    missing = np.ma.getmask(labels) | is_missing(array)
    known = plain(array[~missing])
    is_wide = known.dtype == np.uint64 and (known >= 2**63).any()
    is_whole = known.dtype.kind == "f" and bool(np.all(np.isfinite(known) & (known == np.floor(known))))
    if known.dtype.kind in "iub" and not is_wide or is_whole:
        if missing.any() and (known < 0).any():
            raise ValueError("labels have both missing and negative values; missing ones would become "
                             "class -1")
        number, names = known, None
    else:
        classes, number = np.unique(known.astype(str), return_inverse=True)
        names = [str(name) for name in classes]
    out = np.full(len(array), -1, dtype=np.int64)
    out[~missing] = number.reshape(-1)
    return out, names


def alike(number, names, comm):
    """COLLECTIVE. The classes of `codes`, or None, numbered alike on the ranks of comm: where one has
    names that another has not, by the sorted names of all; a number is a name there, too."""
    if comm is None:
        return number
    of_ranks = comm.allgather(names)
    if all(one == of_ranks[0] for one in of_ranks):
        return number
    if number is not None:
        number = number.copy()
        known = number != -1
        if names is None:
            values, number[known] = np.unique(number[known], return_inverse=True)
            names = [str(value) for value in values]
    every = sorted(set().union(*(one or [] for one in comm.allgather(names))))
    if number is not None and known.any():
        number[known] = np.searchsorted(every, names)[number[known]]
    return number
