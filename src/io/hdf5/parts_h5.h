/* Parts in a group of an HDF5 file: for the files of io/ that have one open. */
#ifndef IKT_IO_HDF5_PARTS_H5_H
#define IKT_IO_HDF5_PARTS_H5_H

#include "io/hdf5/h5.h"
#include "io/hdf5/parts.h"

/* LOCAL, pure. Bytes that parts take in a file, at most. */
int64_t ikt_parts_bytes(const ikt_part *parts, int64_t count);

/* COLLECTIVE. Writes and reads parts as data sets of a group.
 *   is_plain   in one piece and without checksums (ikt_h5_create_plain)
 * Errors: IKT_ERR_FILE; reading, IKT_ERR_DATA where a part is missing or has another size. */
ikt_status ikt_parts_write(ikt_context *ctx, hid_t group, bool is_plain, const ikt_part *parts,
                           int64_t count);
ikt_status ikt_parts_read(ikt_context *ctx, hid_t group, const ikt_part *parts, int64_t count);

#endif
