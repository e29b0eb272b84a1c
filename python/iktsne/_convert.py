"""Tables of Parquet, Arrow and Feather as the HDF5 that the program reads: vectors or numbers as rows, the other
columns beside them. Batch after batch, so that a file need not fit in memory. Needs pyarrow and h5py."""

import argparse
import os
import sys

import numpy as np

BATCH = 65536

# Endings by which programs know tables that are not HDF5; the program has the whole list (src/base/files.c).
OTHERS = (".npy", ".npz", ".csv", ".tsv", ".txt", ".json", ".parquet", ".arrow", ".feather", ".mtx", ".mat", ".gz")


def _open(path):
    """The schema of a table, and its batches."""
    import pyarrow as pa

    with open(path, "rb") as file:
        head = file.read(6)
    if head[:4] == b"PAR1":
        import pyarrow.parquet

        file = pyarrow.parquet.ParquetFile(path)
        return file.schema_arrow, file.iter_batches(batch_size=BATCH)
    if head == b"ARROW1":
        file = pa.ipc.open_file(pa.memory_map(path))
        return file.schema, (file.get_batch(i) for i in range(file.num_record_batches))
    if head[:4] == b"FEA1":
        import pyarrow.feather

        table = pyarrow.feather.read_table(path)
        return table.schema, table.to_batches(BATCH)
    try:
        stream = pa.ipc.open_stream(pa.memory_map(path))
    except pa.ArrowInvalid:
        raise ValueError(f"{path} is no table of Parquet, Arrow or Feather") from None
    return stream.schema, stream


def _kind(type):
    """What a column is: "vector", "number", "text", or None."""
    import pyarrow as pa

    t = pa.types
    type = getattr(type, "storage_type", type)
    if t.is_dictionary(type):
        type = type.value_type
    if t.is_list(type) or t.is_large_list(type) or t.is_fixed_size_list(type):
        return "vector" if _kind(type.value_type) == "number" else None
    if t.is_floating(type) or t.is_integer(type) or t.is_boolean(type) or t.is_decimal(type):
        return "number"
    return "text" if t.is_string(type) or t.is_large_string(type) else None


def _choose(path, schema, column):
    """Names of the columns that are the rows; of those that are kept beside them, with their kinds; and, with their
    types, of those that are left out."""
    twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if twice:
        raise ValueError(f"{path} has several columns of the same name: {', '.join(twice)}; rename them")
    kinds = {field.name: _kind(field.type) for field in schema}
    vectors = [name for name, kind in kinds.items() if kind == "vector"]
    rows = column.split(",") if column else vectors or [n for n, k in kinds.items() if k == "number"]
    for name in rows:
        if kinds.get(name) not in ("vector", "number"):
            raise ValueError(f"{path} has no column '{name}' of numbers or vectors; it has {', '.join(kinds)}")
    if not column and len(vectors) > 1:
        raise ValueError(f"{path} holds vectors in several columns: {', '.join(vectors)}; name one (--column)")
    if not rows:
        raise ValueError(f"{path} has no column of numbers or vectors")
    beside = {n: k for n, k in kinds.items() if k in ("number", "text") and n not in rows}
    kept = {}
    for name in beside:
        other = kept.setdefault(_stored(name), name)
        if other != name:
            raise ValueError(f"{path}: the columns '{other}' and '{name}' would both be columns/{_stored(name)}; "
                             "rename one")
    return rows, beside, [f"{field.name} ({field.type})" for field in schema
                          if field.name not in rows and field.name not in beside]


def _stored(name):
    """The name of a column as that of a data set."""
    return name.replace("/", "_")


def _part(batch, name, first):
    """A column of a batch as a matrix."""
    import pyarrow as pa

    array = batch.column(batch.schema.get_field_index(name))
    array = getattr(array, "storage", array)
    if _kind(array.type) == "number":
        return array.cast(pa.float64()).to_numpy(zero_copy_only=False)[:, None]
    if array.null_count:
        row = first + int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
        raise ValueError(f"column '{name}', row {row} (counted from 0): the vector is missing")
    values = array.flatten()
    if values.null_count:
        raise ValueError(f"column '{name}': a number of a vector is missing")
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    if pa.types.is_fixed_size_list(array.type):
        return values.to_numpy(zero_copy_only=False).reshape(-1, array.type.list_size)
    lengths = array.value_lengths().to_numpy(zero_copy_only=False)
    if len(lengths) and (lengths != lengths[0]).any():
        row = int(np.argmax(lengths != lengths[0]))
        raise ValueError(f"column '{name}', row {first + row} (counted from 0): {lengths[row]} numbers, where "
                         f"others have {lengths[0]}")
    return values.to_numpy(zero_copy_only=False).reshape(len(lengths), -1)


