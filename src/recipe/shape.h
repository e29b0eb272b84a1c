/* What is known of the inputs of a run before anything long happens: the shapes of rows, graph and
 * matrix, whether there are labels, and where the rows start.
 *
 * The files are looked at and closed again, but for the rows, which whoever goes on reads next. A
 * run that is only planned may do without files: its shape is then what somebody says of it.
 */
#ifndef IKT_RECIPE_SHAPE_H
#define IKT_RECIPE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "affinity/affinity.h"
#include "io/results/graph_file.h"
#include "io/sources/source.h"
#include "settings/settings.h"

/* Rows, as the kernels will read them. */
typedef struct {
    int64_t n, d; /* rows and columns of the file */
    ikt_type type;
    bool is_half;          /* of float16, which comes as float32 */
    int64_t drawn;         /* rows that centres are drawn from, of another file; 0: n */
    int64_t graph_entries; /* of a graph that takes the place of the kernel; 0: there is none */
    bool graph_is_ordered; /* its rows are in an order of their own */
    bool is_sparse;        /* rows are held and compared sparse */
    double entries;        /* of a sparse row, on average */
    int64_t longest;       /* entries of a sparse row, at most; 0: unknown */
    double overlap;        /* columns that two sparse rows share, on average; 0: unknown */
} ikt_data_shape;

/* What is known of the graph of a run before it is read. */
typedef struct {
    int64_t n, entries; /* rows, 0 without a graph; entries of the file, or those that are used */
    bool is_pairwise;   /* a matrix of all pairs */
    bool is_kept;       /* by a run of ours (output.graph) */
    bool is_ordered;    /* its rows are in the slots of an order */
    ikt_graph_start start;
    int64_t q;    /* dimensions of the start */
    int64_t seed; /* of the run that kept it */
    char name[IKT_STRING_MAX + 64];
    char values[64]; /* what its numbers are, as the file says by an attribute; or "" */
    char *settings;  /* of the run that kept it, as YAML; owned; or NULL */
} ikt_graph_about;

typedef struct {
    ikt_data_shape data; /* is_sparse and the following are of rows that are not reduced */
    ikt_graph_about graph;
    bool has_rows; /* of a file, or in memory: not a graph alone */
    bool is_host;  /* a program calls the library: no file is written that it does not name */
    bool is_stored_sparse;
    bool is_unlabelled;                   /* there are no labels; false also where nobody knows */
    int64_t model_columns;                /* of isolation.model_from; 0: there is none */
    char name[IKT_STRING_MAX + 64];       /* of the rows or of the graph: "file.h5:/X" */
    char model_name[IKT_STRING_MAX + 64]; /* of isolation.model_from */
    int64_t start_rows, start_dimensions; /* of layout.init_file; 0: it was not looked at */
} ikt_shape;

/* COLLECTIVE. Looks at all inputs that the settings name.
 *   given    rows of a host program in place of input.file, or NULL
 *   is_host  a program calls the library
 *   out      free with ikt_shape_destroy; empty on failure
 *   source   receives the opened rows, owned by the caller: NULL where they are given, and where a
 *            graph stands alone. Similarities (input.similarities) are not looked through yet
 * Errors: those of opening; IKT_ERR_DATA where labels are named that are not there. */
ikt_status ikt_shape_look(ikt_context *ctx, const ikt_settings *settings, ikt_source *given,
                          bool is_host, ikt_shape *out, ikt_source **source);

/* COLLECTIVE. The rows of isolation.model_from with their columns in the order of those of the
 * run's rows, where both have names for them.
 *   model     owned by *ordered, where there is one
 *   ordered   NULL: they stand in that order, or nobody knows
 * Errors: IKT_ERR_DATA for columns of other names; those of reading. */
ikt_status ikt_model_rows_order(ikt_context *ctx, ikt_source *model, ikt_source *rows,
                                ikt_source **ordered);

/* COLLECTIVE. As ikt_shape_look, without the rows, which are described by `data`: graph,
 * isolation.model_from and layout.init_file are looked at where they are named. */
ikt_status ikt_shape_describe(ikt_context *ctx, const ikt_settings *settings,
                              const ikt_data_shape *data, ikt_shape *out);

void ikt_shape_destroy(ikt_shape *shape);

/* COLLECTIVE. Reads the labels of the own rows: of the source, or beside a graph or a matrix that
 * stands alone, and the rows that are marked there.
 *   source   NULL: they are beside the graph or the matrix, for runs without input.file; labels
 *            of a graph also in a file of their own (io/sources/labels.h)
 *   out      free with ikt_companions_free; empty on failure
 * Errors: IKT_ERR_DATA where labels are named that are not there; IKT_ERR_FILE, IKT_ERR_RESOURCE.
 */
typedef struct {
    int64_t *labels;   /* [rows->count], or NULL where there are none */
    char *label_names; /* a line a class, or NULL */
    int64_t *marked, n_marked;
    int64_t *original; /* [rows->count] of a kept graph of whose data rows were left out: their
                          numbers in these; else NULL */
} ikt_companions;

ikt_status ikt_companions_read(ikt_context *ctx, const ikt_input_settings *input,
                               ikt_source *source, const ikt_rows *rows, ikt_companions *out);
void ikt_companions_free(ikt_companions *companions);

#endif
