/* Distances that follow given labels: the arrow  rows and labels -> model of the classes -> lists
 * of affinity.kind = fisher, and what has to be said of it.
 *
 * Labels enter by the support alone (metric/class_model.h). Rows without a label, and rows that
 * fisher.train does not name, have log-weights, probabilities and distances like all others. What
 * their own labels say of a map is therefore honest, and what those of the support say is not: the
 * two are told apart in everything that is logged and written. */
#ifndef IKT_PIPELINE_DISCRIMINATIVE_H
#define IKT_PIPELINE_DISCRIMINATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "checkpoint/hooks.h"
#include "data/dataset.h"
#include "io/results/model_file.h"
#include "neighbours/search.h"
#include "pipeline/label_figures.h"
#include "settings/settings.h"

/* What the search is told; all of it lent. */
typedef struct {
    const ikt_settings *settings;
    ikt_dataset *data;
    const ikt_rows *rows;
    const int64_t *labels; /* [rows->count], or NULL */
    const char *names;     /* a line a class, or NULL */
    ikt_checkpoint_hooks *hooks;
    ikt_model_writer *model_writer; /* receives what places new rows; NULL: none is wanted */
    int64_t k;
    /* For tests, the same lists: */
    bool computes_all;  /* nothing is dropped by a bound */
    bool orders_always; /* rows are held in an order of their own however few there are */
} ikt_class_search;

/* COLLECTIVE. Model, lists with squared distances, and figures.
 *   is_found   the lists are there, with weights: only the rest is made
 *   recall     receives how much of the truth approximate lists hold
 * Errors: those of ikt_class_rows_make, ikt_class_sigma_find and ikt_fisher_search; IKT_ERR_DATA;
 * those of reading; IKT_STOPPED. */
ikt_status ikt_class_search_run(ikt_context *ctx, const ikt_class_search *job, bool is_found,
                                ikt_neighbours *lists, ikt_recall *recall, ikt_class_outcome *out);

#endif
