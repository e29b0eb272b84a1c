/* Sums over all rows in fixed blocks. See block_sums.h and block.h. */
#include "spectral/block_sums.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/exact_sum.h"
#include "base/number.h"
#include "linalg/dot_tile.h"

enum { PANEL = IKT_TILE_COLUMNS, FRACTION = 61 /* binary digits of a product of unit columns */ };

static const char purpose[] = "eigenvectors";

/* A column whose sum of squares is below this counts as zero: squares have lost their digits. */
static const double square_least = 1e-270;

/* --- rows of blocks that lie on several ranks ------------------------------------------------- */

/* The first row at or behind `row` where a fixed block begins. */
static int64_t block_start(int64_t row) {
    return (row + IKT_BLOCK_ROWS - 1) / IKT_BLOCK_ROWS * IKT_BLOCK_ROWS;
}

/* The end of the rows that a rank with these rows sums. */
static int64_t summed_end(int64_t n, int64_t first, int64_t count) {
    if (block_start(first) >= first + count) return first;
    return ikt_smaller(block_start(first + count), n);
}

ikt_status ikt_summed_rows_create(const ikt_block *block, ikt_summed_rows *out) {
    const ikt_rows *rows = &block->rows;
    const int64_t end = rows->first + rows->count;
    const int64_t last = summed_end(rows->n, rows->first, rows->count);
    const int64_t tail = last > end ? last - end : 0;
    *out = (ikt_summed_rows){.block = block};
    out->skipped = ikt_smaller(block_start(rows->first) - rows->first, rows->count);
    out->count = rows->count - out->skipped + tail;
    IKT_ARRAYS(held, block->ctx, purpose);
    int64_t *counts = ikt_claim(&held, 2 * rows->ranks, sizeof *counts);
    out->tail = ikt_claim_kept(&held, tail * block->m, sizeof *out->tail);
    IKT_TRY(ikt_arrays_agree(&held));
    int64_t *send = counts, *receive = counts + rows->ranks;
    if (out->skipped > 0)
        send[ikt_rows_owner(rows, rows->first - rows->first % IKT_BLOCK_ROWS)] = out->skipped;
    for (int r = 0; tail > 0 && r < rows->ranks; r++) {
        const int64_t first = ikt_rows_first(rows, r);
        if (first >= end && first < last)
            receive[r] = ikt_smaller(last - first, ikt_rows_count(rows, r));
    }
    ikt_exchange(block->ctx, block->v, send, out->tail, receive,
                 (size_t)block->m * sizeof *block->v);
    return IKT_OK;
}

void ikt_summed_rows_destroy(ikt_summed_rows *rows) {
    ikt_free(&rows->tail);
}

/* --- squares ---------------------------------------------------------------------------------- */

/* Plain sums over one fixed block. */
IKT_WIDEST_VECTORS static void add_squares(const ikt_summed_rows *a, const ikt_summed_rows *b,
                                           const double *theta, int64_t first, int64_t last,
                                           double *restrict sum) {
    const int64_t m = a->block->m;
    for (int64_t k = 0; k < m; k++)
        sum[k] = 0;
    for (int64_t i = first; i < last; i++) {
        const double *restrict x = ikt_summed_row(a, i), *y = b ? ikt_summed_row(b, i) : NULL;
        for (int64_t k = 0; k < m && !y; k++)
            sum[k] += x[k] * x[k];
        for (int64_t k = 0; k < m && y; k++) {
            const double value = y[k] - theta[k] * x[k];
            sum[k] += value * value;
        }
    }
}

ikt_status ikt_sum_squares(const ikt_summed_rows *a, const ikt_summed_rows *b, const double *theta,
                           double *square) {
    ikt_context *ctx = a->block->ctx;
    const int64_t m = a->block->m, threads = ikt_threads(ctx);
    IKT_ARRAYS(held, ctx, purpose);
    double *plain = ikt_claim(&held, threads * m, sizeof *plain);
    ikt_exact_sum *exact = ikt_claim(&held, m, sizeof *exact);
    IKT_TRY(ikt_arrays_agree(&held));
#pragma omp parallel for schedule(static) num_threads((int)threads) if (a->count > IKT_BLOCK_ROWS)
    for (int64_t first = 0; first < a->count; first += IKT_BLOCK_ROWS) {
        double *sum = plain + omp_get_thread_num() * m;
        add_squares(a, b, theta, first, ikt_smaller(first + IKT_BLOCK_ROWS, a->count), sum);
#pragma omp critical(ikt_sum_squares)
        for (int64_t k = 0; k < m; k++)
            ikt_exact_sum_add(&exact[k], sum[k]);
    }
    ikt_exact_sum_reduce(ctx, exact, m);
    bool is_finite = true;
    for (int64_t k = 0; k < m; k++) {
        square[k] = ikt_exact_sum_value(&exact[k]);
        is_finite = is_finite && isfinite(square[k]);
    }
    if (!is_finite)
        return ikt_fail(ctx, IKT_ERR_INTERNAL,
                        "vectors that approximate eigenvectors hold values that are not finite");
    return IKT_OK;
}

/* --- products --------------------------------------------------------------------------------- */

static int64_t panels_of(int64_t m) {
    return (m + PANEL - 1) / PANEL;
}

/* The power of two that brings a column of this sum of squares to a norm between 1/2 and 1. */
static int exponent_of(double square) {
    int exponent;
    frexp(sqrt(square), &exponent);
    return exponent;
}

