"""Distances by the names that users of scikit-learn know."""

from ._context import settings

_NAMES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}


def known_metrics():
    """The metrics that this build of the library computes from rows."""
    table = settings()
    if "preprocess.metric" not in table:
        return ["euclidean", "cosine"]
    return [name for name in table["preprocess.metric"]["choices"] if name != "precomputed"]


def takes_matrices():
    """Whether distances of all pairs can stand in place of rows, for every kernel."""
    return "precomputed" in settings().get("preprocess.metric", {}).get("choices", [])


def metric_settings(metric):
    """The settings that a metric stands for."""
    name = _NAMES.get(metric, metric) if isinstance(metric, str) else metric
    if name not in known_metrics():
        raise ValueError(f"metric={metric!r} is none of those that iktsne has: "
                         f"{', '.join(known_metrics())}, precomputed")
    if name == "euclidean":
        return {}
    if "preprocess.metric" in settings():
        return {"preprocess.metric": name}
    return {"preprocess.normalise": "unit"}  # cosine
