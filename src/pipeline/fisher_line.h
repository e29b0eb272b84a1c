/* Distances that follow given labels: the arrow  rows and labels -> model of the classes -> lists
 * of affinity.kind = fisher, and what has to be said of it.
 *
 * Labels enter by the support alone (metric/class_model.h). Rows without a label, and rows that
 * fisher.train does not name, have log-weights, probabilities and distances like all others. What
 * their own labels say of a map is therefore honest, and what those of the support say is not: the
 * two are told apart in everything that is logged and written. */
#ifndef IKT_PIPELINE_FISHER_LINE_H
#define IKT_PIPELINE_FISHER_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arrays.h"
#include "checkpoint/checkpoint.h"
#include "data/dataset.h"
#include "io/results/model_file.h"
#include "neighbours/fisher_search.h"
#include "neighbours/search.h"
#include "pipeline/notes.h"
#include "settings/settings.h"

/* --- which labels may be used: those of the input, of a train list, or permuted (fisher_rows.c) */

/* A label that no train row has. */
#define IKT_CLASS_FOREIGN (-2)

/* The same on every rank. */
typedef struct {
    int64_t n;
    int classes;
    int64_t *value;  /* [classes] labels of the train rows, ascending */
    int64_t *size;   /* [classes] train rows */
    int32_t *known;  /* [n] class of every row that has a label, permuted ones where these are asked
                        for; IKT_CLASS_FOREIGN where no train row has it, -1 without a label */
    int32_t *of_row; /* [n] class of the train rows, -1 of all others */
    int64_t labelled, trained; /* rows with a label; of them, train rows */
    ikt_arrays held;
} ikt_class_rows;

/* COLLECTIVE.
 *   labels    [rows->count] of the own rows, below 0 for rows without one; NULL on all ranks with
 *             rows: there are none
 *   names     a line a class, or NULL; a class whose line is empty is no label
 *   out       free with ikt_class_rows_destroy; empty on failure
 * Errors: IKT_ERR_DATA (no labels, one class, a class of one row, too many classes; a train list
 * that is empty or names a row twice, out of range or without a label), IKT_ERR_FILE,
 * IKT_ERR_RESOURCE. */
ikt_status ikt_class_rows_make(ikt_context *ctx, const ikt_fisher_settings *settings,
                               const ikt_rows *rows, const int64_t *labels, const char *names,
                               uint64_t seed, ikt_class_rows *out);
void ikt_class_rows_destroy(ikt_class_rows *classes);

/* COLLECTIVE. A checksum of the labels that are used, and of the rows that have them; the same on
 * every rank. Arguments and errors as above. */
ikt_status ikt_class_rows_hash(ikt_context *ctx, const ikt_settings *settings, const ikt_rows *rows,
                               const int64_t *labels, const char *names, uint64_t *hash);

/* --- how well map and distances tell labels that they were not told (fisher_figures.c) ---
 *
 * Errors of held-out rows by their nearest train rows, beside those of the model itself, and, named
 * as such, those of the rows whose labels were used. */

/* Errors of labels on a sample of some rows, by their nearest train rows; shares from 0 to 1. */
typedef struct {
    int64_t rows;     /* that there are */
    int64_t sample;   /* of them, drawn; 0: no figures */
    int64_t *row;     /* [sample] ascending, the same on every rank */
    int64_t votes;    /* nearest train rows that vote beside the nearest one: 10, or fewer */
    double posterior; /* of the likeliest class */
    double space_nearest, space_votes; /* in the Fisher metric: of the nearest row, by votes */
    double map_nearest, map_votes;     /* in the map, once that is there */
} ikt_label_figures;

/* --- what a run has learned of the classes, and what is written of it (fisher_outcome.c) --- */

/* What a run has learned of the classes; the same on every rank but for the posterior. */
typedef struct {
    bool is_there;
    ikt_class_rows classes;
    ikt_class_support support;
    ikt_class_sigma sigma;
    float *posterior; /* [rows.count * classes] p(c|x) of the own rows */
    double certain;   /* share of rows where a class has p > 0.999 */
    double spread;    /* the largest range of p of a class over the rows outside the support */
    double euclidean; /* the share of plain distances that counts */
    ikt_fisher_candidates candidates;
    int64_t among;  /* candidates of a row; 0 for all */
    double proved;  /* share of lists that are proved to be those of all rows */
    double longest; /* of the kept distances */
    bool is_permuted;
    bool leaves_out; /* own weights */
    double chance; /* 1 - sum of squared shares of the classes: what permuted labels are to give */
    ikt_label_figures held_out, used; /* rows whose labels were not used; rows of the support */
} ikt_class_outcome;

void ikt_class_outcome_destroy(ikt_class_outcome *outcome);

/* LOCAL, all three; nothing where there is no outcome. Puts what it decided in place of "auto".
 * Adds that labels were used, which, and what they tell of others. Lists the arrays that the result
 * keeps of it, in a group of their own, and returns how many there are.
 *   part   receives arrays of the outcome */
enum { IKT_CLASS_PARTS = 4 };
void ikt_class_outcome_resolve(const ikt_class_outcome *outcome, ikt_settings *settings);
void ikt_class_outcome_note(const ikt_class_outcome *outcome, ikt_notes *notes);
int64_t ikt_class_outcome_parts(const ikt_class_outcome *outcome, const ikt_rows *rows,
                                ikt_part part[IKT_CLASS_PARTS]);

/* What is known of the support of a model of classes; borrowed. */
typedef struct {
    double sigma;
    const double *self; /* [m] k(s, s) */
    const float *x;     /* [m * columns] the rows of the support; NULL where rows are given by their
                           similarities */
} ikt_class_columns;

/* COLLECTIVE. The model by which new rows are placed: writes shape, preprocessing, support, and the
 * log-weights of the own rows; the rows themselves where plain distances count.
 *   of      the rows in the order of the input
 *   layout  of the map that is to come
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE, those of reading. */
ikt_status ikt_class_model_write(ikt_context *ctx, ikt_model_writer *writer, ikt_dataset *data,
                                 const ikt_fisher_rows *of, const ikt_class_columns *support,
                                 const ikt_layout_settings *layout);

/* COLLECTIVE. Draws held-out rows and rows of the support, and finds their figures in the metric
 * and of the probabilities. Held out are rows with a label that fisher.train does not name, or
 * without a list those that are not of the support. Up to 5,000 rows and 1,000 of the support, and
 * fewer of a rule that no bound shortens. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_figures_of_space(ikt_context *ctx, const ikt_fisher_rows *rows, uint64_t seed,
                                ikt_class_outcome *outcome);

/* COLLECTIVE. The figures of the map y[rows->count * q], in the order of the input; logs them all.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_figures_of_map(ikt_context *ctx, const ikt_rows *rows, int64_t q, const float *y,
                              ikt_class_outcome *outcome);

/* COLLECTIVE. How much of the truth sorted lists of the own rows hold, by those of a seeded sample
 * of rows among all rows. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_figures_recall(ikt_context *ctx, const ikt_fisher_rows *rows,
                              const ikt_neighbours *lists, uint64_t seed, ikt_recall *out);

/* --- the search ------------------------------------------------------------------------------- */

/* What the search is told; all of it borrowed. */
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
