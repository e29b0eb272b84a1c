"""Tables of pandas, pyarrow and polars: which of their columns are the rows, and columns as arrays of numpy."""

import numpy as np


def package(value):
    """The library that a table or a column is of: "pyarrow", "polars", or another."""
    return type(value).__module__.split(".")[0]


def names(table):
    """Names of the columns of a table or data frame; None of anything else."""
    if package(table) == "pyarrow":
        return getattr(table, "column_names", None)
    if hasattr(table, "collect_schema") and not hasattr(table, "get_column"):
        raise TypeError("X is a LazyFrame: give X.collect()")
    is_frame = getattr(table, "ndim", 0) == 2 and hasattr(table, "iloc") or hasattr(table, "get_column")
    return list(table.columns) if is_frame else None


def column(table, name, what="X"):
    """The column of that name. Errors: ValueError where the table has none, or several."""
    known = names(table)
    if known is None:
        raise ValueError(f"{what} is no table, of which {name!r} would be a column: give the column itself")
    if known.count(name) > 1:
        raise ValueError(f"{what} has {known.count(name)} columns {name!r}: rename them")
    if name not in known:
        raise ValueError(f"{what} has no column {name!r}; it has {', '.join(map(str, known))}")
    return table[name]


def others(table, name):
    """Names of all columns but that one, which the table has. Errors: ValueError where it is the only one."""
    left = [one for one in names(table) if one != name]
    if not left:
        raise ValueError(f"X has no column but the labels {name!r}: give a table with the columns that are to be "
                         "embedded")
    return left


def as_array(values):
    """A column of pyarrow or polars as an array of numpy: None, or NaN of floating numbers, for what is missing;
    whole numbers are not rounded, categories are their texts. Anything else as it is."""
    kind = package(values)
    if kind == "polars" and hasattr(values, "null_count") and hasattr(values, "dtype"):
        if values.dtype.is_integer() and values.null_count():
            return np.array(values.to_list(), dtype=object)
        return values.to_numpy()
    if kind == "pyarrow" and hasattr(values, "null_count") and hasattr(values, "type"):
        import pyarrow as pa

        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if pa.types.is_integer(values.type) and values.null_count:
            return np.array(values.to_pylist(), dtype=object)
        return (values.to_numpy() if isinstance(values, pa.ChunkedArray)
                else values.to_numpy(zero_copy_only=False))
    return values


def has_vectors(array):
    """Whether an array of one dimension holds a list or an array in each of its entries."""
    if array.ndim != 1 or array.dtype.kind != "O" or len(array) == 0:
        return False
    first = next((value for value in array if value is not None and value is not np.ma.masked), None)
    return not isinstance(first, (str, bytes, dict)) and hasattr(first, "__len__") and np.ndim(first) == 1


def matrix(array, name):
    """Vectors, a list or an array for each row, as a matrix. Errors: ValueError where one is missing or of another
    length than the first."""
    lengths = np.array([len(value) if hasattr(value, "__len__") else -1 for value in array])
    if (lengths < 0).any():
        raise ValueError(f"{name}, row {int(np.argmax(lengths < 0))} (counted from 0): the vector is missing")
    if (lengths != lengths[0]).any():
        row = int(np.argmax(lengths != lengths[0]))
        raise ValueError(f"{name}, row {row} (counted from 0): {lengths[row]} numbers, where others have "
                         f"{lengths[0]}")
    if isinstance(array[0], np.ndarray):
        return np.concatenate(list(array)).reshape(len(array), -1)
    return np.array(array.tolist()).reshape(len(array), -1)
