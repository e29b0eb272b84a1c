/* Codes, lists, weights and P of a line of steps (line.h), and what a checkpoint holds of them. */
#ifndef IKT_PIPELINE_PROBABILITIES_H
#define IKT_PIPELINE_PROBABILITIES_H

#include "affinity/dense.h"
#include "affinity/whole.h"
#include "checkpoint/hooks.h"
#include "dist/order.h"
#include "graph/graph.h"
#include "io/results/graph_file.h"
#include "io/results/model_file.h"
#include "isolation/codes.h"
#include "neighbours/search.h"
#include "pipeline/discriminative.h"
#include "pipeline/start.h"
#include "settings/settings.h"

/* P in one of its forms, or what else the objective needs, and what was learned on the way. */
typedef struct {
    ikt_rows rows;               /* of the input, and of the slots of `order` */
    ikt_checkpoint_hooks *hooks; /* of the run's checkpoint, or NULL; lent */
    bool is_found;               /* in the checkpoint: but for the graph all of this is there */
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
    bool is_dense;
    bool is_whole;
    ikt_graph graph; /* sparse P; */
    ikt_dense dense; /* or dense P; */
    ikt_whole whole; /* or the whole kernel. Where some rows have no similarity, `graph` holds the
                        affinities that they get; otherwise it is empty then */
    double *scores;  /* [rows.count * q] principal components of the own rows, of a kept graph */
    float *start; /* [rows.count * q] places of the own rows, in the order of the input, among the
                     landmarks; NULL without landmarks, and where the kernel needs no codes */
    ikt_code_check cells;      /* of approximate codes */
    ikt_recall recall;         /* of approximate search */
    ikt_class_outcome classes; /* of affinity.kind = fisher */
    double accuracy; /* 10-NN label accuracy of the lists; negative: there are no labels */
    int64_t k;       /* neighbours of a row before symmetrising */
    int64_t rounds;  /* of refinement after an approximate search; negative: there was none */
    int64_t psi;     /* resolved, isolation only */
    int64_t pool;    /* resolved: rows that centres are drawn from, 0 for all */
    int64_t zero_similarity; /* rows without similarity to any other */
    int64_t entries;         /* of P over all ranks; 0: it is not held */
} ikt_probabilities;

/* COLLECTIVE. An empty P, or what a checkpoint holds of it.
 *   hooks   or NULL; lent until P is destroyed
 *   out     free with ikt_probabilities_destroy; empty on failure
 * Errors: those of ikt_checkpoint_find and of reading. */
ikt_status ikt_probabilities_begin(ikt_context *ctx, ikt_checkpoint_hooks *hooks,
                                   const ikt_rows *rows, ikt_probabilities *out);

/* COLLECTIVE. Writes p->lists, and what was learned on the way, where a checkpoint is due
 * (base/watch.h). Errors: IKT_STOPPED, with all of it saved; IKT_ERR_FILE. */
ikt_status ikt_probabilities_save_where_due(ikt_context *ctx, ikt_probabilities *p);

void ikt_probabilities_destroy(ikt_probabilities *p);

#endif