def _beside(batch, name, kind, real):
    """A column of a batch that is kept. Integers are such while no number is missing; `real` takes the names of those
    of which one was, which are floating numbers (pyarrow refuses what these do not hold)."""
    import pyarrow as pa

    array = batch.column(batch.schema.get_field_index(name))
    if kind == "text":
        return ["" if text is None else text for text in array.cast(pa.string()).to_pylist()]
    if array.null_count:
        real.add(name)
    if name not in real and (pa.types.is_integer(array.type) or pa.types.is_boolean(array.type)):
        return array.to_numpy(zero_copy_only=False)
    return array.cast(pa.float64()).to_numpy(zero_copy_only=False)


def _make_real(group, name):
    """Integers that have been written, as floating numbers: of a later row the number is missing."""
    values = group[name][:]
    if values.dtype.kind in "iu" and len(values) and max(-int(values.min()), int(values.max())) > 2**53:
        raise ValueError(f"column '{name}': a number is missing, and others are integers over 2^53, which floating "
                         "numbers, that NaN is one of, do not hold")
    del group[name]
    _append(group, name, values.astype("f8"), 0)


def _append(group, name, values, first, **how):
    """Rows at the end of a data set, which the first of them make."""
    values = np.asarray(values, dtype=how.pop("dtype", None))
    if name not in group:
        rows = max(1, (1 << 20) // max(1, values.itemsize * int(np.prod(values.shape[1:]))))
        group.create_dataset(name, (0, *values.shape[1:]), values.dtype, maxshape=(None, *values.shape[1:]),
                             chunks=(rows, *values.shape[1:]), track_times=False, **how)
    if np.issubdtype(values.dtype, np.floating) and group[name].dtype.kind in "iub":
        _make_real(group, name)
    data = group[name]
    if data.shape[1:] != values.shape[1:]:
        raise ValueError(f"row {first} (counted from 0): {values.shape[1]} numbers, where others have {data.shape[1]}")
    data.resize(first + len(values), axis=0)
    data[first:] = values


def convert(path, out, column=None, left_out=None):
    """Writes the table in the file `path` as the HDF5 file `out`: X, the only column of vectors, or all columns of
    numbers, or those that `column` names with commas between; the columns beside them as columns/NAME. Returns the
    numbers of rows and columns; the list `left_out` receives the columns that are neither."""
    import h5py

    schema, batches = _open(path)
    rows, beside, others = _choose(path, schema, column)
    real, first, temporary = set(), 0, f"{out}.{os.getpid()}.tmp"
    try:
        with h5py.File(temporary, "w") as file:
            for batch in batches:
                if batch.num_rows == 0:
                    continue
                parts = [_part(batch, name, first) for name in rows]
                _append(file, "X", np.hstack(parts) if len(parts) > 1 else parts[0], first)
                for name, kind in beside.items():
                    texts = {"dtype": h5py.string_dtype()} if kind == "text" else {}
                    _append(file.require_group("columns"), _stored(name), _beside(batch, name, kind, real), first,
                            **texts)
                first += batch.num_rows
            if first == 0:
                raise ValueError(f"{path} has no rows")
            file.attrs["source"] = str(path)
            shape = file["X"].shape
        os.replace(temporary, out)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
    if left_out is not None:
        left_out += others
    return shape


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m iktsne")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("convert", help="a table of Parquet, Arrow or Feather as HDF5")
    verb.add_argument("input")
    verb.add_argument("output")
    verb.add_argument("--column", help="the columns that are the rows, with commas between; by default the only one "
                      "of vectors, or all of numbers")
    verb.add_argument("--overwrite", action="store_true", help="replace the output if it exists")
    asked = parser.parse_args(arguments)
    stem, ending = os.path.splitext(asked.output)
    if ending.lower() in OTHERS:
        print(f"iktsne: error: the output is an HDF5 file, and by the name {asked.output} programs would take it for "
              f"another format: name it {stem}.h5", file=sys.stderr)
        return 2
    if os.path.exists(asked.output) and not asked.overwrite:
        print(f"iktsne: error: {asked.output} exists; --overwrite replaces it", file=sys.stderr)
        return 2
    left_out = []
    try:
        n, d = convert(asked.input, asked.output, asked.column, left_out)
    except ImportError as error:
        print(f"iktsne: error: {error}: pip install pyarrow h5py", file=sys.stderr)
        return 4
    except (OSError, ValueError) as error:
        print(f"iktsne: error: {error}", file=sys.stderr)
        return 3
    if left_out:
        print(f"iktsne: left out: {', '.join(left_out)}", file=sys.stderr)
    print(f"iktsne: {asked.output}: {n} rows x {d} columns", file=sys.stderr)
    return 0
