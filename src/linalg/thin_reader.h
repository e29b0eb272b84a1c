/* A reader that sees evenly spread blocks of another's rows only.
 *
 * For statistics that a sample serves as well as all rows. Whole fixed blocks are taken (blocks.h),
 * so that reading stays sequential; which ones depends on the number of rows alone.
 */
#ifndef IKT_LINALG_THIN_READER_H
#define IKT_LINALG_THIN_READER_H

#include "base/status.h"
#include "linalg/row_reader.h"

typedef struct {
    ikt_context *ctx;
    ikt_row_reader all;
    int64_t blocks; /* that are seen, of `whole` */
    int64_t whole;
} ikt_thin_reader;

/* LOCAL. A view of at most `most` rows of `all`, at least one block; all rows where there are no
 * more than that. Valid as long as `space`, which it uses, and what `all` refers to. */
ikt_row_reader ikt_thin_reader_make(ikt_context *ctx, const ikt_row_reader *all, int64_t most,
                                    ikt_thin_reader *space);

#endif
