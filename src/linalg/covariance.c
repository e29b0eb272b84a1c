/* Covariance by register tiles and fixed-point sums. See covariance.h. */
#include "linalg/covariance.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "linalg/blocks.h"
#include "linalg/dot_tile.h"

enum { PANEL = IKT_TILE_COLUMNS }; /* columns packed together */

typedef struct {
    int64_t n, d, panels;
    const double *mean; /* [d], lent */
    double *scale;      /* [d], powers of two that bring |x - mean| below 1 */
    double *packed;     /* [panels][IKT_BLOCK_ROWS][PANEL], the block's centred, scaled columns */
    double *rows;       /* [rows_max*d], as read */
    int64_t rows_max;
    int64_t *sum; /* [upper triangle], in units of 1 / one */
    double one;   /* the fixed-point number for 1; |sum| <= n * one <= 2^62 */
    ikt_isa isa;
} accumulation;

int64_t ikt_upper_entries(int64_t d) {
    return d * (d + 1) / 2;
}

int64_t ikt_upper_index(int64_t d, int64_t i, int64_t j) {
    return i * d - i * (i - 1) / 2 + (j - i);
}

/* Power of two p with radius * p in [1/2, 1); 1 for a constant column. The bound on the exponent
 * keeps p finite for columns of subnormal range. */
static double scale_of(double radius) {
    int exponent = 0;
    if (radius > 0) frexp(radius, &exponent);
    return ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
}

/* Copies `count` rows into the panels from row `place` of the block on. */
static void pack_rows(ikt_context *ctx, accumulation *acc, const double *rows, int64_t place,
                      int64_t count) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t p = 0; p < acc->panels; p++) {
        double *panel = acc->packed + (p * IKT_BLOCK_ROWS + place) * PANEL;
        int64_t c = p * PANEL, width = acc->d - c < PANEL ? acc->d - c : PANEL;
        for (int64_t row = 0; row < count; row++)
            for (int64_t k = 0; k < width; k++)
                panel[row * PANEL + k] =
                    (rows[row * acc->d + c + k] - acc->mean[c + k]) * acc->scale[c + k];
    }
}

/* Adds a finished tile whose first entry is (i0, j0) to the sums. */
static void add_tile(accumulation *acc, const double *tile, int64_t i0, int64_t j0) {
    int64_t i_end = i0 + IKT_TILE_ROWS < acc->d ? i0 + IKT_TILE_ROWS : acc->d;
    int64_t j_end = j0 + PANEL < acc->d ? j0 + PANEL : acc->d;
    for (int64_t i = i0; i < i_end; i++) {
        int64_t j = j0 > i ? j0 : i;
        int64_t *sum = acc->sum + ikt_upper_index(acc->d, i, j);
        const double *entry = tile + (i - i0) * PANEL - j0;
        for (; j < j_end; j++)
            *sum++ += llrint(entry[j] * acc->one);
    }
}

/* Products of panels p and q >= p over the first `depth` rows of the block. */
static void add_panels(accumulation *acc, int64_t depth, int64_t p, int64_t q) {
    const double *left = acc->packed + p * IKT_BLOCK_ROWS * PANEL;
    const double *right = acc->packed + q * IKT_BLOCK_ROWS * PANEL;
    for (int64_t half = 0; half < PANEL; half += IKT_TILE_ROWS) {
        double tile[IKT_TILE_ROWS * PANEL];
        ikt_dot_tile(acc->isa, depth, left + half, 1, PANEL, right, tile);
        add_tile(acc, tile, p * PANEL + half, q * PANEL);
    }
}

/* Each entry belongs to one pair of panels, hence to one thread. */
static void add_block(ikt_context *ctx, accumulation *acc, int64_t depth) {
#pragma omp parallel for num_threads(ikt_threads(ctx)) schedule(dynamic, 8)
    for (int64_t pair = 0; pair < acc->panels * acc->panels; pair++) {
        int64_t p = pair / acc->panels, q = pair % acc->panels;
        if (q >= p) add_panels(acc, depth, p, q);
    }
}

