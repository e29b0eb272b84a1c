/* The columns of a page: what its points can be coloured by, and what is read of a point, from the
 * file of the map and from files beside it.
 */
#ifndef IKT_APP_PAGE_COLUMNS_H
#define IKT_APP_PAGE_COLUMNS_H

#include "app/embedding_file.h"
#include "io/sources/labels.h"
#include "viewer/viewer.h"

/* What one column is made of. */
typedef struct {
    ikt_embedding_column own; /* name; classes or numbers */
    ikt_texts texts;
    int32_t *colours; /* [n_colours] of its classes, where the file has them */
    int64_t n_colours;
    const double *gene; /* its numbers within the genes; lent */
    ikt_viewer_use use;
    char asked[IKT_STRING_MAX]; /* as the user named it */
} ikt_page_column;

typedef struct {
    ikt_page_column *column; /* [IKT_VIEWER_COLUMNS_MOST] */
    int count;
    double *genes;
} ikt_page_columns;

/* What the user named. */
typedef struct {
    const char *colour_by, *hover, *genes; /* lists with commas */
    const char *genes_from;                /* FILE.h5ad[:MATRIX]; "": the file of the map */
    ikt_colour_as colour_as;
    bool asked_for; /* colours are named by the user, not by default */
} ikt_page_names;

/* COLLECTIVE. Reads them all; ikt_page_columns_free frees what there is. Errors: IKT_ERR_USAGE (an
 * empty name, too many), those of ikt_embedding_column_read, ikt_texts_read and ikt_anndata_genes.
 */
ikt_status ikt_page_columns_read(ikt_context *ctx, const ikt_embedding_file *map,
                                 const ikt_page_names *names, ikt_page_columns *out);
void ikt_page_columns_free(ikt_page_columns *columns);

/* LOCAL. The columns as the viewer takes them: [columns->count], lent from `columns`. */
void ikt_page_columns_list(const ikt_page_columns *columns, ikt_viewer_column *out);

#endif
