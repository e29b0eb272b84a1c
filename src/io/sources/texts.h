/* A text for each row, of any length: strings of an HDF5 file, or a column of a CSV file.
 *
 * NAME is FILE:COLUMN. In an HDF5 file COLUMN is a data set of strings, /COLUMN or obs/COLUMN (of
 * an AnnData); in a CSV file it is a heading, or a number from 1. Texts come as UTF-8; those that
 * are not are taken for Latin-1, with a warning.
 */
#ifndef IKT_IO_SOURCES_TEXTS_H
#define IKT_IO_SOURCES_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* What NAME stands for. */
typedef enum {
    IKT_TEXTS_NONE,    /* no texts: numbers, categories, or nothing at all */
    IKT_TEXTS_STRINGS, /* strings of an HDF5 file */
    IKT_TEXTS_CELLS    /* of a CSV file, which may be numbers, too */
} ikt_texts_kind;

/* COLLECTIVE. Looks without reading. Errors: IKT_ERR_FILE. */
ikt_status ikt_texts_look(ikt_context *ctx, const char *name, ikt_texts_kind *kind);

/* Texts of this rank's rows; one that is missing is "". */
typedef struct {
    int64_t count;
    const char **text; /* [count] */
    char *bytes;       /* all of them, each with its terminating zero */
} ikt_texts;

/* COLLECTIVE. Reads the texts of rows first .. first + count - 1.
 *   n     rows that there must be
 *   out   free with ikt_texts_free, also after a failure
 * Of a CSV file every rank reads all and keeps its own. Errors: IKT_ERR_DATA (another number of
 * rows, no texts), IKT_ERR_USAGE (no such column), IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_texts_read(ikt_context *ctx, const char *name, int64_t n, int64_t first,
                          int64_t count, ikt_texts *out);
void ikt_texts_free(ikt_texts *texts);

#endif
