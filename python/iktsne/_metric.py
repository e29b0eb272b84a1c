"""Distances by the names that users of scikit-learn know."""

from ._context import settings

_PREPARED = {"euclidean": {}, "l2": {}, "cosine": {"preprocess.normalise": "unit"}}


def metric_settings(metric, for_measures=False):
    """The settings that a metric stands for."""
    table = settings()
    if metric == "precomputed" and not for_measures:
        return {}
    if "preprocess.metric" in table:
        known = [m for m in table["preprocess.metric"]["choices"] if m != "precomputed"]
        wanted = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}.get(metric, metric)
        if wanted in known:
            return {} if wanted == "euclidean" else {"preprocess.metric": wanted}
    else:
        known = list(_PREPARED)
        if metric in known:
            return dict(_PREPARED[metric])
    raise ValueError(f"metric={metric!r} is none of those that iktsne has: {', '.join(known)}"
                     + ("" if for_measures else ", precomputed"))
