"""The page to pan and zoom in a map, in a notebook or as a file."""

import html
import os
import tempfile

import numpy as np

from . import _core
from ._context import context
from ._data import codes


class View:
    """An HTML page of a map; a notebook shows it, and save() writes it."""

    def __init__(self, page, height=640):
        self.page = page  # the text of the page, which loads nothing else
        self.height = height

    def save(self, path):
        """Writes the page to a file, which any browser opens."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page)

    def _repr_html_(self):
        return (f'<iframe srcdoc="{html.escape(self.page, quote=True)}" width="100%" '
                f'height="{int(self.height)}" style="border: 1px solid #ccc" '
                'sandbox="allow-scripts allow-downloads"></iframe>')

    def __repr__(self):
        return f"<iktsne.View of {len(self.page) / 1e6:.1f} MB; .save(path) writes it>"


def _column(name, values):
    """(name, classes, numbers, names): numbers with fractions, or of many values, are numbers; all
    else are classes."""
    dtype = getattr(values, "dtype", None)
    array = None if hasattr(values, "cat") or hasattr(values, "codes") else np.asarray(values)
    if array is not None and array.dtype.kind in "iuf" and str(dtype) != "category":
        whole = np.isfinite(array).all() and np.array_equal(array, np.floor(array))
        if not whole or array.max() - array.min() >= 64:
            return name, None, np.ascontiguousarray(array, dtype=np.float64), None
    number, names = codes(values)
    if names is not None:
        names = "\n".join(text.replace("\n", " ") for text in names)
    return name, number, None, names


def _columns_of(color, n):
    """The columns that `color` gives: labels, a dict or a data frame of columns, or nothing."""
    if color is None:
        return []
    if hasattr(color, "columns"):  # a data frame
        named = [(str(name), color[name]) for name in color.columns]
    elif isinstance(color, dict):
        named = [(str(name), values) for name, values in color.items()]
    else:
        named = [(str(getattr(color, "name", None) or "labels"), color)]
    for name, values in named:
        if len(values) != n:
            raise ValueError(f"the column {name!r} has {len(values)} values for {n} rows")
    return [_column(name, values) for name, values in named]


def _from_anndata(adata, basis, color):
    if basis is None:
        known = [k for k in ("X_iktsne", "X_tsne", "X_umap") if k in adata.obsm]
        if not known:
            raise KeyError("there is no map in obsm: run iktsne.tl.tsne(adata), or name one by basis=")
        basis = known[0]
    key = basis if basis in adata.obsm else f"X_{basis}"
    if key not in adata.obsm:
        raise KeyError(f"obsm has no {basis!r}: {', '.join(adata.obsm.keys())}")
    if color is None:  # the categories of obs
        color = [k for k in adata.obs.columns if str(adata.obs[k].dtype) == "category"][:16]
    columns = {}
    for name in [color] if isinstance(color, str) else list(color):
        if name in adata.obs.columns:
            columns[name] = adata.obs[name]
        elif name in adata.var_names:
            values = adata[:, name].X
            columns[name] = np.asarray(values.todense() if hasattr(values, "todense") else values,
                                       dtype=np.float64).reshape(-1)
        else:
            raise KeyError(f"{name!r} is neither a column of obs nor a name of var")
    return adata.obsm[key], columns, key


def view(data, *, color=None, basis=None, title=None, height=640):
    """A page to pan and zoom in a map, coloured by classes or numbers.

    data: positions, an array of shape (n, 1 to 3) of any program; a fitted TSNE; or an AnnData.
    color: for positions, labels or numbers for each row, or several as a dict or a data frame, to
        choose from on the page; for an AnnData, names of columns of obs or of variables (None: the
        categories of obs).
    basis: of an AnnData, the key of obsm; None: X_iktsne, X_tsne or X_umap.
    title: above the map.
    height: of the page in a notebook, in pixels.

    Returns a View: a notebook shows it as the last value of a cell; .save("map.html") writes it.
    """
    name = "map"
    if hasattr(data, "obsm"):
        data, color, name = _from_anndata(data, basis, color)
    elif basis is not None:
        raise ValueError("basis is a key of obsm, and the data are no AnnData")
    elif hasattr(data, "embedding_"):
        data = data.embedding_
    Y = np.ascontiguousarray(np.asarray(data), dtype=np.float32)
    if Y.ndim == 1:
        Y = Y[:, None]
    columns = _columns_of(color, Y.shape[0])
    with tempfile.TemporaryDirectory(prefix="iktsne-") as folder:
        path = os.path.join(folder, "map.html")
        _core.view(context(), {"count": int(Y.shape[0])}, Y, path, title or name, columns)
        with open(path, encoding="utf-8") as file:
            return View(file.read(), height)
