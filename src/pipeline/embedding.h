/* From data to embedding: P -> initial positions -> loop.
 *
 * The pipeline without files: what it makes of all rows, a start from landmarks makes of some.
 */
#ifndef IKT_PIPELINE_EMBEDDING_H
#define IKT_PIPELINE_EMBEDDING_H

#include "checkpoint/hooks.h"
#include "data/dataset.h"
#include "dist/rows.h"
#include "io/results/graph_file.h"
#include "io/results/model_file.h"
#include "neighbours/search.h"
#include "settings/settings.h"

/* Positions, and what was learned while making them. */
typedef struct {
    float *y; /* [rows->count * q], q = layout.dimensions; owned */
    ikt_trace trace;
    int64_t zero_similarity; /* rows without similarity to any other */
    int64_t entries;         /* of P */
    double accuracy;         /* 10-NN label accuracy of the neighbours; or negative */
    ikt_recall recall;       /* of approximate neighbour search; sample 0: exact */
    ikt_loop_state last;     /* the loop's, in its own order; where it was wanted */
} ikt_embed_result;

/* What there is beside the data, and what else is wanted. All of it may be empty, and is lent. */
typedef struct {
    const int64_t *labels;           /* [rows->count] of the own rows */
    ikt_model_writer *model_writer;  /* receives model and codes (keep.h) */
    ikt_graph_writer **graph_writer; /* receives P before the loop begins, and is ended */
    ikt_checkpoint_hooks *hooks;     /* the checkpoint to go on from and to write */
    const ikt_loop_state *from;      /* of the finished run that is extended */
    bool want_last;                  /* the loop's last state */
} ikt_embed_options;

/* COLLECTIVE. Embeds the rows of a data set, or of a graph.
 *   settings   as the user gave them; what the embedding had to decide replaces "auto"
 *   data       NULL where there is a graph (input.graph) and nothing is taken from the rows
 *   rows        ownership of the rows
 *   out        free with ikt_embed_result_destroy; empty on failure
 * Errors: IKT_ERR_USAGE for settings that do not suit the number of rows, IKT_ERR_RESOURCE,
 * IKT_ERR_DATA, those of reading; IKT_STOPPED, with a checkpoint written. */
ikt_status ikt_embed_dataset(ikt_context *ctx, ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *rows, const ikt_embed_options *options,
                             ikt_embed_result *out);

void ikt_embed_result_destroy(ikt_embed_result *embedding);

#endif
