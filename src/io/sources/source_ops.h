/* What a way of holding rows provides to source.c.
 *
 * A new format is one file with one const table of these functions, one function that opens it and
 * one line in source.c; nothing else changes.
 * Every function is COLLECTIVE and keeps the contract of the function of source.h that calls it.
 */
#ifndef IKT_IO_SOURCES_SOURCE_OPS_H
#define IKT_IO_SOURCES_SOURCE_OPS_H

#include "config/value.h"
#include "dist/row_blocks.h"
#include "io/formats/reader.h"
#include "io/sources/source.h"

typedef struct {
    size_t self_bytes; /* of source->self, which is zeroed when the source is made */
    /* Rows in the source's type; count may be 0, ranges may differ between ranks. */
    ikt_status (*read)(ikt_source *source, int64_t first, int64_t count, void *rows);
    /* Of sparse rows in its place, where source->sparse says so: where the entries of rows begin,
     * and these as they are stored, as ikt_csr_group_starts and ikt_csr_group_entries give them. */
    ikt_status (*starts)(ikt_source *source, int64_t first, int64_t count, int64_t *start);
    ikt_status (*entries)(ikt_source *source, int64_t first, int64_t count, const int64_t *start,
                          uint32_t *column, double *value);
    /* *present = false where there are no labels of that name. Where the classes have names of
     * their own, label_names is set. NULL: there are never any beside the rows. */
    ikt_status (*read_labels)(ikt_source *source, const char *name, int64_t first, int64_t count,
                              int64_t *labels, bool *present);
    /* Rows below source->n, on every rank. NULL: there are never any. */
    ikt_status (*read_marked)(ikt_source *source, int64_t **rows, int64_t *count);
    /* NULL where there is no such text, or never any. */
    ikt_status (*read_text)(ikt_source *source, const char *name, char **text);
    /* LOCAL. See ikt_source_column_name. NULL: columns have no names. */
    bool (*name_column)(const ikt_source *source, int64_t column, char *name, size_t size);
    /* See ikt_source_column_names; `names` is empty and grows by ikt_column_name_add. NULL: there
     * are never any. LOCAL, the same on all ranks. */
    ikt_status (*name_columns)(const ikt_source *source, ikt_text *names);
    /* What else the file holds; `format` is set. NULL: nothing. */
    void (*describe)(const ikt_source *source, ikt_source_content *content);
    /* Frees what `self` holds; also called on a source whose opening failed half way. NULL: it
     * holds nothing that is the source's own. */
    void (*close)(ikt_source *source);
} ikt_source_ops;

struct ikt_source {
    ikt_context *ctx;
    const ikt_source_ops *ops;
    void *self;
    int64_t n, d;   /* rows used, columns */
    int64_t n_file; /* rows there are */
    ikt_type type;
    bool is_half; /* of float16, which comes as float32 */
    bool sparse;
    /* Of sparse sources; see source.h. */
    ikt_type stored;
    int64_t entries, longest, block;
    ikt_source *from; /* another one, whose labels, texts, names of columns and content are those of
                         this one where it has no function for them; or NULL */
    char *name;
    const char *format; /* for ikt_source_content */
    char missing[256];  /* see ikt_source_missing */
    /* Of the labels that were read last: whether they are the data set /labels, whose classes the
     * file's attribute names; the names of others, or NULL. */
    bool default_labels;
    char *label_names;
    char labels_read[1024]; /* their name; the names above are good for reading them again */
};

/* LOCAL. Adds the name of the next column, in one line. */
void ikt_column_name_add(ikt_text *names, const char *name);

/* COLLECTIVE. A source named "file:/dataset", or "file" where `dataset` is ""; closed with
 * ikt_source_close.
 *   format   for ikt_source_content; a literal
 *   out      receives the source (owned by the caller), NULL on failure
 * Errors: IKT_ERR_RESOURCE, agreed. */
ikt_status ikt_source_new(ikt_context *ctx, const ikt_source_ops *ops, const char *format,
                          const char *file, const char *dataset, ikt_source **out);

/* COLLECTIVE. Sets entries, longest and block of a source of sparse rows: the ranks go through
 * where the rows begin, each through its share, in pieces. Errors: those of `starts`,
 * IKT_ERR_RESOURCE. */
ikt_status ikt_source_scan_rows(ikt_source *source);

/* Rows of which each rank of a program holds its own: their labels. */
typedef struct {
    const int64_t *labels; /* of the own rows; borrowed; or NULL */
    bool is_there;         /* on any rank */
} ikt_own_labels;

/* LOCAL. What a rank can see of its own rows. Errors: IKT_ERR_USAGE. */
ikt_status ikt_own_rows_check(ikt_context *ctx, int64_t count, int64_t d, ikt_type type);

/* COLLECTIVE. Errors: IKT_ERR_USAGE where some ranks have labels of their rows and some have not.
 */
ikt_status ikt_own_labels_make(ikt_context *ctx, const int64_t *labels, int64_t count,
                               ikt_own_labels *out);

/* COLLECTIVE. As read_labels.
 *   blocks   of the rows */
ikt_status ikt_own_labels_read(ikt_context *ctx, const ikt_own_labels *own, ikt_row_blocks *blocks,
                               int64_t first, int64_t count, int64_t *labels, bool *present);

/* LOCAL, pure. Whether a name of a data set stands for the only array of a file. */
bool ikt_source_is_any(const char *dataset);

/* LOCAL. Sets n from n_file and the rows that are wanted. Errors: IKT_ERR_DATA (empty),
 * IKT_ERR_USAGE (rows > n_file). */
ikt_status ikt_source_use_rows(ikt_source *source, int64_t rows);

/* A format that is read directly. */
typedef struct ikt_source_format ikt_source_format;
struct ikt_source_format {
    const char *name;
    const ikt_reader_ops *header; /* a reader that knows a file by its first bytes and tells where
                                     its rows stand; NULL: HDF5, raw numbers */
    /* COLLECTIVE. As ikt_source_open_with; *out is NULL. */
    ikt_status (*open)(ikt_context *ctx, const ikt_source_format *format, const char *path,
                       const ikt_source_options *options, ikt_source **out);
};

/* The formats; the order in which they are tried is in source.c. */
extern const ikt_source_format ikt_source_hdf5, ikt_source_npy, ikt_source_idx, ikt_source_csv,
    ikt_source_packed, ikt_source_raw, ikt_source_vecs, ikt_source_bin, ikt_source_safetensors;

#endif
