/* Elements of an AnnData file (.h5ad), with the attributes by which AnnData knows them.
 *
 * https://anndata.readthedocs.io, "on-disk format": encoding-type and encoding-version of each
 * group and data set. Texts are of fixed length: parallel HDF5 writes no others, and AnnData reads
 * both.
 */
#ifndef IKT_IO_EXPORT_ANNDATA_WRITE_H
#define IKT_IO_EXPORT_ANNDATA_WRITE_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* LOCAL. Rows (observations) that an open AnnData file says it has: of obs, by its index.
 *   path   for messages. Errors: IKT_ERR_DATA: it says none. */
ikt_status ikt_anndata_rows(ikt_context *ctx, hid_t file, const char *path, int64_t *rows);

/* COLLECTIVE, all of the following; they return false on failure, for ikt_h5_reason to tell why. */
bool ikt_anndata_mark(hid_t object, const char *type, const char *version);

/* The group of that name, made as an AnnData dict where it is not there; negative on failure. */
hid_t ikt_anndata_dict(hid_t parent, const char *name);

bool ikt_anndata_text(hid_t parent, const char *name, const char *text);
bool ikt_anndata_number(hid_t parent, const char *name, double value);
bool ikt_anndata_integer(hid_t parent, const char *name, int64_t value);

#endif
