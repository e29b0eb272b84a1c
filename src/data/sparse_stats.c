/* Statistics of the columns of sparse rows. See sparse_stats.h. */
#include "data/sparse_stats.h"

#include <math.h>

#include "base/comm.h"
#include "base/memory.h"
#include "dist/rows.h"
#include "linalg/blocks.h"

enum { UNIT = 61, LOWER = 31 }; /* bits of a scaled value, and of those its lower half */

static const char purpose[] = "column statistics";

/* A pass over the own rows adds some of them. */
typedef struct {
    ikt_column_stats *stats;
    int64_t *held; /* [d] entries of each column */
    int *exponent; /* [d] |values| of the column are below 2^exponent */
    int64_t *sum;  /* [4 * d] sums of values, upper and lower halves, then of squares */
    int64_t zero_rows;
} pass;

typedef void visitor(pass *p, const ikt_sparse_rows *rows);

static ikt_status go_through(ikt_context *ctx, ikt_source *source, visitor *visit, pass *p) {
    const ikt_rows distribution =
        ikt_rows_make(ikt_source_rows(source), ikt_size(ctx), ikt_rank(ctx));
    const ikt_row_range own = {distribution.first, distribution.count};
    const int64_t block = ikt_source_block_rows(source);
    const int64_t steps = ikt_stream_steps(ctx, own.count, block);
    ikt_sparse_rows rows = {0};
    ikt_status st = IKT_OK;
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        st = ikt_source_read_sparse(source, at.first, at.count, &rows);
        if (st == IKT_OK) visit(p, &rows);
    }
    ikt_sparse_rows_destroy(&rows);
    return st;
}

static void find_extremes(pass *p, const ikt_sparse_rows *rows) {
    double *least = p->stats->least, *most = p->stats->most;
    for (int64_t e = 0; e < rows->start[rows->count]; e++) {
        const int32_t k = rows->column[e];
        const double value = rows->value[e];
        least[k] = value < least[k] ? value : least[k];
        most[k] = value > most[k] ? value : most[k];
        p->held[k]++;
    }
    for (int64_t i = 0; i < rows->count; i++)
        p->zero_rows += rows->start[i] == rows->start[i + 1];
}

/* Columns that some row lacks have a zero. */
static void join_extremes(ikt_context *ctx, pass *p) {
    ikt_column_stats *s = p->stats;
    ikt_min_f64(ctx, s->least, s->d);
    ikt_max_f64(ctx, s->most, s->d);
    ikt_sum_i64(ctx, p->held, s->d);
    s->zero_rows = ikt_sum_one(ctx, p->zero_rows);
    for (int64_t k = 0; k < s->d; k++) {
        if (p->held[k] == s->n) continue;
        s->least[k] = s->least[k] < 0 ? s->least[k] : 0;
        s->most[k] = s->most[k] > 0 ? s->most[k] : 0;
    }
}

static void add_scaled(int64_t *upper, int64_t *lower, double value) {
    const int64_t units = (int64_t)rint(ldexp(value, UNIT));
    const int64_t rest = units & ((INT64_C(1) << LOWER) - 1);
    *upper += (units - rest) / (INT64_C(1) << LOWER);
    *lower += rest;
}

static void add_values(pass *p, const ikt_sparse_rows *rows) {
    const int64_t d = p->stats->d;
    for (int64_t e = 0; e < rows->start[rows->count]; e++) {
        const int32_t k = rows->column[e];
        const double value = ldexp(rows->value[e], -p->exponent[k]);
        add_scaled(&p->sum[k], &p->sum[d + k], value);
        add_scaled(&p->sum[2 * d + k], &p->sum[3 * d + k], value * value);
    }
}

static double scaled_sum(const int64_t *upper, const int64_t *lower) {
    return ldexp((double)*upper, LOWER - UNIT) + ldexp((double)*lower, -UNIT);
}

static void finish(ikt_context *ctx, pass *p) {
    ikt_column_stats *s = p->stats;
    const double n = (double)s->n;
    const int64_t d = s->d;
    ikt_sum_i64(ctx, p->sum, 4 * d);
    for (int64_t k = 0; k < d; k++) {
        const double mean = scaled_sum(&p->sum[k], &p->sum[d + k]) / n;
        const double square = scaled_sum(&p->sum[2 * d + k], &p->sum[3 * d + k]) / n;
        const double variance = square - mean * mean;
        s->mean[k] = ldexp(mean, p->exponent[k]);
        s->variance[k] =
            s->least[k] == s->most[k] || variance < 0 ? 0 : ldexp(variance, 2 * p->exponent[k]);
    }
}

/* COLLECTIVE. The second pass. */
static ikt_status find_variance(ikt_context *ctx, ikt_source *source, pass *p) {
    const ikt_column_stats *s = p->stats;
    ikt_status st = ikt_alloc(ctx, &p->exponent, s->d, sizeof *p->exponent, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &p->sum, 4 * s->d, sizeof *p->sum, purpose);
    IKT_TRY(ikt_agree(ctx, st));
    for (int64_t k = 0; k < s->d; k++)
        frexp(fmax(fabs(s->least[k]), fabs(s->most[k])), &p->exponent[k]);
    IKT_TRY(go_through(ctx, source, add_values, p));
    finish(ctx, p);
    return IKT_OK;
}

static ikt_status allocate(ikt_context *ctx, bool with_variance, pass *p) {
    ikt_column_stats *s = p->stats;
    const int64_t arrays = with_variance ? 4 : 2;
    IKT_TRY(ikt_alloc(ctx, &s->least, arrays * s->d, sizeof *s->least, purpose));
    IKT_TRY(ikt_alloc(ctx, &p->held, s->d, sizeof *p->held, purpose));
    s->most = s->least + s->d;
    s->mean = with_variance ? s->least + 2 * s->d : NULL;
    s->variance = with_variance ? s->least + 3 * s->d : NULL;
    for (int64_t k = 0; k < s->d; k++) {
        s->least[k] = INFINITY;
        s->most[k] = -INFINITY;
    }
    return IKT_OK;
}

ikt_status ikt_sparse_stats_compute(ikt_context *ctx, ikt_source *source, bool with_variance,
                                    ikt_column_stats *out) {
    pass p = {.stats = out};
    *out = (ikt_column_stats){.n = ikt_source_rows(source), .d = ikt_source_columns(source)};
    ikt_status st = ikt_agree(ctx, allocate(ctx, with_variance, &p));
    if (st == IKT_OK) st = go_through(ctx, source, find_extremes, &p);
    if (st == IKT_OK) join_extremes(ctx, &p);
    if (st == IKT_OK && with_variance) st = find_variance(ctx, source, &p);
    ikt_free(&p.held);
    ikt_free(&p.exponent);
    ikt_free(&p.sum);
    return st;
}
