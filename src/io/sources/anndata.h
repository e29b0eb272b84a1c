/* What an AnnData file knows beside rows and columns: its genes by name, and the colours of its
 * categories. See https://anndata.readthedocs.io, "On-disk format".
 */
#ifndef IKT_IO_SOURCES_ANNDATA_H
#define IKT_IO_SOURCES_ANNDATA_H

#include <stdint.h>

#include "base/status.h"

/* COLLECTIVE. The values of some variables (genes) in rows first .. first + count - 1.
 *   path     of the file
 *   matrix   "X", "raw/X" or "layers/NAME": dense, or sparse by rows (CSR) or by columns (CSC)
 *   names    [wanted] of variables: entries of the index of var (of raw/var for raw/X), or else of
 *            its column feature_name, gene_symbols, gene_name or gene_short_name; the first wins
 *   n        rows that the matrix must have
 *   values   [wanted * count], gene after gene
 * Errors: IKT_ERR_DATA (no AnnData, no such matrix or gene, another number of rows), IKT_ERR_FILE,
 * IKT_ERR_RESOURCE. Time: a matrix that is dense or by rows is read once, whole, shared by the
 * ranks; of one by columns, each rank reads the columns asked for. */
ikt_status ikt_anndata_genes(ikt_context *ctx, const char *path, const char *matrix,
                             const char *const *names, int64_t wanted, int64_t n, int64_t first,
                             int64_t count, double *values);

/* COLLECTIVE. Colours that the file gives the categories of column NAME of obs: uns/NAME_colors, as
 * scanpy writes them, "#rrggbb".
 *   name     FILE:COLUMN; a file that is no AnnData, or has no such list, gives none
 *   count    receives how many there are; 0: none
 *   colour   receives [count] of 0xRRGGBB, -1 where an entry is no such colour; freed with ikt_free
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_anndata_colours(ikt_context *ctx, const char *name, int64_t *count,
                               int32_t **colour);

#endif
