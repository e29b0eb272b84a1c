"""scikit-learn's base classes where it is installed, and as much of them as TSNE needs where it is
not."""

import inspect

import numpy as np

from . import _table

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.exceptions import NotFittedError

    HAS_SKLEARN = True
except ImportError:
    HAS_SKLEARN = False

    class NotFittedError(ValueError, AttributeError):
        """transform before fit."""

    class BaseEstimator:
        """Parameters are the arguments of the constructor."""

        @classmethod
        def _names(cls):
            return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in self._names()}

        def set_params(self, **params):
            for name, value in params.items():
                if name not in self._names():
                    raise ValueError(f"{type(self).__name__} has no parameter {name!r}: "
                                     f"{', '.join(self._names())}")
                setattr(self, name, value)
            return self

        def __repr__(self):
            usual = inspect.signature(type(self).__init__).parameters
            changed = [f"{name}={getattr(self, name)!r}" for name in self._names()
                       if repr(getattr(self, name)) != repr(usual[name].default)]
            return f"{type(self).__name__}({', '.join(changed)})"

    class ClassNamePrefixFeaturesOutMixin:
        pass

    class TransformerMixin:
        pass


def names_of_columns(X):
    """Names of the columns of a data frame or a table, where all are texts and no two the same; else
    None."""
    columns = _table.names(X)
    if not columns or not all(isinstance(name, str) for name in columns) or len(set(columns)) < len(columns):
        return None
    return np.asarray(columns, dtype=object)


def check_rows(estimator, X, made, reset, least=1):
    """Refuses what `rows` has made of X unless it is a matrix of at least so many rows, with the
    columns of the fit; these are remembered where it is a fit (reset)."""
    names = names_of_columns(X)
    if HAS_SKLEARN:
        named = made if names is None or _table.package(X) == "pyarrow" else X  # what knows its names
        options = {"accept_sparse": "csr", "dtype": None, "reset": reset, "ensure_min_samples": least}
        try:
            from sklearn.utils.validation import validate_data
        except ImportError:  # before scikit-learn 1.6
            estimator._validate_data(named, force_all_finite=False, **options)
        else:
            validate_data(estimator, named, ensure_all_finite=False, **options)
        return
    if made.ndim != 2:
        raise ValueError(f"Expected 2D array, got {made.ndim}D array instead: rows are a matrix")
    if made.shape[0] < least or made.shape[1] < 1:
        raise ValueError(f"Found array with {made.shape[0]} sample(s) and {made.shape[1]} feature(s), "
                         f"while a minimum of {least} and 1 is required.")
    if reset:
        estimator.n_features_in_ = made.shape[1]
        if names is not None:
            estimator.feature_names_in_ = names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    elif made.shape[1] != estimator.n_features_in_:
        raise ValueError(f"X has {made.shape[1]} features, but {type(estimator).__name__} is expecting "
                         f"{estimator.n_features_in_} features as input")


def check_is_fitted(estimator):
    if HAS_SKLEARN:
        from sklearn.utils.validation import check_is_fitted as check

        check(estimator, "embedding_")
    elif not hasattr(estimator, "embedding_"):
        raise NotFittedError(f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' "
                             "before transform.")


def seed_of(random_state):
    """An integer from 0 on: equal ones give equal maps, bit for bit."""
    if random_state is None or random_state is np.random:
        return int(np.random.randint(0, 2**31 - 1))
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state={random_state} is below 0")
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**31 - 1))
    raise ValueError(f"{random_state!r} cannot be used to seed the random numbers: random_state is an "
                     "integer, None or a generator of numpy")