/* The fixed block from row `first` on as panels of scaled columns, [panels][depth][PANEL]. */
IKT_WIDEST_VECTORS static void pack(const ikt_summed_rows *a, const double *scale, int64_t first,
                                    int64_t depth, double *packed) {
    const int64_t m = a->block->m;
    for (int64_t c = 0; c < m; c += PANEL) {
        const int64_t width = ikt_smaller(PANEL, m - c);
        double unit[PANEL] = {0};
        memcpy(unit, scale + c, (size_t)width * sizeof *unit);
        for (int64_t i = 0; i < depth; i++) {
            double *panel = packed + c * depth + i * PANEL, row[PANEL] = {0};
            memcpy(row, ikt_summed_row(a, first + i) + c, (size_t)width * sizeof *row);
            for (int64_t k = 0; k < PANEL; k++)
                panel[k] = row[k] * unit[k];
        }
    }
}

/* Products of one panel of each, in units of 2^-FRACTION; where the matrix is symmetric those at
 * and right of the diagonal. */
static void add_tiles(ikt_isa isa, const double *left, const double *right, int64_t depth,
                      const int64_t at[2], const int64_t size[2], int64_t *sum) {
    const double one = 0x1p61;
    for (int64_t half = 0; half < PANEL && at[0] + half < size[0]; half += IKT_TILE_ROWS) {
        double tile[IKT_TILE_ROWS * PANEL];
        ikt_dot_tile(isa, depth, left + half, 1, PANEL, right, tile);
        const int64_t rows = ikt_smaller(IKT_TILE_ROWS, size[0] - at[0] - half);
        const int64_t columns = ikt_smaller(PANEL, size[1] - at[1]);
        for (int64_t i = 0; i < rows; i++) {
            int64_t *to = sum + (at[0] + half + i) * size[1] + at[1];
            for (int64_t j = 0; j < columns; j++)
                to[j] += llrint(tile[i * PANEL + j] * one);
        }
    }
}

/* What one thread needs: panels of both blocks, and its sums. */
typedef struct {
    double *left, *right;
    int64_t *sum;
} share;

static void add_products(const ikt_summed_rows *a, const ikt_summed_rows *b, const double *scale,
                         int64_t first, const share *mine) {
    const ikt_isa isa = ikt_cpu_isa();
    const bool is_same = a->block == b->block;
    const int64_t depth = ikt_smaller(IKT_BLOCK_ROWS, a->count - first);
    const int64_t size[2] = {a->block->m, b->block->m};
    const double *right = is_same ? mine->left : mine->right;
    pack(a, scale, first, depth, mine->left);
    if (!is_same) pack(b, scale + size[0], first, depth, mine->right);
    for (int64_t i = 0; i < size[0]; i += PANEL)
        for (int64_t j = is_same ? i : 0; j < size[1]; j += PANEL)
            add_tiles(isa, mine->left + i * depth, right + j * depth, depth, (int64_t[]){i, j},
                      size, mine->sum);
}

/* COLLECTIVE. The integers as numbers; the lower half of a symmetric matrix is the upper one. */
static void finish(ikt_context *ctx, const int64_t size[2], bool is_same, const double *a_square,
                   const double *b_square, int64_t *sum, double *gram) {
    ikt_sum_i64(ctx, sum, size[0] * size[1]);
    for (int64_t i = 0; i < size[0]; i++)
        for (int64_t j = 0; j < size[1]; j++) {
            const int64_t from = is_same && j < i ? j * size[1] + i : i * size[1] + j;
            gram[i * size[1] + j] = ldexp(
                (double)sum[from], exponent_of(a_square[i]) + exponent_of(b_square[j]) - FRACTION);
        }
}

static void set_scales(const double *square, int64_t m, double *scale) {
    for (int64_t k = 0; k < m; k++)
        scale[k] = square[k] < square_least ? 0 : ldexp(1, -exponent_of(square[k]));
}

ikt_status ikt_sum_products(const ikt_summed_rows *a, const ikt_summed_rows *b,
                            const double *a_square, const double *b_square, double *gram) {
    ikt_context *ctx = a->block->ctx;
    const int64_t size[2] = {a->block->m, b->block->m}, entries = size[0] * size[1];
    const int64_t threads = ikt_threads(ctx);
    const int64_t left = panels_of(size[0]) * IKT_BLOCK_ROWS * PANEL;
    const int64_t right = panels_of(size[1]) * IKT_BLOCK_ROWS * PANEL;
    IKT_ARRAYS(held, ctx, purpose);
    double *scale = ikt_claim(&held, size[0] + size[1], sizeof *scale);
    double *packed = ikt_claim(&held, threads * (left + right), sizeof *packed);
    int64_t *sum = ikt_claim(&held, threads * entries, sizeof *sum);
    IKT_TRY(ikt_arrays_agree(&held));
    set_scales(a_square, size[0], scale);
    set_scales(b_square, size[1], scale + size[0]);
#pragma omp parallel for schedule(static) num_threads((int)threads) if (a->count > IKT_BLOCK_ROWS)
    for (int64_t first = 0; first < a->count; first += IKT_BLOCK_ROWS) {
        const int64_t thread = omp_get_thread_num();
        const share mine = {packed + thread * (left + right),
                            packed + thread * (left + right) + left, sum + thread * entries};
        add_products(a, b, scale, first, &mine);
    }
    for (int64_t t = 1; t < threads; t++)
        for (int64_t e = 0; e < entries; e++)
            sum[e] += sum[t * entries + e];
    finish(ctx, size, a->block == b->block, a_square, b_square, sum, gram);
    return IKT_OK;
}
