/* Parts, and the head of a checkpoint as attributes, in a group of an HDF5 file: for the files of
 * io/ that have one open. */
#ifndef IKT_IO_HDF5_PARTS_H5_H
#define IKT_IO_HDF5_PARTS_H5_H

#include "io/hdf5/h5.h"
#include "io/hdf5/parts.h"
#include "io/hdf5/stage_file.h"

/* LOCAL, pure. Bytes that parts take in a file, at most. */
int64_t ikt_parts_bytes(const ikt_part *parts, int64_t count);

/* COLLECTIVE. Writes and reads parts as data sets of a group.
 *   is_plain   in one piece and without checksums (IKT_H5_PLAIN)
 * Errors: IKT_ERR_FILE; reading, IKT_ERR_DATA where a part is missing or has another size. */
ikt_status ikt_parts_write(ikt_context *ctx, hid_t group, bool is_plain, const ikt_part *parts,
                           int64_t count);
ikt_status ikt_parts_read(ikt_context *ctx, hid_t group, const ikt_part *parts, int64_t count);

enum { IKT_STAGE_TEXTS = 6 };

/* A head that was read; its texts are owned. */
typedef struct {
    char *text[IKT_STAGE_TEXTS];
    int64_t iterations;
} ikt_stage_texts;

/* COLLECTIVE. Writes the head and the version of the format. Errors: IKT_ERR_FILE. */
ikt_status ikt_stage_head_write(ikt_context *ctx, hid_t object, const ikt_stage_head *head);

/* LOCAL. Reads it.
 *   is_known   false: it has none
 * Errors: IKT_ERR_USAGE (of a newer program), IKT_ERR_RESOURCE. */
ikt_status ikt_stage_head_read(ikt_context *ctx, hid_t object, ikt_stage_texts *out,
                               bool *is_known);

/* LOCAL. Lends the texts; frees them. */
ikt_stage_head ikt_stage_texts_head(const ikt_stage_texts *texts);
void ikt_stage_texts_free(ikt_stage_texts *texts);

#endif
