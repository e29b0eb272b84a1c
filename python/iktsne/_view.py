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


_CLASSES = 64  # whole numbers that span fewer, and fewer different texts, are classes


def _colours(palette):
    """Colours of the classes as numbers, of texts such as "#1f77b4"; others are the page's own."""
    if palette is None:
        return None
    found = []
    for colour in palette:
        text = str(colour).lstrip("#")
        try:
            found.append(int(text[:6], 16) if len(text) in (6, 8) else -1)
        except ValueError:
            found.append(-1)
    return found


def _column(name, values, palette=None, is_hover=False):
    """What _core.view takes: numbers with fractions, or of many values, are numbers; many different
    texts are texts; all else are classes."""
    is_categorical = hasattr(values, "cat") or hasattr(values, "codes")
    array = None if is_categorical else np.asarray(values)
    if array is not None and array.dtype.kind in "iuf":
        whole = np.isfinite(array).all() and np.array_equal(array, np.floor(array))
        if not whole or array.max().item() - array.min().item() >= _CLASSES:
            # Of integers that doubles round, and of those that can only be searched, also the digits.
            is_id = array.dtype.kind in "iu" and (is_hover or np.abs(array.astype(np.float64)).max() >= 2**53)
            texts = [str(value) for value in array.tolist()] if is_id else None
            return name, None, np.ascontiguousarray(array, dtype=np.float64), texts, None, None, is_hover
    elif array is not None and array.dtype.kind != "b":
        texts = [str(value) for value in array]
        if is_hover or len(set(texts)) >= _CLASSES:
            return name, None, None, texts, None, None, True
    number, names = codes(values)
    if names is not None:
        names = "\n".join(text.replace("\n", " ") for text in names)
    return name, number, None, None, names, _colours(palette), is_hover


def _columns_of(given, n, palettes, is_hover):
    """The columns of labels, of a dict or of a data frame; none of nothing."""
    if given is None:
        return []
    if hasattr(given, "columns"):  # a data frame
        named = [(str(name), given[name]) for name in given.columns]
    elif isinstance(given, dict):
        named = [(str(name), values) for name, values in given.items()]
    else:
        named = [(str(getattr(given, "name", None) or ("texts" if is_hover else "labels")), given)]
    for name, values in named:
        if len(values) != n:
            raise ValueError(f"the column {name!r} has {len(values)} values for {n} rows")
    return [_column(name, values, palettes.get(name), is_hover) for name, values in named]


def _named(adata, names):
    """Columns of obs and variables of an AnnData by their names."""
    columns = {}
    for name in [names] if isinstance(names, str) else list(names):
        if name in adata.obs.columns:
            columns[name] = adata.obs[name]
        elif name in adata.var_names:
            values = adata[:, name].X
            columns[name] = np.asarray(values.todense() if hasattr(values, "todense") else values,
                                       dtype=np.float64).reshape(-1)
        else:
            raise KeyError(f"{name!r} is neither a column of obs nor a name of var")
    return columns


def _map_of(adata, basis):
    """The key of obsm that holds the map."""
    if basis is None:
        known = [k for k in ("X_iktsne", "X_tsne", "X_umap") if k in adata.obsm]
        if not known:
            raise KeyError("there is no map in obsm: run iktsne.tl.tsne(adata), or name one by basis=")
        return known[0]
    key = basis if basis in adata.obsm else f"X_{basis}"
    if key not in adata.obsm:
        raise KeyError(f"obsm has no {basis!r}: {', '.join(adata.obsm.keys())}")
    return key


def view(data, *, color=None, hover=None, basis=None, title=None, height=640):
    """A page to pan and zoom in a map, coloured by classes or numbers.

    data: positions, an array of shape (n, 1 to 3) of any program; a fitted TSNE; or an AnnData.
    color: for positions, labels or numbers for each row, or several as a dict or a data frame, to
        choose from on the page; for an AnnData, names of columns of obs or of variables (None: the
        categories of obs, in the colours of uns).
    hover: the same of what is shown of a point that is pointed at: texts, numbers or classes.
    basis: of an AnnData, the key of obsm; None: X_iktsne, X_tsne or X_umap.
    title: above the map.
    height: of the page in a notebook, in pixels.

    Returns a View: a notebook shows it as the last value of a cell; .save("map.html") writes it.
    """
    name, palettes = "map", {}
    if hasattr(data, "obsm"):
        adata, name = data, _map_of(data, basis)
        if color is None:
            color = [k for k in adata.obs.columns if str(adata.obs[k].dtype) == "category"]
        color = _named(adata, color)
        hover = None if hover is None else _named(adata, hover)
        palettes = {k: adata.uns[f"{k}_colors"] for k in color if f"{k}_colors" in adata.uns}
        data = adata.obsm[name]
    elif basis is not None:
        raise ValueError("basis is a key of obsm, and the data are no AnnData")
    elif hasattr(data, "embedding_"):
        data = data.embedding_
    Y = np.ascontiguousarray(np.asarray(data), dtype=np.float32)
    if Y.ndim == 1:
        Y = Y[:, None]
    columns = _columns_of(color, len(Y), palettes, False) + _columns_of(hover, len(Y), {}, True)
    with tempfile.TemporaryDirectory(prefix="iktsne-") as folder:
        path = os.path.join(folder, "map.html")
        _core.view(context(), {"count": int(Y.shape[0])}, Y, path, title or name, columns)
        with open(path, encoding="utf-8") as file:
            return View(file.read(), height)
