"""The same rows by iktsne, openTSNE, scikit-learn and umap-learn, in one table.

    python compare.py DATA.h5 [--pca K] [--rows N] [--jobs N] [--only NAME,...]
    python compare.py ROWS.npy LABELS.npy ...

DATA.h5 holds X, n x d numbers, and labels, a class for each row. Needs the packages (pip install
'.[compare]' h5py); those that are missing are skipped with a message. Every program has its defaults but for
the number of threads, the seed, and what makes them comparable: a perplexity of 30, principal components
to start from. iktsne.evaluate measures all of them in the same way, against the rows as they are.
"""

import argparse
import os
import time

import numpy as np

import iktsne


def by_iktsne(X, jobs):
    return iktsne.TSNE(n_jobs=jobs, keep_model=False).fit_transform(X)


def by_iktsne_gaussian(X, jobs):
    return iktsne.TSNE(perplexity=30, n_jobs=jobs).fit_transform(X)


def by_opentsne(X, jobs):
    from openTSNE import TSNE

    return np.asarray(TSNE(perplexity=30, n_jobs=jobs, random_state=1).fit(X))


def by_sklearn(X, jobs):
    from sklearn.manifold import TSNE

    return TSNE(perplexity=30, init="pca", n_jobs=jobs, random_state=1).fit_transform(X)


def by_umap(X, jobs):
    from umap import UMAP

    return UMAP(n_jobs=jobs).fit_transform(X)


PROGRAMS = {"iktsne": by_iktsne, "iktsne-gaussian": by_iktsne_gaussian, "openTSNE": by_opentsne,
            "scikit-learn": by_sklearn, "umap-learn": by_umap}

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("data", nargs="+", help="DATA.h5, or ROWS.npy LABELS.npy")
parser.add_argument("--pca", type=int, help="reduce the rows to K principal components first")
parser.add_argument("--rows", type=int, help="the first N rows only")
parser.add_argument("--jobs", type=int, default=os.cpu_count())
parser.add_argument("--only", default=",".join(PROGRAMS), help="names of programs, separated by commas")
asked = parser.parse_args()
if len(asked.data) == 2:
    X, labels = (np.load(name)[: asked.rows] for name in asked.data)
else:
    import h5py

    with h5py.File(asked.data[0]) as file:
        X, labels = file["X"][: asked.rows], file["labels"][: asked.rows]
X = np.asarray(X, dtype=np.float64)
if asked.pca:
    X -= X.mean(axis=0)
    X = X @ np.linalg.eigh(X.T @ X)[1][:, : -asked.pca - 1 : -1]
X = np.ascontiguousarray(X, dtype=np.float32)
print(f"{X.shape[0]} rows x {X.shape[1]}, {asked.jobs} threads\n")
print("| program | seconds | 10-NN accuracy | Davies-Bouldin | trustworthiness |")
print("|---|--:|--:|--:|--:|")
for name in asked.only.split(","):
    try:
        PROGRAMS[name](X[:200], asked.jobs)  # what is compiled or loaded at the first call is not timed
        begun = time.perf_counter()
        Y = PROGRAMS[name](X, asked.jobs)
        seconds = time.perf_counter() - begun
    except ImportError as error:
        print(f"| {name} | skipped: {error} | | | |")
        continue
    told = iktsne.evaluate(X, Y, labels, ["10-NN accuracy", "clusters", "ranks"])
    print(f"| {name} | {seconds:.1f} | {told['10-NN accuracy']:.4f} | {told['Davies-Bouldin']:.3f} "
          f"| {told['trustworthiness (k 12)']:.4f} |", flush=True)
