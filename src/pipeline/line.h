/* The line from rows to a map: what its steps hold, and the functions that make it.
 *
 * Which steps a run has is decided before it begins (recipe/steps.h). Each step is one collective
 * function: it finds what it takes in ikt_line, and leaves there what it makes. A value is freed by
 * the last step that takes it, as peak memory is a contract.
 */
#ifndef IKT_PIPELINE_LINE_H
#define IKT_PIPELINE_LINE_H

#include "affinity/dense.h"
#include "affinity/whole.h"
#include "dist/order.h"
#include "graph/graph.h"
#include "neighbours/fine.h"
#include "pipeline/pipeline.h"
#include "recipe/steps.h"

/* The rows of a start from landmarks, the same on every rank. */
typedef struct {
    int64_t count;
    int64_t *row; /* [count] ascending */
    int q;        /* dimensions */
    float *y;     /* [count * q] their positions, centred */
} ikt_landmarks;

/* P in the form that it has; the others are NULL. */
typedef struct {
    const ikt_graph *graph;
    const ikt_dense *dense;
    const ikt_whole *whole;
} ikt_p_form;

typedef struct {
    ikt_context *ctx;
    const ikt_steps *steps;           /* borrowed, as is what is const here, settings and data */
    ikt_settings *settings;           /* resolved; what the data decide replaces "auto" */
    ikt_dataset *data;                /* NULL where there is a graph and nothing is taken of rows */
    const ikt_rows *rows;             /* of the input, and of the slots of `order` */
    const ikt_embed_options *options; /* labels, outputs, checkpoints */
    const ikt_loop_state *from;       /* which the loop goes on from; NULL: the start */
    ikt_pairwise matrix;              /* all pairs of input.graph; source NULL: it has others */
    const ikt_pairwise *pairs; /* all pairs of the run: `matrix`, or those of the data; or NULL */
    ikt_edges pair_values;     /* what the numbers of `pairs` are */
    ikt_landmarks landmarks;   /* of a start among them: their rows and positions */
    ikt_model *model;          /* of the codes, */
    ikt_code_places places;    /* and what orders rows by them */
    double *eigenvectors;      /* [rows->count * q] of a start, in the order of the input */
    ikt_embed_result *out;     /* positions, later the map */
    /* P in one of its forms, or what else the objective needs, and what was learned on the way. */
    bool is_found;   /* in the checkpoint: but for the graph all of this is there */
    bool is_ordered; /* everything below is in the slots of `order`, otherwise in the order of the
                        input */
    ikt_order order;
    ikt_neighbours lists;      /* while P is computed: what was found; then empty */
    ikt_directed weights;      /* the same of a graph from a file, and of lists with weights */
    ikt_neighbours neighbours; /* lists with their scores, where they are needed; an objective may
                                  destroy them */
    ikt_codes codes;           /* where they are needed */
    ikt_features features;     /* the rows, where features are needed and those are not codes, */
    ikt_joined joined;         /* or the pairs that a sparse graph joins */
    ikt_graph graph;           /* sparse P; */
    ikt_dense dense;           /* or dense P; */
    ikt_whole whole; /* or the whole kernel. Where some rows have no similarity, `graph` holds the
                        affinities that they get; otherwise it is empty then */
    double *scores;  /* [rows->count * q] principal components of the own rows, of a kept graph */
    float *start; /* [rows->count * q] places of the own rows, in the order of the input, among the
                     landmarks; NULL without landmarks, and where the kernel needs no codes */
    ikt_code_check cells;      /* of approximate codes */
    ikt_recall recall;         /* of approximate search */
    ikt_class_outcome classes; /* of affinity.kind = fisher */
    double accuracy; /* 10-NN label accuracy of the lists; negative: there are no labels */
    int64_t k;       /* neighbours of a row before symmetrising */
    int64_t passes;  /* of an approximate search by distance, or 0 */
    int64_t rounds;  /* of refinement after an approximate search; negative: there was none */
    int64_t psi;     /* resolved, isolation only */
    int64_t pool;    /* resolved: rows that centres are drawn from, 0 for all */
    int64_t zero_similarity; /* rows without similarity to any other */
    int64_t entries;         /* of P over all ranks; 0: it is not held */
} ikt_line;

static inline ikt_p_form ikt_form_of(const ikt_line *line) {
    const int support = line->settings->affinity.support;
    return (ikt_p_form){.graph = line->graph.forward.start ? &line->graph : NULL,
                        .dense = support == IKT_SUPPORT_DENSE ? &line->dense : NULL,
                        .whole = support == IKT_SUPPORT_WHOLE ? &line->whole : NULL};
}

typedef ikt_status ikt_line_step(ikt_line *line);

/* COLLECTIVE. Begins a line: what a checkpoint holds of it is there.
 *   settings   as ikt_line has them. Errors: those of reading */
ikt_status ikt_line_begin(ikt_line *line);

/* COLLECTIVE. Makes the steps from one of the table up to another, one after the other. */
ikt_status ikt_line_run(ikt_line *line, ikt_step_id first, ikt_step_id end);

/* COLLECTIVE. Closes and frees all that the line holds, but for what it borrowed; accepts one that
 * was not begun. */
void ikt_line_end(ikt_line *line);

/* COLLECTIVE, all steps. From rows to lists of the most similar ones (line_lists.c). */
ikt_line_step ikt_step_code, ikt_step_search_codes, ikt_step_search_classes, ikt_step_search_matrix,
    ikt_step_search_rows;

