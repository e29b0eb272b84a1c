/* Files of foreign formats as the HDF5 that `embed` reads: rows, labels, names of classes, and of
 * CSV columns of text.
 *
 * The rows of a feed (row_feed.h) go to the file block by block, from each rank to its place.
 * Sparse rows are written sparse or dense, dense rows dense. Memory per rank: a few blocks.
 */
#ifndef IKT_IO_CONVERT_CONVERT_H
#define IKT_IO_CONVERT_CONVERT_H

#include "io/convert/row_feed.h"

/* AUTO: sparse rows of HDF5 stay sparse; others where that takes at most half of the bytes. */
typedef enum { IKT_SPARSE_AUTO, IKT_SPARSE_YES, IKT_SPARSE_NO } ikt_sparse_choice;

typedef struct {
    ikt_feed_options feed;
    int as; /* 0: the type of the input; else 1 + the ikt_type of the values written */
    ikt_sparse_choice sparse;
    bool overwrite;
} ikt_convert_options;

/* What was written. */
typedef struct {
    int64_t n, d, entries; /* entries of sparse rows, 0 of dense ones */
    ikt_type type;
    bool sparse, labels;
    char
        texts[512]; /* names of the columns of text, with commas between; cut where they are many */
} ikt_converted;

/* COLLECTIVE. Converts the file `in` to the file `out`.
 * Errors: those of ikt_row_feed_open and ikt_table_create; IKT_ERR_DATA: a value that the type does
 * not hold; IKT_ERR_USAGE: sparse output of dense rows, or a dense table beyond all measure. */
ikt_status ikt_convert(ikt_context *ctx, const char *in, const char *out,
                       const ikt_convert_options *options, ikt_converted *made);

#endif
