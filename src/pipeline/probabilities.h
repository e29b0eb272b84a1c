/* From data to P: the arrows  codes -> neighbours -> affinity -> P  of the pipeline. */
#ifndef IKT_PIPELINE_PROBABILITIES_H
#define IKT_PIPELINE_PROBABILITIES_H

#include "affinity/dense.h"
#include "checkpoint/hooks.h"
#include "dist/order.h"
#include "graph/graph.h"
#include "io/results/graph_file.h"
#include "io/results/model_file.h"
#include "neighbours/recall.h"
#include "pipeline/landmarks.h"
#include "settings/settings.h"

/* P in one of its two forms, and what was learned on the way. */
typedef struct {
    bool is_ordered; /* the graph's rows are positions of `order`, otherwise rows of the input */
    ikt_order order;
    ikt_recall recall; /* of approximate search */
    double accuracy;   /* 10-NN label accuracy of the lists; negative where there are no labels */
    const int64_t *labels;          /* lent while P is computed */
    const ikt_landmarks *landmarks; /* the same */
    ikt_model_writer *keep;         /* the same */
    ikt_checkpoint_hooks *keepers;  /* of the run's checkpoint, or NULL; the same */
    bool is_found;                  /* in the checkpoint: but for the graph all of this is there */
    ikt_graph_writer *graph_keep;   /* receives the weights (output.graph), or NULL; the same */
    ikt_neighbours lists;           /* what was found; empty otherwise, and when P is computed */
    ikt_directed rows;              /* the same of a graph from a file, and of lists with weights */
    double *scores; /* [rows->count * q] principal components of the own rows, of a kept graph */
    float *start;   /* [rows->count * q] places of the own rows (not positions) among the landmarks;
                       NULL without landmarks, and where the kernel needs no codes */
    bool is_dense;
    ikt_graph graph; /* sparse P */
    ikt_dense dense; /* or dense P */
    int64_t k;       /* neighbours of a row before symmetrising */
    int64_t psi;     /* resolved, isolation only */
    int64_t pool;    /* resolved: rows that centres are drawn from, 0 for all */
    int64_t orphans; /* rows without any similarity */
    int64_t entries; /* of P over all ranks */
} ikt_probabilities;

/* COLLECTIVE. An empty P, or what a checkpoint holds of it.
 *   keepers   or NULL; lent until P is computed
 *   out       free with ikt_probabilities_destroy; empty on failure
 * Errors: those of ikt_checkpoint_find and of reading. */
ikt_status ikt_probabilities_begin(ikt_context *ctx, ikt_checkpoint_hooks *keepers,
                                   ikt_probabilities *out);

/* COLLECTIVE. Computes P of the data set under the settings, or what is left to do of it.
 *   rows      ownership of the rows.
 *   labels      [rows->count] of the own rows, or NULL.
 *   landmarks   among which codes place the rows while they are there, or NULL
 *   keep        receives model and codes while they are there (keep.h), or NULL
 *   p           of ikt_probabilities_begin
 * Errors: IKT_ERR_USAGE for settings that do not suit n, IKT_ERR_RESOURCE, those of reading;
 * IKT_STOPPED, with the stage saved. */
ikt_status ikt_probabilities_compute(ikt_context *ctx, const ikt_settings *settings,
                                     ikt_dataset *data, const ikt_rows *rows, const int64_t *labels,
                                     const ikt_landmarks *landmarks, ikt_model_writer *keep,
                                     ikt_probabilities *p);

void ikt_probabilities_destroy(ikt_probabilities *p);

#endif