static ikt_status read_all(ikt_context *ctx, const ikt_row_reader *reader, accumulation *acc) {
    ikt_row_range mine = ikt_blocks_of_rank(reader->n, ikt_size(ctx), ikt_rank(ctx));
    int64_t steps = ikt_stream_steps(ctx, mine.count, acc->rows_max);
    for (int64_t step = 0; step < steps; step++) {
        ikt_row_range at = ikt_stream_step(mine, acc->rows_max, step);
        IKT_TRY(reader->read(reader->self, at.first, at.count, acc->rows));
        for (int64_t done = 0; done < at.count;) {
            ikt_row_range part = ikt_block_part(at, done);
            int64_t place = part.first % IKT_BLOCK_ROWS, end = part.first + part.count;
            pack_rows(ctx, acc, acc->rows + done * acc->d, place, part.count);
            if (end % IKT_BLOCK_ROWS == 0 || end == acc->n) add_block(ctx, acc, place + part.count);
            done += part.count;
        }
    }
    return IKT_OK;
}

static ikt_status allocate(ikt_context *ctx, accumulation *acc) {
    const char *purpose = "covariance";
    ikt_status status = ikt_alloc(ctx, &acc->scale, acc->d, sizeof(double), purpose);
    if (status == IKT_OK)
        status = ikt_alloc(ctx, &acc->packed, acc->panels * IKT_BLOCK_ROWS * PANEL, sizeof(double),
                           purpose);
    if (status == IKT_OK)
        status = ikt_alloc(ctx, &acc->rows, acc->rows_max * acc->d, sizeof(double), "row blocks");
    if (status == IKT_OK)
        status = ikt_alloc(ctx, &acc->sum, ikt_upper_entries(acc->d), sizeof(int64_t), purpose);
    return ikt_agree(ctx, status);
}

/* Replaces the fixed-point sums by covariances in the same memory. */
static double *finish(ikt_context *ctx, accumulation *acc) {
    ikt_sum_i64(ctx, acc->sum, ikt_upper_entries(acc->d));
    double factor = 1 / acc->one / (acc->n > 1 ? (double)(acc->n - 1) : 1.0);
    int64_t *entry = acc->sum;
    for (int64_t i = 0; i < acc->d; i++) {
        for (int64_t j = i; j < acc->d; j++, entry++) {
            double value = (double)*entry * factor / acc->scale[i] / acc->scale[j];
            memcpy(entry, &value, sizeof value);
        }
    }
    double *upper = (double *)(void *)acc->sum;
    acc->sum = NULL;
    return upper;
}

ikt_status ikt_covariance_compute(ikt_context *ctx, const ikt_row_reader *reader,
                                  const ikt_column_stats *stats, double **upper) {
    int64_t d = reader->d;
    accumulation acc = {.n = reader->n,
                        .d = d,
                        .panels = (d + PANEL - 1) / PANEL,
                        .mean = stats->mean,
                        .rows_max = ikt_stream_rows(d, (int64_t)sizeof(double)),
                        .one = ldexp(1.0, 62),
                        .isa = ikt_cpu_isa()};
    *upper = NULL;
    for (int64_t n = 1; n < acc.n; n *= 2)
        acc.one /= 2;
    ikt_status status = allocate(ctx, &acc);
    if (status == IKT_OK) {
        for (int64_t k = 0; k < d; k++)
            acc.scale[k] =
                scale_of(fmax(stats->most[k] - stats->mean[k], stats->mean[k] - stats->least[k]));
        status = read_all(ctx, reader, &acc);
    }
    if (status == IKT_OK) *upper = finish(ctx, &acc);
    ikt_free(&acc.scale);
    ikt_free(&acc.packed);
    ikt_free(&acc.rows);
    ikt_free(&acc.sum);
    return status;
}