/* From lists, or from all pairs, to P, and to what objectives without P take (line_affinity.c). */
ikt_line_step ikt_step_keep, ikt_step_weigh, ikt_step_fill_matrix, ikt_step_fill_codes,
    ikt_step_fill_rows, ikt_step_whole, ikt_step_compare_distances, ikt_step_compare_similarities,
    ikt_step_compare_codes, ikt_step_compare_pairs, ikt_step_compare_rows, ikt_step_symmetrise;

/* From a graph of a file (line_graph.c). */
ikt_line_step ikt_step_join, ikt_step_edges;

/* COLLECTIVE. Writes what was learned while weights were made, which a run from their file takes
 * up. Errors: IKT_ERR_FILE. */
ikt_status ikt_line_write_facts(const ikt_line *line, ikt_graph_writer *writer);

/* Landmarks (landmarks.c), and from P to the map (line_map.c). */
ikt_line_step ikt_step_landmarks, ikt_step_eigenvectors, ikt_step_loop;

/* COLLECTIVE. The steps that make positions, in the order of the loop (start.c); nothing where the
 * loop goes on from others, unless the start is written. */
ikt_status ikt_line_start(ikt_line *line, ikt_step_id step);

/* COLLECTIVE. What a checkpoint holds of the lists, if there is one (saved_lists.c).
 * Errors: those of ikt_checkpoint_find and of reading. */
ikt_status ikt_line_load(ikt_line *line);

/* COLLECTIVE. Writes the lists, and what was learned on the way, where a checkpoint is due
 * (base/watch.h). Errors: IKT_STOPPED, with all of it saved; IKT_ERR_FILE. */
ikt_status ikt_line_save_where_due(ikt_line *line);

/* LOCAL. Puts how many neighbours there are, and of which model, in place of "auto". */
void ikt_line_note(const ikt_line *line, ikt_settings *settings);

/* COLLECTIVE. Between the order of the input and that of the loop; `in` may be `out`.
 *   bytes   of a row */
ikt_status ikt_line_reorder(const ikt_line *line, bool back, const void *in, void *out,
                            int64_t bytes);

/* COLLECTIVE. Brings rows into the order of the cells that go with their codes, where there are
 * such: of the centres nearest to each, or else coarse ones.
 *   cells, fine   owned by the caller; those that there are not, and all on failure, are empty */
ikt_status ikt_line_order_rows(ikt_line *line, ikt_cells *cells, ikt_fine_cells *fine);

/* COLLECTIVE. Brings the codes, where there are some, into the order of slots, in place; nothing
 * where rows are in the order of the input. */
ikt_status ikt_line_order_codes(ikt_line *line);

/* COLLECTIVE. The rows of the data set, as pairs of them are scored.
 *   scorer   owned by the caller; empty on failure */
ikt_status ikt_line_score_rows(const ikt_line *line, ikt_scorer *scorer);

/* LOCAL. Frees what codes are made of, once they are used. */
void ikt_line_forget_model(ikt_line *line);

/* LOCAL. The file of the graph that P is written to; NULL: none. */
static inline ikt_graph_writer *ikt_line_graph_writer(const ikt_line *line) {
    ikt_graph_writer **writer = line->options->graph_writer;
    return writer ? *writer : NULL;
}

/* COLLECTIVE. Positions of the own rows, weighted by the Isolation kernel: codes of the own rows in
 * the order of the input, those of the landmarks among them. Rows without similarity to any
 * landmark come to the middle.
 *   y   [rows->count * q] */
ikt_status ikt_landmarks_place_codes(ikt_context *ctx, const ikt_landmarks *landmarks,
                                     const ikt_rows *rows, const ikt_codes *codes, float *y);

/* COLLECTIVE. The same for kinds of affinity that know distances only, weighted by a Gaussian
 * kernel whose width suits each row's distances. Reads the own rows once. */
ikt_status ikt_landmarks_place_rows(ikt_context *ctx, const ikt_landmarks *landmarks,
                                    const ikt_rows *rows, ikt_dataset *data, float *y);
void ikt_landmarks_destroy(ikt_landmarks *landmarks);

/* COLLECTIVE. Codes of the own rows by the model that the section `isolation` means, for the
 * Isolation kernel as a similarity.
 *   codes   free with ikt_codes_destroy in any case
 *   model   NULL, or receives the model, owned by the caller; NULL on failure
 * Errors: those of the model and of the codes. */
ikt_status ikt_kernel_codes(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                            const ikt_rows *rows, ikt_codes *codes, ikt_model **model);

/* COLLECTIVE. Coordinates of the own rows in the map of kpca or kda.
 *   settings   layout.init tells which map; the section kernel tells how
 *   data       rows, or a matrix; not NULL
 *   labels     [rows->count] of the own rows, for kda, as ikt_labels_least has them. NULL without
 *   names      of the classes, or NULL
 *   writer     receives what places new rows in the map; NULL: that is not wanted
 *   scores     [rows->count * layout.dimensions]
 *   report     receives what was found, which the log has told
 * Errors: those of the maps and of reading; IKT_ERR_RESOURCE. */
ikt_status ikt_kernel_scores(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *rows, const int64_t *labels, const char *names,
                             ikt_model_writer *writer, double *scores, ikt_kernel_report *report);

#endif
