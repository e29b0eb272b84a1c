/* The rows of a dense source as they are, in double precision, for passes over them. */
#ifndef IKT_DATA_RAW_ROWS_H
#define IKT_DATA_RAW_ROWS_H

#include "io/sources/source.h"
#include "linalg/blocks.h"

typedef struct {
    ikt_source *source; /* lent */
    void *native;       /* of one block of rows, in the source's type */
} ikt_raw_rows;

/* COLLECTIVE. Makes a reader of a source's rows, of which at most ikt_stream_rows(columns, 8) are
 * read at a time.
 *   source   dense; lent
 *   out      free with ikt_raw_rows_destroy, also after a failure
 *   reader   receives the reader, valid as long as `out`
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_raw_rows_create(ikt_context *ctx, ikt_source *source, ikt_raw_rows *out,
                               ikt_row_reader *reader);
void ikt_raw_rows_destroy(ikt_raw_rows *rows);

/* LOCAL. Values of a source's type as doubles. */
void ikt_widen(ikt_type type, const void *from, int64_t count, double *to);

#endif
