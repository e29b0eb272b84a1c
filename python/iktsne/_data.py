"""Arrays of Python brought into the form that the library takes, copied only where they have to be."""

import numpy as np

FLOATS = (np.float64, np.float32, np.uint8)  # what the library reads; others become the first


def is_sparse(X):
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def _numbers(array):
    """uint8, float32 or float64, contiguous and in the bytes of this machine."""
    array = np.asarray(array)
    if array.dtype.type not in FLOATS:
        if array.dtype.kind not in "biufO":
            raise ValueError(f"X has to be of numbers, and is of {array.dtype}")
        exact = array.dtype.kind == "f" and array.dtype.itemsize <= 4
        array = array.astype(np.float32 if exact else np.uint8 if array.dtype == bool else np.float64)
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))


def csr(X):
    """indptr, indices and data of sparse rows, the first two of one type."""
    X = X.tocsr()
    start, column = X.indptr, X.indices
    wide = start.dtype.itemsize > 4 or column.dtype.itemsize > 4
    index = np.int64 if wide else np.int32
    return (
        np.ascontiguousarray(start, dtype=index),
        np.ascontiguousarray(column, dtype=index),
        _numbers(X.data),
    )


def given(X, labels=None, start=None, is_graph=False):
    """What _core.embed and its like are handed: X as rows, which may be sparse, or sparse as a graph."""
    out = {"count": int(X.shape[0])}
    if is_sparse(X):
        parts = csr(X)
        out["graph" if is_graph else "sparse"] = (*parts, int(X.shape[1]))
    else:
        out["rows"] = _numbers(X)
    if labels is not None:
        out["labels"] = codes(labels)[0]
    if start is not None:
        start = _numbers(start)
        out["start"] = start.astype(np.float32) if start.dtype == np.uint8 else start
    return out


def codes(labels):
    """Labels of any type as int64, and a name for each class; None where they are their own names."""
    if hasattr(labels, "cat"):  # a categorical column of pandas
        names = [str(name) for name in labels.cat.categories]
        return np.ascontiguousarray(labels.cat.codes, dtype=np.int64), names
    if hasattr(labels, "categories") and hasattr(labels, "codes"):  # a pandas.Categorical
        return np.ascontiguousarray(labels.codes, dtype=np.int64), [str(c) for c in labels.categories]
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError("labels are one for each row")
    if array.dtype.kind in "iub" and not (array.dtype == np.uint64 and (array >= 2**63).any()):
        return np.ascontiguousarray(array, dtype=np.int64), None
    if array.dtype.kind == "f" and np.isfinite(array).all() and np.all(array == np.floor(array)):
        return np.ascontiguousarray(array, dtype=np.int64), None
    classes, number = np.unique(array.astype(str), return_inverse=True)
    return np.ascontiguousarray(number.reshape(-1), dtype=np.int64), [str(c) for c in classes]
