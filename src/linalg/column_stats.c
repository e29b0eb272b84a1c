/* Column statistics and covariance, a pass over the rows each. See column_stats.h. */
#include "linalg/column_stats.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/exact_sum.h"
#include "linalg/dot_tile.h"

enum {
    SLAB = 64,               /* columns that a thread takes at a time */
    PANEL = IKT_TILE_COLUMNS /* columns packed together for the covariance */
};

/* --- least, largest, mean, variance ----------------------------------------------------------- */

typedef struct {
    int64_t d;
    double *origin;       /* [d], row 0 */
    double *sum, *square; /* [d], of the block so far, relative to the origin */
    double *least, *most; /* [d], borrowed */
    ikt_exact_sum *total; /* [2*d], sums, then squares */
    int64_t zero_rows;
    int64_t bad_row, bad_column; /* first value that is not finite; bad_row INT64_MAX: none */
    double bad_value;
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

static void add_rows(ikt_context *ctx, void *self, const double *rows, ikt_row_range at,
                     bool is_end) {
    pass *p = self;
    const int64_t d = p->d;
    int is_finite = 1;
    if (p->bad_row != INT64_MAX) return;
#pragma omp parallel for num_threads(ikt_threads(ctx)) reduction(&& : is_finite)
    for (int64_t c = 0; c < d; c += SLAB) {
        const int64_t end = c + SLAB < d ? c + SLAB : d;
        add_slab(p, rows, at.count, c, end);
        for (int64_t k = c; k < end; k++) {
            is_finite = is_finite && isfinite(p->sum[k]);
            if (!is_end) continue;
            ikt_exact_sum_add(&p->total[k], p->sum[k]);
            ikt_exact_sum_add(&p->total[d + k], p->square[k]);
            p->sum[k] = p->square[k] = 0;
        }
    }
    for (int64_t row = 0; row < at.count; row++) {
        int64_t k = 0;
        while (k < d && rows[row * d + k] == 0)
            k++;
        p->zero_rows += k == d;
    }
    /* A sum is not finite when a value is not; only then the values are looked at one by one. */
    for (int64_t e = 0; !is_finite && e < at.count * d && p->bad_row == INT64_MAX; e++)
        if (!isfinite(rows[e])) {
            p->bad_row = at.first + e / d;
            p->bad_column = e % d;
            p->bad_value = rows[e];
        }
}

/* COLLECTIVE. Turns totals relative to row 0 into mean and variance. */
static void finish(ikt_context *ctx, const pass *p, ikt_column_stats *out) {
    const double n = (double)out->n;
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

ikt_status ikt_column_stats_compute(ikt_context *ctx, const ikt_row_reader *reader,
                                    ikt_column_stats *out) {
    const int64_t d = reader->d;
    pass p = {.d = d, .bad_row = INT64_MAX};
    *out = (ikt_column_stats){.n = reader->n, .d = d};
    if (reader->n < 1 || d < 1)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s: no data (%lld rows, %lld columns)", reader->name,
                        (long long)reader->n, (long long)d);
    IKT_ARRAYS(held, ctx, "column statistics");
    out->least = ikt_claim_kept(&held, 4 * d, sizeof(double));
    p.origin = ikt_claim(&held, 3 * d, sizeof(double));
    p.total = ikt_claim(&held, 2 * d, sizeof *p.total);
    IKT_TRY(ikt_arrays_agree(&held));
    p.sum = p.origin + d;
    p.square = p.origin + 2 * d;
    p.least = out->least;
    p.most = out->most = out->least + d;
    out->mean = out->least + 2 * d;
    out->variance = out->least + 3 * d;
    for (int64_t k = 0; k < d; k++) {
        p.least[k] = INFINITY;
        p.most[k] = -INFINITY;
    }
    IKT_TRY(reader->read(reader->self, 0, 1, p.origin));
    IKT_TRY(ikt_blocks_read(ctx, reader, &p, add_rows));
    ikt_status st = IKT_OK;
    /* the value of the lowest row over all ranks that is not finite */
    int64_t lowest = p.bad_row;
    ikt_min_i64(ctx, &lowest, 1);
    if (lowest != INT64_MAX && p.bad_row == lowest)
        st = ikt_fail(ctx, IKT_ERR_DATA,
                      "%s, row %lld, column %lld (counted from 0): value is %s; remove the row, "
                      "impute the value, or let preprocess.missing do one of the two",
                      reader->name, (long long)lowest, (long long)p.bad_column,
                      isnan(p.bad_value) ? "NaN (not a number)" : "infinite");
    IKT_TRY(ikt_agree(ctx, st));
    finish(ctx, &p, out);
    return IKT_OK;
}

void ikt_column_stats_free(ikt_column_stats *stats) {
    ikt_free(&stats->least);
    *stats = (ikt_column_stats){0};
}

/* --- covariance ------------------------------------------------------------------------------- */

typedef struct {
    int64_t d, panels;
    const double *mean; /* [d], borrowed */
    double *scale;      /* [d], powers of two that bring |x - mean| below 1 */
    double *packed;     /* [panels][IKT_BLOCK_ROWS][PANEL], the block's centred, scaled columns */
    int64_t *sum;       /* [upper triangle], in units of 1 / one */
    double one;         /* the fixed-point number for 1; |sum| <= n * one <= 2^62 */
    ikt_isa isa;
} accumulation;

int64_t ikt_upper_entries(int64_t d) {
    return d * (d + 1) / 2;
}

int64_t ikt_upper_index(int64_t d, int64_t i, int64_t j) {
    return i * d - i * (i - 1) / 2 + (j - i);
}

/* Products of panels p and q >= p over the first `depth` rows of the block, added to the sums. */
static void add_panels(accumulation *acc, int64_t depth, int64_t p, int64_t q) {
    const double *left = acc->packed + p * IKT_BLOCK_ROWS * PANEL;
    const double *right = acc->packed + q * IKT_BLOCK_ROWS * PANEL;
    const int64_t j0 = q * PANEL, j_end = j0 + PANEL < acc->d ? j0 + PANEL : acc->d;
    for (int64_t half = 0; half < PANEL; half += IKT_TILE_ROWS) {
        double tile[IKT_TILE_ROWS * PANEL];
        ikt_dot_tile(acc->isa, depth, left + half, 1, PANEL, right, tile);
        const int64_t i0 = p * PANEL + half;
        for (int64_t i = i0; i < i0 + IKT_TILE_ROWS && i < acc->d; i++) {
            int64_t j = j0 > i ? j0 : i;
            int64_t *sum = acc->sum + ikt_upper_index(acc->d, i, j);
            const double *entry = tile + (i - i0) * PANEL - j0;
            for (; j < j_end; j++)
                *sum++ += llrint(entry[j] * acc->one);
        }
    }
}

/* Copies rows into the panels; multiplies these, a thread for each pair, where the block ends. */
static void add_products(ikt_context *ctx, void *self, const double *rows, ikt_row_range at,
                         bool is_end) {
    accumulation *acc = self;
    const int64_t d = acc->d, place = at.first % IKT_BLOCK_ROWS;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t p = 0; p < acc->panels; p++) {
        double *panel = acc->packed + (p * IKT_BLOCK_ROWS + place) * PANEL;
        int64_t c = p * PANEL, width = d - c < PANEL ? d - c : PANEL;
        for (int64_t row = 0; row < at.count; row++)
            for (int64_t k = 0; k < width; k++)
                panel[row * PANEL + k] =
                    (rows[row * d + c + k] - acc->mean[c + k]) * acc->scale[c + k];
    }
    if (!is_end) return;
#pragma omp parallel for num_threads(ikt_threads(ctx)) schedule(dynamic, 8)
    for (int64_t pair = 0; pair < acc->panels * acc->panels; pair++) {
        int64_t p = pair / acc->panels, q = pair % acc->panels;
        if (q >= p) add_panels(acc, place + at.count, p, q);
    }
}

