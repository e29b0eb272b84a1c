"""The page to pan and zoom in a map, in a notebook or as a file."""

import html
import os
import tempfile
import warnings

import numpy as np

from . import _core, _table
from ._context import context, whole, with_hints
from ._data import codes, is_missing, plain, positions, text_of
from ._estimator import check_is_fitted
from .tl import matrix_of


class View:
    """An HTML page of a map; a notebook shows it, and save() writes it."""

    def __init__(self, page, height=640):
        self.page = page  # the text of the page, which loads nothing else
        self.height = whole("height", height, 1)

    def save(self, path):
        """Writes the page to a file, which any browser opens."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page)

    def _repr_html_(self):
        return (f'<iframe srcdoc="{html.escape(self.page, quote=True)}" width="100%" '
                f'height="{self.height}" style="border: 1px solid #ccc" '
                'sandbox="allow-scripts allow-downloads"></iframe>')

    def __repr__(self):
        return f"<iktsne.View of {len(self.page) / 1e6:.1f} MB; .save(path) writes it>"


_CLASSES_GUESSED = 64  # whole numbers that span fewer are classes, where nothing else is said
_CLASSES_MOST = 4096  # that a page takes
_COLOR_AS = ("auto", "classes", "numbers")


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


def _plain(values):
    """A column as an array of numpy: numbers with NaN for what is missing or masked, texts, or dates;
    None of a categorical one."""
    if hasattr(values, "cat") or hasattr(values, "codes"):
        return None
    array, mask = np.asarray(values), np.ma.getmask(values)
    if array.dtype.kind == "O":
        missing = is_missing(array) | mask
        known = plain(array[~missing])
        if known.dtype.kind in "iuf":  # numbers beside the NA of pandas
            array = np.where(missing, np.nan, array).astype(np.float64) if missing.any() else known
    if mask is not np.ma.nomask:
        kind = array.dtype.kind
        hidden = np.nan if kind in "biuf" else array.dtype.type("NaT") if kind in "mM" else None
        array = np.where(mask, hidden, array)
    return array


def _text(value):
    """A value as text that is UTF-8, which the halves of surrogates are not."""
    return text_of(value).encode("utf-8", "replace").decode("utf-8")


def _texts(name, array, is_hover):
    """Texts to be read of a point; or None, where they are few enough to be classes."""
    texts = ["" if missing else _text(value) for value, missing in zip(array, is_missing(array))]
    if is_hover:
        return texts
    different = len(set(texts))
    if different <= _CLASSES_MOST:
        return None
    warnings.warn(f"{name!r} has {different} different texts, and a page colours {_CLASSES_MOST} classes "
                  "at most: they are shown of a point that is pointed at only", UserWarning, stacklevel=4)
    return texts


def _column(name, values, palette, is_hover, color_as):
    """What _core.view takes. Texts are classes, or texts on hover; whole numbers that span few are
    classes, others numbers, unless color_as says which."""
    array = _plain(values)
    numbers = texts = number = names = None
    if array is None and color_as == "numbers":
        array = np.asarray(values)
    if array is not None and array.dtype.kind in "iuf" or color_as == "numbers":
        try:
            numbers = np.ascontiguousarray(array, dtype=np.float64)
        except ValueError as error:
            raise ValueError(f"color_as='numbers': {name!r} has texts ({error})") from error
        known = numbers[~np.isnan(numbers)]
        is_whole = np.isfinite(known).all() and np.array_equal(known, np.floor(known))
        if color_as == "classes" and not is_whole:
            raise ValueError(f"{name!r} has numbers that are not whole, and these are no classes: leave "
                             "color_as='classes' out")
        if color_as == "classes" or color_as == "auto" and is_whole and len(known) == len(array) and (
                len(array) == 0 or array.max().item() - array.min().item() < _CLASSES_GUESSED):
            numbers = None
        elif array.dtype.kind in "iu" and (is_hover or np.abs(numbers).max(initial=0) >= 2**53):
            # Of integers that doubles round, and of those that can only be searched, also the digits.
            texts = [str(value) for value in array.tolist()]
    elif array is not None and array.dtype.kind != "b":
        texts = _texts(name, array, is_hover)
    if numbers is None and texts is None:
        number, names = codes(values)
        if names is not None:  # of a column without any class there are none, ""
            names = "\n".join(_text(name).replace("\n", " ") for name in names)
    is_hover = is_hover or texts is not None and numbers is None
    return _text(name), number, numbers, texts, names, _colours(palette), is_hover


def _columns_of(given, n, palettes, is_hover, color_as="auto"):
    """The columns of labels, of a dict or of a data frame; none of nothing."""
    if given is None:
        return []
    columns = _table.names(given)
    if columns is not None:
        named = [(str(name), given[name]) for name in columns]
    elif isinstance(given, dict):
        named = [(str(name), values) for name, values in given.items()]
    else:
        named = [(str(getattr(given, "name", None) or ("texts" if is_hover else "labels")), given)]
    named = [(name, _table.as_array(values)) for name, values in named]
    kinds = color_as if isinstance(color_as, dict) else {name: color_as for name, _ in named}
    for name, kind in kinds.items():
        if not isinstance(kind, str) or kind not in _COLOR_AS:
            raise ValueError(f"color_as={kind!r} is none of {', '.join(_COLOR_AS)}")
        if name not in (column for column, _ in named):
            raise ValueError(f"color_as names {name!r}, which color has not")
    for name, values in named:
        if np.ndim(values) != 1:
            raise ValueError(f"the column {name!r} has to have one value for each row")
        if len(values) != n:
            raise ValueError(f"the column {name!r} has {len(values)} values for {n} rows")
    return [_column(name, values, palettes.get(name), is_hover, kinds.get(name, "auto"))
            for name, values in named]


# --- AnnData ---------------------------------------------------------------------------------------


def _variable(adata, name, layer, use_raw):
    """The values of a variable: of the layer, of raw where there is one, as scanpy does, or of X. It is
    found by its index, or by its symbol, as in the program. None: there is none of that name."""
    if use_raw and (adata.raw is None or layer is not None):
        raise ValueError("use_raw=True goes with an AnnData that has raw, and with no layer")
    is_raw = use_raw or use_raw is None and layer is None and adata.raw is not None
    source = adata.raw if is_raw else adata
    for keys in (source.var_names, source.var.get("gene_symbols"), source.var.get("feature_name")):
        at = [] if keys is None else np.flatnonzero(np.asarray(keys, dtype=object) == name)
        if len(at) > 1:
            raise KeyError(f"{len(at)} variables are called {name!r}: make their names unique")
        if len(at) == 1:
            values = (source.X if is_raw else matrix_of(adata, layer))[:, at]
            values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
            return values.reshape(-1).astype(np.float64)
    return None


def _named(adata, names, layer, use_raw):
    """Columns of an AnnData by their names: obs_names, columns of obs, variables; and what is no list
    of names as it is: values for each row."""
    if names is None or hasattr(names, "columns") or isinstance(names, dict):
        return names
    if not isinstance(names, str):
        if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
            return names
    columns = {}
    for name in [names] if isinstance(names, str) else names:
        if name in adata.obs.columns:
            columns[name] = adata.obs[name]
        elif name == "obs_names":
            columns[name] = np.asarray(adata.obs_names, dtype=object)
        else:
            columns[name] = _variable(adata, name, layer, use_raw)
            if columns[name] is None:
                raise KeyError(f"{name!r} is neither a column of obs, nor obs_names, nor a variable")
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


@with_hints
def view(data, *, color=None, hover=None, basis=None, title=None, height=640, color_as="auto",
         layer=None, use_raw=None):
    """A page to pan and zoom in a map, coloured by classes or numbers.

    data: positions, an array of shape (n, 1 to 3) of any program; a fitted TSNE; or an AnnData.
    color: for positions, labels or numbers for each row, or several as a dict or a data frame, to
        choose from on the page; for an AnnData also names of columns of obs or of variables (None: the
        categories of obs, in the colours of uns).
    hover: the same of what is shown of a point that is pointed at: texts, numbers or classes; for an
        AnnData also "obs_names".
    basis: of an AnnData, the key of obsm; None: X_iktsne, X_tsne or X_umap.
    title: above the map.
    height: of the page in a notebook, in pixels.
    color_as: "classes", "numbers" or "auto", which takes whole numbers that span fewer than 64 as
        classes; or a dict from names of columns to these. Texts are classes, up to 4,096 of them.
    layer, use_raw: of an AnnData, where variables are read: in a layer, or in raw (None: where it is
        there, as scanpy does), or in X.

    Returns a View: a notebook shows it as the last value of a cell; .save("map.html") writes it.
    """
    name, palettes = "map", {}
    if hasattr(data, "obsm"):
        adata, name = data, _map_of(data, basis)
        if color is None:
            color = [k for k in adata.obs.columns if str(adata.obs[k].dtype) == "category"]
        color, hover = (_named(adata, names, layer, use_raw) for names in (color, hover))
        if isinstance(color, dict):
            palettes = {k: adata.uns[f"{k}_colors"] for k in color if f"{k}_colors" in adata.uns}
        data = adata.obsm[name]
    elif basis is not None or layer is not None or use_raw is not None:
        raise ValueError("basis, layer and use_raw are of an AnnData, and the data are none")
    elif hasattr(data, "fit_transform"):
        check_is_fitted(data)
        data = data.embedding_
    Y = positions(data)
    columns = (_columns_of(color, len(Y), palettes, False, color_as)
               + _columns_of(hover, len(Y), {}, True))
    made = context()
    with tempfile.TemporaryDirectory(prefix="iktsne-") as folder:
        path = os.path.join(folder, "map.html")
        _core.view(made, {"count": int(Y.shape[0])}, Y, path, _text(title or name), columns)
        with open(path, encoding="utf-8") as file:
            return View(file.read(), height)
