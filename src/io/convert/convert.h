/* Files of foreign formats as the HDF5 that `embed` reads: rows, labels, names of classes, and of
 * CSV columns of text.
 *
 * The rows of a feed go to the file block by block, from each rank to its place. Sparse rows are
 * written sparse or dense, dense rows dense. Memory per rank: a few blocks.
 */
#ifndef IKT_IO_CONVERT_CONVERT_H
#define IKT_IO_CONVERT_CONVERT_H

#include "base/atomic_file.h"
#include "io/convert/table_writer.h"
#include "io/formats/reader.h"
#include "io/numbers/sparse_rows.h"
#include "io/sources/source.h"

/* What is asked for; texts may be NULL for "". */
typedef struct {
    ikt_reader_options reader;
    const char *dataset;     /* of HDF5; of CSV the columns; "auto": what embed takes */
    const char *labels;      /* a file, or "FILE:PART" (labels.h); of HDF5 also a data set of it */
    const char *label_array; /* of the input itself */
    ikt_raw raw;             /* of a file of nothing but numbers */
    int64_t rows;            /* the first ones; 0: all */
} ikt_feed_options;

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

/* For the files of this room: the rows of a file of whatever format, on their way through the
 * ranks.
 *
 * Each rank has a part of the rows, which it is given block by block: formats that are read in
 * order have all of them on rank 0, as a sparse matrix of HDF5 that stands by columns; HDF5 and
 * CSV, and LIBSVM and flat formats that are not gzipped, are read by all ranks. A format whose rows
 * come in another way is one ikt_row_feed_ops.
 */

/* A column of texts beside the rows. */
typedef struct {
    ikt_table_text about;
    char *block; /* the texts of the rows that were given last, about.width bytes each; owned */
} ikt_feed_text;

typedef struct ikt_row_feed ikt_row_feed;

/* A kind of feed. Its functions are COLLECTIVE, as those below, but for close. */
typedef struct {
    size_t self_bytes; /* of feed->self, which is zeroed before `open` */
    /* Sets what the feed tells, but not `has_own` and `given`; `labels` of those it gives. */
    ikt_status (*open)(ikt_row_feed *feed, const ikt_feed_options *options);
    ikt_status (*dense)(ikt_row_feed *feed, int64_t count, void *rows, int32_t *labels);
    ikt_status (*sparse)(ikt_row_feed *feed, int64_t rows, int64_t entries,
                         ikt_sparse_block *block);
    /* Frees what `self` holds; also called where `open` failed half way. */
    void (*close)(ikt_row_feed *feed);
} ikt_row_feed_ops;

/* What a feed has, the same on every rank. */
typedef struct {
    int64_t n, d;
    int64_t n_file;  /* rows that there are, of which n are asked for */
    int64_t entries; /* of sparse rows, in all */
    ikt_type type;   /* of dense rows; what holds every value of sparse ones */
    bool sparse;     /* rows are given sparse */
    bool keeps_form; /* sparse rows stay so whatever they take, unless dense ones are asked for */
    bool labels;     /* rows come with labels */
} ikt_feed_shape;

struct ikt_row_feed {
    ikt_context *ctx;
    const ikt_row_feed_ops *ops;
    const char *path;          /* borrowed, or */
    char matrix[IKT_PATH_MAX]; /* that of a folder of 10x Genomics */
    void *self;
    ikt_feed_shape shape;
    bool has_own;           /* the labels are those that the kind gives with the rows, or */
    int64_t *given;         /* [count] those of a file or an array of their own; owned */
    const char *label_path; /* where labels come from, for messages; borrowed */
    char *classes;          /* names of labels, "a\nb\n", on every rank, or NULL */
    int64_t first, count;   /* rows first .. first + count - 1 are this rank's */
    int64_t first_entry;    /* of this rank's rows */
    int64_t done;           /* rows of this rank that have been given */
    ikt_feed_text *text;    /* [texts] of dense rows; owned */
    int64_t texts;
    ikt_source *source; /* of the kinds that have one; owned */
};

/* COLLECTIVE. Opens a file by its content. The path and the options' texts are borrowed until
 * it is closed.
 *   out   closed with ikt_row_feed_close; NULL on failure
 * Errors: those of ikt_reader_open, ikt_source_open and ikt_libsvm_file_open. */
ikt_status ikt_row_feed_open(ikt_context *ctx, const char *path, const ikt_feed_options *options,
                             ikt_row_feed **out);

/* COLLECTIVE. The next dense rows of this rank: at most `most`, none when it has given all.
 *   rows     [most * d] of shape.type
 *   labels   [most], filled where the feed has labels
 *   count    how many these are
 * Errors: agreed. */
ikt_status ikt_row_feed_dense(ikt_row_feed *feed, int64_t most, void *rows, int32_t *labels,
                              int64_t *count);

/* COLLECTIVE. The next sparse rows of this rank into a block, which is emptied before: at most
 * `rows`, fewer where they come to `entries` entries. Errors: agreed. */
ikt_status ikt_row_feed_sparse(ikt_row_feed *feed, int64_t rows, int64_t entries,
                               ikt_sparse_block *block);

/* COLLECTIVE. Closes and sets to NULL; accepts NULL. */
void ikt_row_feed_close(ikt_row_feed **feed);

/* The kinds of row_feed_source.c: flat formats, as NPY; and HDF5. */
extern const ikt_row_feed_ops ikt_row_feed_source, ikt_row_feed_hdf5;

/* LOCAL. Gives rank 0 all rows, and the others none. */
void ikt_row_feed_on_root(ikt_row_feed *feed);

/* LOCAL. Sets n from n_file and the rows that are asked for. Errors: IKT_ERR_USAGE: there are not
 * as many. */
ikt_status ikt_row_feed_use_rows(ikt_row_feed *feed, int64_t rows);

/* COLLECTIVE. Labels of the next rows to 32 bits. Errors: IKT_ERR_DATA: they do not fit; agreed. */
ikt_status ikt_row_feed_narrow(const ikt_row_feed *feed, const int64_t *wide, int64_t count,
                               int32_t *labels);

#endif
