/* What any two rows are compared by. See compared.h. */
#include "pipeline/compared.h"

#include <float.h>
#include <math.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "graph/graph.h"
#include "neighbours/scorer.h"
#include "pipeline/graph_input.h"

/* --- rows ------------------------------------------------------------------------------------- */

ikt_status ikt_compared_rows(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                             const ikt_order *order, ikt_features *out) {
    const int64_t d = ikt_dataset_columns(data), bytes = d * (int64_t)sizeof(float);
    const ikt_metric *metric = ikt_dataset_pairs(data) ? NULL : ikt_metric_of(data);
    IKT_TRY(ikt_agree(ctx, ikt_features_create(ctx, rows, d, metric, out)));
    float *x = ikt_features_rows(out);
    ikt_status st = ikt_scorer_read(ctx, data, rows, x);
    if (st == IKT_OK && order) st = ikt_order_apply(ctx, order, x, bytes, x, bytes, bytes);
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_features_turn(ctx, out));
    return st;
}

/* --- all pairs -------------------------------------------------------------------------------- */

/* Where the numbers of all pairs go. */
typedef struct {
    ikt_context *ctx;
    const ikt_rows *rows;
    float *to;                  /* [rows->count * n] */
    double largest;             /* similarity of different rows */
    double least, most;         /* D of the own rows' pairs that have a similarity */
    int64_t alone, first_alone; /* own rows without any: how many, and the first */
} filling;

static ikt_status put_squares(void *self, int64_t first, int64_t count, const double *value) {
    const filling *f = self;
    float *to = f->to + (first - f->rows->first) * f->rows->n;
#pragma omp parallel for num_threads(ikt_threads(f->ctx))
    for (int64_t e = 0; e < count * f->rows->n; e++)
        to[e] = (float)(value[e] * value[e]);
    return IKT_OK;
}

/* INFINITY where there is no similarity; 0 of a row with itself. */
static ikt_status put_d(void *self, int64_t first, int64_t count, const double *value) {
    filling *f = self;
    const int64_t n = f->rows->n;
    float *to = f->to + (first - f->rows->first) * n;
    double least = f->least, most = f->most;
    int64_t alone = 0, first_alone = f->first_alone;
#pragma omp parallel for num_threads(ikt_threads(f->ctx)) reduction(min : least, first_alone)      \
    reduction(max : most) reduction(+ : alone)
    for (int64_t b = 0; b < count; b++) {
        int64_t similar = 0;
        for (int64_t j = 0; j < n; j++) {
            const double w = value[b * n + j];
            float *d = &to[b * n + j];
            *d = INFINITY;
            if (j == first + b) *d = 0;
            if (j == first + b || !(w > 0)) continue;
            *d = ikt_joined_of_similarity(fmaxf((float)(w / f->largest), FLT_MIN));
            least = fmin(least, (double)*d);
            most = fmax(most, (double)*d);
            similar++;
        }
        alone += similar == 0;
        if (similar == 0 && first + b < first_alone) first_alone = first + b;
    }
    f->least = least;
    f->most = most;
    f->alone += alone;
    f->first_alone = first_alone;
    return IKT_OK;
}

/* COLLECTIVE. D of pairs without a similarity, once that of all others is known. */
static ikt_status fill_gaps(ikt_context *ctx, const ikt_pairwise *pairs, filling *f) {
    const int64_t entries = f->rows->count * f->rows->n, alone = ikt_sum_one(ctx, f->alone);
    const float apart = ikt_joined_apart(ctx, f->least, f->most);
    ikt_min_i64(ctx, &f->first_alone, 1);
    if (alone > 0)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s: %lld of %lld rows have no similarity to another row, first row %lld: "
                        "there are no triplets with them; leave them out",
                        ikt_source_name(pairs->source), (long long)alone, (long long)f->rows->n,
                        (long long)f->first_alone);
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < entries; e++)
        if (isinf(f->to[e])) f->to[e] = apart;
    return IKT_OK;
}

