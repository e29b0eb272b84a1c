/* One search by distances that follow labels, on rows of classes that overlap: for tests. */
#ifndef IKT_TEST_FISHER_RUN_H
#define IKT_TEST_FISHER_RUN_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "config/config.h"
#include "pipeline/fisher_line.h"
#include "support/assign.h"
#include "support/expect.h"
#include "support/ikt_test.h"

enum { N = 230, D = 6, C = 4, K = 12 };

static inline double normal(int64_t row, int64_t column) {
    return ikt_rng_normal(5, IKT_RNG_TEST, row, (uint64_t)column);
}

/* How the rows are labelled. */
typedef enum { MIXED, SORTED, EVERY, TWINS, HIDDEN } labelling;

/* Hidden: two classes far apart. Of their labelled rows the first eight have the label of the other
 * class, and each of these stands in one place with rows without a label. */
enum { HIDDEN_ROWS = 8, HIDDEN_LABELLED = 1200, HIDDEN_EACH = K + 1 };

static inline int64_t hidden_from(int64_t row) {
    const int64_t of = (row - HIDDEN_LABELLED) / HIDDEN_EACH;
    return row >= HIDDEN_LABELLED && of < HIDDEN_ROWS ? of : row;
}

static inline int64_t hidden_label(int64_t row) {
    if (row >= HIDDEN_LABELLED) return -1;
    return 10 * (row < HIDDEN_ROWS ? 1 - row % 2 : row % 2);
}

static inline int64_t true_label(int64_t row, int64_t n, labelling how) {
    return how == SORTED ? row * C / n : row % C;
}

/* A seventh of the rows has no label; of sorted ones the last third has none. */
static inline int64_t label_of(int64_t row, int64_t n, labelling how) {
    if (how == HIDDEN) return hidden_label(row);
    const bool is_none = how == MIXED ? row % 7 == 3 : how == SORTED && row % 3 == 2;
    return is_none ? -1 - row % 2 : 10 * true_label(row, n, how);
}

/* Twins: every row twice, with another label. */
static inline float value_of(int64_t row, int64_t column, int64_t n, labelling how) {
    const int64_t from = how == TWINS ? row / 2 : how == HIDDEN ? hidden_from(row) : row;
    if (how == HIDDEN && from < HIDDEN_ROWS) /* away from each other */
        return (float)(column == 0 ? from % 2 * 40 : column == 2 + from / 2 ? 6 : 0);
    if (how == HIDDEN)
        return (float)(normal(from, column) + (column == 0 ? (double)(from % 2 * 40) : 0));
    return (float)(normal(from, column) + (true_label(from, n, how) == column ? 2 : 0));
}

/* --- one search ------------------------------------------------------------------------------- */

typedef struct {
    ikt_rows rows;
    ikt_source *source;
    ikt_dataset *data;
    ikt_neighbours lists;
    ikt_recall recall;
    ikt_class_outcome outcome;
    ikt_settings settings;
    float *x;
    int64_t *labels;
} made;

typedef enum { USUAL, COMPUTES_ALL, ORDERS } manner;

static inline ikt_status run(ikt_context *ctx, made *m, int64_t k, manner how) {
    const ikt_class_search job = {.settings = &m->settings,
                                  .data = m->data,
                                  .rows = &m->rows,
                                  .labels = m->labels,
                                  .k = k,
                                  .computes_all = how == COMPUTES_ALL,
                                  .orders_always = how == ORDERS};
    return ikt_class_search_run(ctx, &job, false, &m->lists, &m->recall, &m->outcome);
}

/* The rows of this rank, their labels, and settings. */
static inline void begin(ikt_context *ctx, int64_t n, labelling how, const char *text, made *m) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    memset(m, 0, sizeof *m);
    m->rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    succeed(ctx, ikt_alloc(ctx, &m->x, m->rows.count * D, sizeof *m->x, "test"));
    succeed(ctx, ikt_alloc(ctx, &m->labels, m->rows.count, sizeof *m->labels, "test"));
    for (int64_t i = 0; i < m->rows.count; i++) {
        m->labels[i] = label_of(m->rows.first + i, n, how);
        for (int64_t c = 0; c < D; c++)
            m->x[i * D + c] = value_of(m->rows.first + i, c, n, how);
    }
    ikt_settings_parts(&m->settings, parts);
    succeed(ctx, ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    set(ctx, &m->settings, "affinity.kind=fisher preprocess.normalise=none fisher.euclidean=0");
    set(ctx, &m->settings, text);
    succeed(ctx, ikt_source_from_rows(ctx, m->x, NULL, m->rows.count, D, IKT_TYPE_F32, &m->source));
    succeed(ctx, ikt_dataset_create(ctx, m->source, &m->settings.preprocess, &m->data));
}

static inline void make(ikt_context *ctx, int64_t n, labelling how, const char *text, made *m) {
    begin(ctx, n, how, text, m);
    succeed(ctx, run(ctx, m, n - 1 < K ? n - 1 : K, USUAL));
}

static inline void unmake(made *m) {
    ikt_class_outcome_destroy(&m->outcome);
    ikt_neighbours_destroy(&m->lists);
    ikt_dataset_destroy(&m->data);
    ikt_source_close(&m->source);
    ikt_free(&m->x);
    ikt_free(&m->labels);
}

static inline uint64_t lists_hash(ikt_context *ctx, const made *m) {
    const size_t k = (size_t)m->lists.k;
    return ikt_row_hash(ctx, m->lists.row, m->rows.first, m->rows.count, 4 * k) ^
           3 * ikt_row_hash(ctx, m->lists.score, m->rows.first, m->rows.count, 4 * k);
}

/* Lists, posterior and figures, in one number. */
static inline uint64_t hash_of(ikt_context *ctx, const made *m) {
    const ikt_class_outcome *o = &m->outcome;
    const size_t c = (size_t)o->classes.classes;
    const double figure[] = {o->sigma.sigma,
                             o->sigma.log_likelihood,
                             o->certain,
                             o->chance,
                             o->longest,
                             o->held_out.posterior,
                             o->held_out.space_nearest,
                             o->held_out.space_votes,
                             o->used.posterior,
                             o->used.space_nearest,
                             o->used.space_votes};
    uint64_t hash = lists_hash(ctx, m);
    hash ^= 5 * ikt_row_hash(ctx, o->posterior, m->rows.first, m->rows.count, 4 * c);
    hash ^= 7 * ikt_hash_bytes(figure, sizeof figure, 1);
    return hash ^ 11 * ikt_hash_bytes(o->support.row, (size_t)o->support.m * 8, 1);
}

#endif
