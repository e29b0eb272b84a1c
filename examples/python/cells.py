"""A map of single cells, as a scanpy user would make it.

    python cells.py [CELLS.h5ad]        without a file: 2,000 cells of eight types, drawn here

Needs scanpy (pip install scanpy). Writes cells.html, a page to look at the map with.
"""

import sys

import numpy as np
import scanpy as sc

import iktsne


def draw_cells(n=2000, genes=1000, types=8):
    """Counts of cells of several types, each with genes of its own."""
    rng = np.random.default_rng(0)
    kind = rng.integers(types, size=n)
    rate = rng.gamma(0.5, 1.0, (types, genes)) + 0.1
    adata = sc.AnnData(rng.poisson(rate[kind] * rng.gamma(4, 0.25, (n, 1))).astype(np.float32))
    adata.obs["type"] = [f"type {k}" for k in kind]
    adata.obs["type"] = adata.obs["type"].astype("category")
    return adata


adata = sc.read_h5ad(sys.argv[1]) if len(sys.argv) > 1 else draw_cells()
if "X_pca" not in adata.obsm:
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    sc.pp.pca(adata, n_comps=min(50, adata.n_vars - 1))

iktsne.tl.tsne(adata)
print(adata.obsm["X_iktsne"][:3], adata.uns["iktsne"]["kl_divergence"])

classes = [name for name in adata.obs.columns if str(adata.obs[name].dtype) == "category"]
for name in classes[:1]:
    told = iktsne.evaluate(adata.obsm["X_pca"], adata.obsm["X_iktsne"], adata.obs[name],
                           ["10-NN accuracy", "trustworthiness"])
    print(name, told)
iktsne.view(adata).save("cells.html")
