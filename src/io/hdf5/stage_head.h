/* The head of a checkpoint as attributes of a file or group: for the files of io/ that have one
 * open. */
#ifndef IKT_IO_HDF5_STAGE_HEAD_H
#define IKT_IO_HDF5_STAGE_HEAD_H

#include "io/hdf5/h5.h"
#include "io/hdf5/stage_file.h"

enum { IKT_STAGE_TEXTS = 4 };

/* The texts of a head that was read; owned. */
typedef struct {
    char *text[IKT_STAGE_TEXTS];
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
