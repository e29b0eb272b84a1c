/* The line from rows to a map: what its steps hold, and the functions that make it.
 *
 * Which steps a run has is decided before it begins (recipe/steps.h). Each step is one collective
 * function: it finds what it takes in ikt_line, and leaves there what it makes. A value is freed by
 * the last step that takes it, as peak memory is a contract.
 */
#ifndef IKT_PIPELINE_LINE_H
#define IKT_PIPELINE_LINE_H

#include "pipeline/pipeline.h"
#include "pipeline/probabilities.h"
#include "pipeline/start.h"
#include "recipe/steps.h"

typedef struct {
    ikt_context *ctx;
    const ikt_steps *steps;           /* lent, as all up to `out` */
    ikt_settings *settings;           /* resolved; what the data decide replaces "auto" */
    ikt_dataset *data;                /* NULL where there is a graph and nothing is taken of rows */
    const ikt_rows *rows;             /* of the input */
    const ikt_embed_options *options; /* labels, outputs, checkpoints */
    const ikt_loop_state *from;       /* which the loop goes on from; NULL: the start */
    ikt_pairwise matrix;              /* of input.graph, where that has all pairs, */
    const ikt_pairwise *pairs; /* and where all pairs come from: that, or the data; or NULL, */
    ikt_edges pair_values;     /* and what their numbers are */
    ikt_landmarks landmarks;   /* and their positions */
    ikt_model *model;          /* of the codes, */
    ikt_code_places places;    /* and what orders rows by them */
    ikt_probabilities p;       /* codes, lists, weights, P, features */
    double *eigenvectors;      /* [rows->count * q] of a start, in the order of the input */
    ikt_embed_result *out;     /* positions, later the map */
} ikt_line;

typedef ikt_status ikt_line_step(ikt_line *line);

/* COLLECTIVE. Begins a line: what a checkpoint holds of it is there.
 *   settings   as ikt_line has them. Errors: those of reading; nothing is held then */
ikt_status ikt_line_begin(ikt_line *line);

/* COLLECTIVE. Makes the steps from one of the table up to another, one after the other. */
ikt_status ikt_line_run(ikt_line *line, ikt_step_id first, ikt_step_id end);

/* COLLECTIVE. Closes and frees all that the line holds, but for what it was lent. */
void ikt_line_end(ikt_line *line);

/* COLLECTIVE, all steps. From rows to lists of the most similar ones (line_lists.c). */
ikt_line_step ikt_step_code, ikt_step_search_codes, ikt_step_search_classes, ikt_step_search_matrix,
    ikt_step_search_rows;

/* From lists, or from all pairs, to P, and to what objectives without P take (line_affinity.c). */
ikt_line_step ikt_step_join, ikt_step_edges, ikt_step_keep, ikt_step_weigh, ikt_step_fill_matrix,
    ikt_step_fill_codes, ikt_step_fill_rows, ikt_step_whole, ikt_step_compare_matrix,
    ikt_step_compare_rows, ikt_step_symmetrise;

/* From P to the map (line_map.c). */
ikt_line_step ikt_step_landmarks, ikt_step_eigenvectors, ikt_step_start, ikt_step_loop;

/* COLLECTIVE. Between the order of the input and that of the loop; `in` may be `out`.
 *   bytes   of a row */
ikt_status ikt_line_reorder(ikt_context *ctx, const ikt_probabilities *p, bool back, const void *in,
                            void *out, int64_t bytes);

/* COLLECTIVE. Brings codes into the order of slots, in place. */
ikt_status ikt_line_order_codes(ikt_context *ctx, const ikt_order *order, ikt_codes *codes);

/* LOCAL, pure. What weights are made with. */
ikt_affinity_job ikt_line_weighing(const ikt_line *line);

#endif
