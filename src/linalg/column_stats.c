/* One pass of column statistics. See column_stats.h. */
#include "linalg/column_stats.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "linalg/blocks.h"

enum { SLAB = 64 }; /* columns that a thread takes at a time */

/* The first value of this rank that is not finite. */
typedef struct {
    int64_t row, column; /* row INT64_MAX: none */
    double value;
} defect;

typedef struct {
    int64_t d;
    const double *origin; /* [d], row 0 */
    double *sum, *square; /* [d], of the block so far, relative to the origin */
    double *least, *most; /* [d] */
    ikt_exact_sum *total; /* [2*d], sums, then squares */
    int64_t zero_rows;
    defect bad;
} pass;

/* Adds `count` rows of columns c .. end - 1 to the block's sums, row after row. */
static void add_slab(pass *p, const double *rows, int64_t count, int64_t c, int64_t end) {
    for (int64_t row = 0; row < count; row++) {
        const double *x = rows + row * p->d;
        for (int64_t k = c; k < end; k++) {
            double value = x[k] - p->origin[k];
            p->sum[k] += value;
            p->square[k] += value * value;
            p->least[k] = x[k] < p->least[k] ? x[k] : p->least[k];
            p->most[k] = x[k] > p->most[k] ? x[k] : p->most[k];
        }
    }
}

/* Moves the block's sums of columns c .. end - 1 to the totals. */
static void close_slab(pass *p, int64_t c, int64_t end) {
    for (int64_t k = c; k < end; k++) {
        ikt_exact_sum_add(&p->total[k], p->sum[k]);
        ikt_exact_sum_add(&p->total[p->d + k], p->square[k]);
        p->sum[k] = p->square[k] = 0;
    }
}

/* A sum is not finite when a value is not; only then the values are looked at one by one. */
static void find_defect(pass *p, const double *rows, ikt_row_range at) {
    int finite = 1;
    for (int64_t k = 0; k < p->d; k++)
        finite &= isfinite(p->sum[k]) != 0;
    for (int64_t i = 0; !finite && i < at.count * p->d; i++) {
        if (isfinite(rows[i])) continue;
        p->bad = (defect){at.first + i / p->d, i % p->d, rows[i]};
        return;
    }
}

static int64_t count_zero_rows(const double *rows, int64_t count, int64_t d) {
    int64_t zero = 0;
    for (int64_t row = 0; row < count; row++) {
        int64_t k = 0;
        while (k < d && rows[row * d + k] == 0)
            k++;
        zero += k == d;
    }
    return zero;
}

static void add_rows(ikt_context *ctx, pass *p, const double *rows, ikt_row_range at,
                     int64_t range_end) {
    int64_t end = at.first + at.count;
    int block_ends = end % IKT_BLOCK_ROWS == 0 || end == range_end;
    int64_t slabs = (p->d + SLAB - 1) / SLAB;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t slab = 0; slab < slabs; slab++) {
        int64_t c = slab * SLAB, stop = c + SLAB < p->d ? c + SLAB : p->d;
        add_slab(p, rows, at.count, c, stop);
    }
    find_defect(p, rows, at);
    p->zero_rows += count_zero_rows(rows, at.count, p->d);
    if (!block_ends || p->bad.row != INT64_MAX) return;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t slab = 0; slab < slabs; slab++) {
        int64_t c = slab * SLAB, stop = c + SLAB < p->d ? c + SLAB : p->d;
        close_slab(p, c, stop);
    }
}

/* Names the defect of the lowest row over all ranks. */
static ikt_status agree_on_defect(ikt_context *ctx, const ikt_row_reader *reader, defect bad) {
    int64_t lowest = bad.row;
    ikt_min_i64(ctx, &lowest, 1);
    if (lowest == INT64_MAX) return IKT_OK;
    ikt_status status = IKT_OK;
    if (bad.row == lowest)
        status = ikt_fail(ctx, IKT_ERR_DATA,
                          "%s, row %lld, column %lld (counted from 0): value is %s; remove the row "
                          "or impute the value",
                          reader->name, (long long)bad.row, (long long)bad.column,
                          isnan(bad.value) ? "NaN (not a number)" : "infinite");
    return ikt_agree(ctx, status);
}

