"""t-SNE with the Isolation kernel: maps of millions of rows, with the same bits on any threads.

    import iktsne
    Y = iktsne.TSNE().fit_transform(X)          # as scikit-learn's TSNE
    iktsne.tl.tsne(adata)                       # as scanpy.tl.tsne
    iktsne.evaluate(X, Y, labels)               # how good a map is, of any program
    iktsne.view(Y, color=labels)                # a page to pan and zoom in, in a notebook

The page docs/python.md describes all of it.
"""

from . import tl
from ._context import settings
from ._core import Stopped, __version__
from ._measures import evaluate
from ._tsne import TSNE
from ._view import View, view

__all__ = ["TSNE", "Stopped", "View", "evaluate", "settings", "tl", "view", "__version__"]
