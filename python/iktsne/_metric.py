"""Distances by the names that users of scikit-learn know."""

from ._context import settings

_NAMES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}


def metric_settings(metric):
    """The settings that a metric stands for."""
    known = settings()["preprocess.metric"]["choices"]
    name = _NAMES.get(metric, metric) if isinstance(metric, str) else metric
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"metric={metric!r} is none of those that iktsne has: {', '.join(known)}")
    return {} if name == "euclidean" else {"preprocess.metric": name}
