/* What a way of holding rows provides to source.c.
 *
 * A new format is one file with one const table of these functions, one function that opens it and
 * one line in source_table.c; nothing else changes.
 * Every function is COLLECTIVE and keeps the contract of the function of source.h that calls it.
 */
#ifndef IKT_IO_SOURCES_SOURCE_OPS_H
#define IKT_IO_SOURCES_SOURCE_OPS_H

#include "io/sources/source.h"

typedef struct {
    /* Rows in the source's type; count may be 0, ranges may differ between ranks. */
    ikt_status (*read)(ikt_source *source, int64_t first, int64_t count, void *rows);
    /* The same in sparse form; NULL in a source of dense rows. `read` may then be NULL. */
    ikt_status (*read_sparse)(ikt_source *source, int64_t first, int64_t count,
                              ikt_sparse_rows *rows);
    /* *present = false where there are no labels of that name. Where the classes have names of
     * their own, label_names is set. NULL: there are never any beside the rows. */
    ikt_status (*read_labels)(ikt_source *source, const char *name, int64_t first, int64_t count,
                              int64_t *labels, bool *present);
    /* Rows below source->n, on every rank. NULL: there are never any. */
    ikt_status (*read_marked)(ikt_source *source, int64_t **rows, int64_t *count);
    /* NULL where there is no such text, or never any. */
    ikt_status (*read_text)(ikt_source *source, const char *name, char **text);
    /* What else the file holds; `format` is set. NULL: nothing. */
    void (*describe)(const ikt_source *source, ikt_source_content *content);
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
    ikt_type stored;
    int64_t entries, longest, block;
    char *name;
    const char *format; /* for ikt_source_content */
    /* Of the labels that were read last: whether they are the data set /labels, whose classes the
     * file's attribute names; the names of others, or NULL. */
    bool default_labels;
    char *label_names;
    char labels_read[1024]; /* their name; the names above are good for reading them again */
};

/* LOCAL. A source without ops, named "file:/dataset", or "file" where `dataset` is ""; closed with
 * ikt_source_close.
 *   out   receives the source (owned by the caller), NULL on failure
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_source_new(ikt_context *ctx, const char *file, const char *dataset,
                          ikt_source **out);

/* LOCAL. Sets n from n_file and the rows that are wanted. Errors: IKT_ERR_DATA (empty),
 * IKT_ERR_USAGE (rows > n_file). */
ikt_status ikt_source_use_rows(ikt_source *source, int64_t rows);

/* A format that is read directly. */
typedef struct {
    const char *name;
    /* LOCAL. Whether a file is of this format, by its first bytes; on rank 0. */
    bool (*probe)(const char *path, const unsigned char *head, int64_t bytes);
    /* COLLECTIVE. As ikt_source_open_with. */
    ikt_status (*open)(ikt_context *ctx, const char *path, const ikt_source_options *options,
                       ikt_source **out);
} ikt_source_format;

/* The formats; the order in which they are tried is in source_table.c. */
extern const ikt_source_format ikt_source_hdf5, ikt_source_npy, ikt_source_idx, ikt_source_raw;

#endif