ikt_status ikt_covariance_compute(ikt_context *ctx, const ikt_row_reader *reader,
                                  const ikt_column_stats *stats, double **upper) {
    const int64_t d = reader->d, n = reader->n, entries = ikt_upper_entries(d);
    accumulation acc = {.d = d,
                        .panels = (d + PANEL - 1) / PANEL,
                        .mean = stats->mean,
                        .one = ldexp(1.0, 62),
                        .isa = ikt_cpu_isa()};
    const int64_t packed = acc.panels * IKT_BLOCK_ROWS * PANEL;
    *upper = NULL;
    for (int64_t power = 1; power < n; power *= 2)
        acc.one /= 2;
    int64_t *sum IKT_AT_END(ikt_free) = NULL;
    IKT_ARRAYS(held, ctx, "covariance");
    acc.scale = ikt_claim(&held, d, sizeof *acc.scale);
    acc.packed = ikt_claim(&held, packed, sizeof *acc.packed);
    acc.sum = sum = ikt_claim_kept(&held, entries, sizeof *sum);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t k = 0; k < d; k++) {
        /* A power of two that brings the radius into [1/2, 1); 1 for a constant column. The bound
         * on the exponent keeps it finite for columns of subnormal range. */
        const double radius =
            fmax(stats->most[k] - stats->mean[k], stats->mean[k] - stats->least[k]);
        int exponent = 0;
        if (radius > 0) frexp(radius, &exponent);
        acc.scale[k] = ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
    }
    IKT_TRY(ikt_blocks_read(ctx, reader, &acc, add_products));
    /* The sums become covariances in the same memory. */
    ikt_sum_i64(ctx, sum, entries);
    const double factor = 1 / acc.one / (n > 1 ? (double)(n - 1) : 1.0);
    int64_t *entry = sum;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = i; j < d; j++, entry++) {
            const double value = (double)*entry * factor / acc.scale[i] / acc.scale[j];
            memcpy(entry, &value, sizeof value);
        }
    *upper = (double *)(void *)sum;
    sum = NULL;
    return IKT_OK;
}
