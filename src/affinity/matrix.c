/* Scores from a matrix of all pairs. See matrix.h. */
#include "affinity/matrix.h"

#include <float.h>
#include <math.h>
#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/row_hash.h"
#include "base/select.h"

/* What a block of the matrix becomes: rows of the lists, or of the dense matrix. */
typedef struct {
    ikt_context *ctx;
    const ikt_pairwise *pairs;
    const ikt_rows *rows;
    ikt_edges values;
    ikt_neighbours *lists; /* or NULL */
    float *score;          /* [threads * stride] a row on its way to the lists */
    ikt_pair *best;        /* [threads * IKT_SELECT_CAPACITY * k] */
    ikt_dense *dense;      /* or NULL */
    int64_t stride;        /* n rounded up to a multiple of 16 */
    uint64_t odd;          /* of the dense matrix: see ikt_hash_entry */
} taking;

/* LOCAL. Scores of row i against all; returns the column of a number that cannot be one, or -1.
 * What is too small for a float beside larger numbers of its row counts as 0, which it is beside
 * them; a row whose largest number is as small has lost all. */
static int64_t score_row(const taking *t, int64_t i, const double *value, float *score) {
    const bool is_distance = t->values == IKT_EDGES_DISTANCES;
    int64_t largest = -1;
    for (int64_t j = 0; j < t->rows->n; j++) {
        score[j] = (float)(is_distance ? value[j] * value[j] : -value[j]);
        if (j != i && (largest < 0 || value[j] > value[largest])) largest = j;
    }
    score[i] = 0;
    if (is_distance && value[i] != 0) return i;
    const float most = fabsf(score[largest]);
    return value[largest] > 0 && !(most >= FLT_MIN && most <= FLT_MAX) ? largest : -1;
}

static ikt_status refuse(const taking *t, int64_t row, int64_t column, double value) {
    const char *name = ikt_source_name(t->pairs->source);
    if (row == column)
        return ikt_fail(t->ctx, IKT_ERR_DATA,
                        "%s, row %lld: the distance to itself is %g and not 0; are these "
                        "similarities (graph.values=similarities)?",
                        name, (long long)row, value);
    return ikt_fail(t->ctx, IKT_ERR_DATA,
                    "%s, row %lld, column %lld: %g is too %s to be computed with; multiply all "
                    "entries by one factor, which changes nothing",
                    name, (long long)row, (long long)column, value, value > 1 ? "large" : "small");
}

/* LOCAL. The nearest rows of row i, by its scores. */
static void take_nearest(const taking *t, int64_t i, const float *score) {
    const int64_t k = t->lists->k, at = (i - t->rows->first) * k;
    ikt_select s;
    ikt_select_begin(&s, ikt_cpu_isa(), k,
                     t->best + omp_get_thread_num() * IKT_SELECT_CAPACITY * k);
    ikt_select_floats(&s, i, 0, t->rows->n, score);
    ikt_select_end(&s);
    ikt_pairs_sort(s.pair, s.count);
    for (int64_t e = 0; e < k; e++) {
        t->lists->row[at + e] = ikt_pair_number(s.pair[e]);
        t->lists->score[at + e] = ikt_pair_value(s.pair[e]);
    }
}

static ikt_status take(void *self, int64_t first, int64_t count, const double *value) {
    taking *t = self;
    const int64_t n = t->rows->n;
    int64_t bad = INT64_MAX;
    uint64_t odd = 0;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(t->ctx))                         \
    reduction(min : bad) reduction(+ : odd)
    for (int64_t b = 0; b < count; b++) {
        const int64_t i = first + b;
        float *score = t->dense ? t->dense->value + (i - t->rows->first) * t->stride
                                : t->score + omp_get_thread_num() * t->stride;
        const int64_t column = score_row(t, i, value + b * n, score);
        if (column >= 0 && b * n + column < bad) bad = b * n + column;
        if (t->lists) take_nearest(t, i, score);
        for (int64_t j = 0; t->dense && j < n; j++)
            odd += ikt_hash_entry(i, j, score[j]);
    }
    t->odd += odd;
    return bad == INT64_MAX ? IKT_OK : refuse(t, first + bad / n, bad % n, value[bad]);
}

ikt_status ikt_matrix_lists(ikt_context *ctx, const ikt_pairwise *pairs, const ikt_rows *rows,
                            ikt_edges values, int64_t k, ikt_neighbours *out) {
    ikt_neighbours made IKT_AT_END(ikt_neighbours_destroy) = {0};
    taking t = {.ctx = ctx,
                .pairs = pairs,
                .rows = rows,
                .values = values,
                .lists = &made,
                .stride = ikt_score_stride(rows->n)};
    const int64_t threads = ikt_threads(ctx);
    *out = (ikt_neighbours){0};
    IKT_ARRAYS(held, ctx, "pairs");
    held.status = ikt_neighbours_create(ctx, rows, k, &made);
    t.score = ikt_claim(&held, threads * t.stride, sizeof *t.score);
    t.best = ikt_claim(&held, threads * IKT_SELECT_CAPACITY * k, sizeof *t.best);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_pairwise_read(ctx, pairs, rows, take, &t));
    return ikt_give(out, made);
}

ikt_status ikt_matrix_dense(ikt_context *ctx, const ikt_pairwise *pairs, const ikt_rows *rows,
                            ikt_edges values, ikt_dense *out) {
    ikt_dense made IKT_AT_END(ikt_dense_destroy) = {.value = NULL};
    taking t = {.ctx = ctx, .pairs = pairs, .rows = rows, .values = values, .dense = &made};
    *out = (ikt_dense){.value = NULL};
    IKT_TRY(ikt_agree(ctx, ikt_dense_create(ctx, rows, &made)));
    t.stride = made.stride;
    IKT_TRY(ikt_pairwise_read(ctx, pairs, rows, take, &t));
    if (ikt_hash_total(ctx, t.odd) != 0)
        return ikt_fail(
            ctx, IKT_ERR_DATA,
            "%s is not symmetric, as affinity.support=dense needs it: make it so, or take "
            "affinity.support=sparse, with affinity.neighbours=%lld to keep all pairs",
            ikt_source_name(pairs->source), (long long)(rows->n - 1));
    return ikt_give(out, made);
}