ikt_status ikt_compared_matrix(ikt_context *ctx, const ikt_pairwise *pairs, ikt_edges values,
                               const ikt_rows *rows, ikt_features *out) {
    const bool are_distances = values == IKT_EDGES_DISTANCES;
    filling f = {
        .ctx = ctx, .rows = rows, .least = INFINITY, .most = -INFINITY, .first_alone = INT64_MAX};
    IKT_TRY(are_distances ? ikt_pairwise_check(ctx, pairs)
                          : ikt_pairwise_check_similarities(ctx, pairs, &f.largest));
    IKT_TRY(ikt_agree(ctx, ikt_features_create(ctx, rows, rows->n, NULL, out)));
    out->are_d = !are_distances;
    f.to = ikt_features_rows(out);
    ikt_status st = ikt_pairwise_read(ctx, pairs, rows, are_distances ? put_squares : put_d, &f);
    if (st == IKT_OK && !are_distances) st = fill_gaps(ctx, pairs, &f);
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_features_turn(ctx, out));
    return st;
}

/* --- a sparse graph --------------------------------------------------------------------------- */

/* COLLECTIVE. Refuses rows that no other is joined to. */
static ikt_status check_joined(ikt_context *ctx, const ikt_rows *rows, const ikt_directed *pairs,
                               const char *name) {
    int64_t alone = 0, first = INT64_MAX;
    for (int64_t i = 0; i < rows->count; i++) {
        if (pairs->start[i + 1] > pairs->start[i]) continue;
        alone++;
        if (first == INT64_MAX) first = rows->first + i;
    }
    alone = ikt_sum_one(ctx, alone);
    ikt_min_i64(ctx, &first, 1);
    if (alone == 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s: %lld of %lld rows have no edge to or from another row, first row %lld: "
                    "there are no triplets with them; leave them out of the graph",
                    name, (long long)alone, (long long)rows->n, (long long)first);
}

/* COLLECTIVE. Both directions of what was read. */
static ikt_status join(ikt_context *ctx, const ikt_graph_file *file, const ikt_rows *rows,
                       ikt_edges values, ikt_joined *joined) {
    joined->are_distances = values == IKT_EDGES_DISTANCES;
    IKT_TRY(ikt_directed_unite(ctx, rows, !joined->are_distances, &joined->pairs));
    IKT_TRY(check_joined(ctx, rows, &joined->pairs, ikt_graph_file_name(file)));
    const int64_t entries = ikt_sum_one(ctx, joined->pairs.start[rows->count]);
    ikt_log_numbers(ctx, IKT_LOG_STAGE, (ikt_log_number[]){IKT_LOG_INT("pairs", entries / 2), {0}},
                    "graph: %lld pairs of rows are joined, %.1f a row", (long long)(entries / 2),
                    (double)entries / (double)rows->n);
    return IKT_OK;
}

ikt_status ikt_compared_graph(ikt_context *ctx, const ikt_settings *settings,
                              const ikt_rows *distribution, ikt_probabilities *p) {
    ikt_graph_file *file = NULL;
    ikt_graph_facts facts;
    IKT_TRY(ikt_graph_file_open(ctx, settings->input.graph, &file));
    const ikt_edges values = ikt_graph_file_is_kept(file)
                                 ? IKT_EDGES_CONDITIONAL
                                 : (ikt_edges)settings->affinity.graph.values;
    ikt_status st = ikt_graph_check_rows(ctx, file, distribution);
    if (st == IKT_OK)
        st = ikt_pairs_load(ctx, file, distribution, values, &p->joined.pairs, &facts);
    if (st == IKT_OK)
        st = ikt_graph_take_order(ctx, file, settings, distribution, &facts, &p->joined.pairs, p);
    if (st == IKT_OK) st = join(ctx, file, distribution, values, &p->joined);
    ikt_graph_file_close(&file);
    return st;
}
