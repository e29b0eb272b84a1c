"""Tools for AnnData, beside scanpy.tl."""

import numpy as np

from ._context import chosen
from ._data import is_sparse
from ._tsne import TSNE

_PCS = 50  # as scanpy: more variables than these are reduced


def _graph(pairs, are_distances):
    """The same of numbers of pairs: a graph where they are sparse; a dense array of distances is one of
    all pairs, and of similarities a graph of those that are not 0."""
    settings = {"graph.values": "distances" if are_distances else "similarities"}
    if not is_sparse(pairs):
        if are_distances:
            return np.asarray(pairs), {"metric": "precomputed"}, {}
        from scipy.sparse import csr_matrix

        pairs = csr_matrix(np.asarray(pairs))
    return pairs, {"metric": "precomputed"}, settings


def matrix_of(adata, layer):
    """X, or the layer where one is named."""
    if layer is None:
        return adata.X
    if layer not in adata.layers:
        raise KeyError(f"layers has no {layer!r}: {', '.join(adata.layers.keys()) or 'it is empty'}")
    return adata.layers[layer]


def _representation(adata, use_rep, n_pcs, obsp, layer):
    """X and parameters of TSNE for what is to be embedded, and its name."""
    if obsp is not None:
        if use_rep is not None or n_pcs is not None or layer is not None:
            raise ValueError("obsp is a graph in place of rows: leave use_rep, layer and n_pcs out")
        if obsp not in adata.obsp:
            raise KeyError(f"obsp has no {obsp!r}: {', '.join(adata.obsp.keys()) or 'it is empty'}")
        return *_graph(adata.obsp[obsp], "distance" in obsp), f"obsp/{obsp}"
    if layer is not None and use_rep not in (None, "X"):
        raise ValueError("layer is in place of X, and so is use_rep: leave one of them out")
    if use_rep is None:
        use_rep = "X_pca" if "X_pca" in adata.obsm and layer is None else "X"
    if use_rep == "X":
        if n_pcs is None:
            n_pcs = _PCS if adata.n_vars > _PCS else 0
        name = "X" if layer is None else f"layers/{layer}"
        return matrix_of(adata, layer), {}, {"preprocess.pca": n_pcs} if n_pcs else {}, name
    if use_rep not in adata.obsm:
        raise KeyError(f"obsm has no {use_rep!r}: {', '.join(adata.obsm.keys()) or 'it is empty'}")
    X = adata.obsm[use_rep]
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if n_pcs:
        if X.shape[1] < n_pcs:
            raise ValueError(f"obsm/{use_rep} has {X.shape[1]} columns, fewer than n_pcs={n_pcs}")
        X = X[:, :n_pcs]
    # Components and embeddings keep their scales, as `iktsne embed` leaves those of an AnnData file.
    return X, {}, {"preprocess.normalise": "none"}, f"obsm/{use_rep}"


def tsne(adata, n_pcs=None, *, use_rep=None, obsp=None, perplexity=None, key_added=None, copy=False,
         settings=None, layer=None, **parameters):
    """t-SNE of an AnnData, beside scanpy.tl.tsne.

    adata: its obsm, and uns, receive the map.
    n_pcs: use so many columns of the representation; for X the number of principal components that
        are made of it (50 where there are more variables).
    use_rep: a key of obsm, or "X"; None: X_pca where it is there, else X.
    layer: a layer in place of X.
    obsp: a graph in obsp in place of rows, "distances" or "connectivities" for example; a name with
        "distance" in it is of distances, others are of similarities.
    key_added: key of obsm and of uns; None: obsm["X_iktsne"] and uns["iktsne"].
    copy: return a copy with the map in place of writing into adata.
    perplexity, settings, parameters: those of iktsne.TSNE.

    After an interrupt (Ctrl-C) the map so far is there, and KeyboardInterrupt is raised.
    """
    if copy:
        adata = adata.copy()
    X, implied, implied_settings, name = _representation(adata, use_rep, n_pcs, obsp, layer)
    if obsp is not None and "metric" in parameters:
        raise ValueError("obsp is a graph in place of rows, which metric= would compare: leave it out")
    wanted = {**implied, **parameters, "perplexity": perplexity}
    model = TSNE(**{"keep_model": False, **wanted}, settings={**implied_settings, **chosen(settings)})
    interrupt = None
    try:
        model.fit(X)
    except KeyboardInterrupt as stop:
        if not hasattr(model, "embedding_"):
            raise
        interrupt = stop
    adata.obsm[key_added or "X_iktsne"] = np.asarray(model.embedding_)
    params = {"use_rep": name, "random_state": -1 if model.random_state is None
              else model.random_state if isinstance(model.random_state, int) else str(model.random_state)}
    for key, value in {**wanted, **chosen(settings)}.items():
        if isinstance(value, (bool, int, float, str)):
            params[key] = value
    adata.uns[key_added or "iktsne"] = {
        "params": params,
        "kl_divergence": float(model.kl_divergence_),
        "n_iter": model.n_iter_,
        "hash": f"{model.hash_:016x}",
        "configuration": model.configuration_,
    }
    if interrupt is not None:
        raise interrupt
    return adata if copy else None
