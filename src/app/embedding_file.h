/* What a picture or a page of an embedding is made from, read from the file of a run and beside it.
 */
#ifndef IKT_APP_EMBEDDING_FILE_H
#define IKT_APP_EMBEDDING_FILE_H

#include <stdbool.h>

#include "config/key.h"
#include "dist/rows.h"
#include "io/results/beside.h"
#include "io/results/result.h"
#include "io/sources/labels.h"
#include "viewer/viewer.h"

typedef struct {
    ikt_result_file *file;
    const char *path, *name; /* of the file; as it was named, perhaps FILE:WHAT; borrowed */
    ikt_rows rows;
    int q;
    float *y;                  /* [rows.count * q] */
    ikt_beside beside;         /* the rows, for columns of other files */
    int64_t *marked, n_marked; /* rows to mark, the same on every rank */
    char note[512];            /* what the file says of the run: its input and KL; or "" */
    char *configuration;       /* YAML, or NULL */
} ikt_embedding_file;

/* COLLECTIVE. Opens a map, that of RUN.h5 or of any program (io/results/result.h), and reads all
 * but columns. marks   "": rows to mark are those of the file; "none"; or a list such as "0,17"
 * Errors: IKT_ERR_USAGE (marks), those of io/results/result.h; ikt_embedding_file_close frees what
 * there is. */
ikt_status ikt_embedding_file_open(ikt_context *ctx, const char *path, const char *marks,
                                   ikt_embedding_file *out);
void ikt_embedding_file_close(ikt_embedding_file *embedding);

/* What else a map may be, for the help of verbs that read one. */
#define IKT_MAP_HELP                                                                               \
    "any map: FILE.h5:DATASET, such as cells.h5ad:obsm/X_umap, MAP.npy, MAP.csv, or "              \
    "MAP.csv:COLUMN,COLUMN"

/* LOCAL. The title that was given, or else the name of the file. */
const char *ikt_embedding_file_title(const ikt_embedding_file *embedding, const char *given);

/* How a data set is taken: auto takes labels, and whole numbers that span fewer than 64, as
 * classes. The order of IKT_COLOUR_AS. */
#define IKT_COLOUR_AS "auto|classes|numbers"
typedef enum { IKT_COLOUR_AS_AUTO, IKT_COLOUR_AS_CLASSES, IKT_COLOUR_AS_NUMBERS } ikt_colour_as;

/* COLLECTIVE. The parts of a name that may be "DATASET" of the run's file or "FILE.h5:DATASET" of
 * another, as rank 0 sees the files.
 *   own       the run's file
 *   file      receives the file's name
 *   dataset   receives the other part, without a slash before it */
void ikt_embedding_name_split(ikt_context *ctx, const char *name, const char *own,
                              char file[IKT_STRING_MAX], char dataset[IKT_STRING_MAX]);

/* Something to colour the points by. */
typedef struct {
    char name[IKT_STRING_MAX]; /* of the data set; "" where there is nothing */
    int64_t *labels;           /* [rows.count] classes, or NULL */
    char *names;               /* of the classes, a line each; NULL: they are numbers */
    double *values;            /* [rows.count] numbers, or NULL */
} ikt_embedding_column;

/* COLLECTIVE. Reads "DATASET" of the run's file, or "FILE.h5:DATASET" of another, which may be a
 * column of obs of an AnnData; "none" is
 * nothing, and so is "labels" where the file has none, unless the user asked for them. Errors:
 * IKT_ERR_DATA (no such data set, not one-dimensional, not numbers, not whole numbers for classes),
 * IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_embedding_column_read(ikt_context *ctx, const ikt_embedding_file *embedding,
                                     const char *name, ikt_colour_as as, bool asked_for,
                                     ikt_embedding_column *out);
void ikt_embedding_column_free(ikt_embedding_column *column);

/* --- the columns of a picture or a page ------------------------------------------------------- */

/* What points can be coloured by, and what is read of a point, from the file of the map and from
 * files beside it. */

/* What one column is made of. */
typedef struct {
    ikt_embedding_column own; /* name; classes or numbers */
    ikt_texts texts;
    int32_t *colours; /* [n_colours] of its classes, where the file has them */
    int64_t n_colours;
    const double *gene; /* its numbers within the genes; borrowed */
    ikt_viewer_use use;
    char asked[IKT_STRING_MAX];    /* as the user named it */
    char full[2 * IKT_STRING_MAX]; /* FILE:COLUMN */
} ikt_page_column;

typedef struct {
    ikt_page_column *column; /* [IKT_VIEWER_COLUMNS_MOST] */
    int count;
    double *genes;
} ikt_page_columns;

/* What the user named. */
typedef struct {
    char colour_by[IKT_STRING_MAX], hover[IKT_STRING_MAX]; /* lists with commas, */
    char genes[IKT_STRING_MAX];                            /* or "" */
    char genes_from[IKT_STRING_MAX]; /* FILE.h5ad[:MATRIX]; "": the file of the map */
    int colour_as;                   /* an ikt_colour_as */
    bool asked_for;                  /* colours are named by the user, not by default */
} ikt_page_names;

/* COLLECTIVE. Reads them all; ikt_page_columns_free frees what there is. Errors: IKT_ERR_USAGE (an
 * empty name, too many), those of ikt_embedding_column_read, ikt_texts_read and ikt_anndata_genes.
 */
ikt_status ikt_page_columns_read(ikt_context *ctx, const ikt_embedding_file *map,
                                 const ikt_page_names *names, ikt_page_columns *out);
void ikt_page_columns_free(ikt_page_columns *columns);

/* LOCAL. The columns as the viewer takes them: [columns->count], borrowed from `columns`. */
void ikt_page_columns_list(const ikt_page_columns *columns, ikt_viewer_column *out);

#endif
