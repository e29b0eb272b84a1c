/* What a way of holding rows provides to source.c.
 *
 * A new format is one file with one const table of these functions and one function that opens it
 * (as ikt_source_open does for HDF5 and ikt_source_from_memory for arrays); nothing else changes.
 * Every function is COLLECTIVE and keeps the contract of the function of source.h that calls it.
 */
#ifndef IKT_IO_SOURCE_OPS_H
#define IKT_IO_SOURCE_OPS_H

#include "io/source.h"

typedef struct {
    /* Rows in the source's type; count may be 0, ranges may differ between ranks. */
    ikt_status (*read)(ikt_source *source, int64_t first, int64_t count, void *rows);
    /* The same in sparse form; NULL in a source of dense rows. `read` may then be NULL. */
    ikt_status (*read_sparse)(ikt_source *source, int64_t first, int64_t count,
                              ikt_sparse_rows *rows);
    /* *present = false where there are no labels of that name. */
    ikt_status (*read_labels)(ikt_source *source, const char *dataset, int64_t first, int64_t count,
                              int64_t *labels, bool *present);
    /* Rows below source->n, on every rank. */
    ikt_status (*read_marked)(ikt_source *source, int64_t **rows, int64_t *count);
    /* NULL where there is no such text. */
    ikt_status (*read_text)(ikt_source *source, const char *name, char **text);
    /* Frees `self`; also called on a source whose opening failed half way. */
    void (*close)(ikt_source *source);
} ikt_source_ops;

struct ikt_source {
    ikt_context *ctx;
    const ikt_source_ops *ops;
    void *self;
    int64_t n, d;   /* rows used, columns */
    int64_t n_file; /* rows there are */
    ikt_type type;
    /* Of sparse sources; see source.h. */
    int64_t entries, longest, block;
    char *name;
};

/* LOCAL. A source without ops, named "file:/dataset"; closed with ikt_source_close.
 *   out   receives the source (owned by the caller), NULL on failure
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_source_new(ikt_context *ctx, const char *file, const char *dataset,
                          ikt_source **out);

#endif