static ikt_status read_all(ikt_context *ctx, const ikt_row_reader *reader, pass *p, double *rows,
                           int64_t rows_max) {
    ikt_row_range mine = ikt_blocks_of_rank(reader->n, ikt_size(ctx), ikt_rank(ctx));
    int64_t steps = ikt_stream_steps(ctx, mine.count, rows_max);
    for (int64_t step = 0; step < steps; step++) {
        ikt_row_range at = ikt_stream_step(mine, rows_max, step);
        IKT_TRY(reader->read(reader->self, at.first, at.count, rows));
        for (int64_t done = 0; done < at.count && p->bad.row == INT64_MAX;) {
            ikt_row_range part = ikt_block_part(at, done);
            add_rows(ctx, p, rows + done * p->d, part, mine.first + mine.count);
            done += part.count;
        }
    }
    return agree_on_defect(ctx, reader, p->bad);
}

/* Turns totals relative to row 0 into mean and variance. */
static void finish(ikt_context *ctx, pass *p, ikt_column_stats *out) {
    double n = (double)out->n;
    ikt_exact_sum_reduce(ctx, p->total, 2 * p->d);
    ikt_min_f64(ctx, out->least, p->d);
    ikt_max_f64(ctx, out->most, p->d);
    out->zero_rows = ikt_sum_one(ctx, p->zero_rows);
    for (int64_t k = 0; k < p->d; k++) {
        double shift = ikt_exact_sum_value(&p->total[k]) / n;
        double square = ikt_exact_sum_value(&p->total[p->d + k]) / n;
        double variance = square - shift * shift;
        out->mean[k] = p->origin[k] + shift;
        out->variance[k] = out->least[k] == out->most[k] || variance < 0 ? 0 : variance;
        if (isnan(variance)) out->variance[k] = INFINITY;
    }
}

static ikt_status allocate(ikt_context *ctx, int64_t d, pass *p, double **work, double **rows,
                           int64_t rows_max, ikt_column_stats *out) {
    ikt_status status = ikt_alloc(ctx, &out->least, 4 * d, sizeof(double), "column statistics");
    if (status == IKT_OK) status = ikt_alloc(ctx, work, 3 * d, sizeof(double), "column statistics");
    if (status == IKT_OK)
        status = ikt_alloc(ctx, &p->total, 2 * d, sizeof(ikt_exact_sum), "column statistics");
    if (status == IKT_OK) status = ikt_alloc(ctx, rows, rows_max * d, sizeof(double), "row blocks");
    IKT_TRY(ikt_agree(ctx, status));
    out->most = out->least + d;
    out->mean = out->least + 2 * d;
    out->variance = out->least + 3 * d;
    for (int64_t k = 0; k < d; k++) {
        out->least[k] = INFINITY;
        out->most[k] = -INFINITY;
    }
    p->least = out->least;
    p->most = out->most;
    p->sum = *work;
    p->square = *work + d;
    p->origin = *work + 2 * d;
    return IKT_OK;
}

ikt_status ikt_column_stats_compute(ikt_context *ctx, const ikt_row_reader *reader,
                                    ikt_column_stats *out) {
    int64_t d = reader->d, rows_max = ikt_stream_rows(d, (int64_t)sizeof(double));
    pass p = {.d = d, .bad = {INT64_MAX, 0, 0}};
    double *work = NULL, *rows = NULL;
    ikt_status status;
    *out = (ikt_column_stats){.n = reader->n, .d = d};
    if (reader->n < 1 || d < 1)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s: no data (%lld rows, %lld columns)", reader->name,
                        (long long)reader->n, (long long)d);
    IKT_TRY_GOTO(status, done, allocate(ctx, d, &p, &work, &rows, rows_max, out));
    IKT_TRY_GOTO(status, done, reader->read(reader->self, 0, 1, work + 2 * d));
    IKT_TRY_GOTO(status, done, read_all(ctx, reader, &p, rows, rows_max));
    finish(ctx, &p, out);
done:
    ikt_free(&work);
    ikt_free(&p.total);
    ikt_free(&rows);
    return status;
}

void ikt_column_stats_free(ikt_column_stats *stats) {
    ikt_free(&stats->least);
    *stats = (ikt_column_stats){0};
}
