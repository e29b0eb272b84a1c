/* Blocks of vectors. See block.h. */
#include "linalg/block.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/exact_sum.h"
#include "base/rng.h"
#include "base/sort.h"
#include "linalg/blocks.h"
#include "linalg/column_stats.h"
#include "linalg/dot_tile.h"
#include "linalg/eigen.h"

/* The rows that this rank sums: whole fixed blocks, of which the last may end with rows of the
 * ranks behind. */
typedef struct {
    const ikt_block *block; /* borrowed */
    int64_t skipped;        /* own rows that the owner of their block's first row sums */
    int64_t count;          /* rows to be summed, from own row `skipped` on */
    double *tail;           /* [...* m] those of them that other ranks own */
} summed_rows;

/* LOCAL. Row i of those to be summed. */
static inline const double *summed_row(const summed_rows *rows, int64_t i) {
    const int64_t own = rows->skipped + i, m = rows->block->m;
    return own < rows->block->rows.count ? rows->block->v + own * m
                                         : rows->tail + (own - rows->block->rows.count) * m;
}

/* --- sums over all rows, in fixed blocks of rows ---------------------------------------------- */

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

/* COLLECTIVE. Fetches the tail. Errors: IKT_ERR_RESOURCE, agreed; free with
 * summed_rows_destroy in any case. */
static ikt_status summed_rows_create(const ikt_block *block, summed_rows *out) {
    const ikt_rows *rows = &block->rows;
    const int64_t end = rows->first + rows->count;
    const int64_t last = summed_end(rows->n, rows->first, rows->count);
    const int64_t tail = last > end ? last - end : 0;
    *out = (summed_rows){.block = block};
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

static void summed_rows_destroy(summed_rows *rows) {
    ikt_free(&rows->tail);
}

/* --- squares ---------------------------------------------------------------------------------- */

/* Plain sums over one fixed block. */
IKT_WIDEST_VECTORS static void add_squares(const summed_rows *a, const summed_rows *b,
                                           const double *theta, int64_t first, int64_t last,
                                           double *restrict sum) {
    const int64_t m = a->block->m;
    for (int64_t k = 0; k < m; k++)
        sum[k] = 0;
    for (int64_t i = first; i < last; i++) {
        const double *restrict x = summed_row(a, i), *y = b ? summed_row(b, i) : NULL;
        for (int64_t k = 0; k < m && !y; k++)
            sum[k] += x[k] * x[k];
        for (int64_t k = 0; k < m && y; k++) {
            const double value = y[k] - theta[k] * x[k];
            sum[k] += value * value;
        }
    }
}

/* COLLECTIVE. Sums over rows of (b - theta a)^2 for each column; of a^2 where b is NULL.
 *   square   [m] receives them
 * Errors: IKT_ERR_RESOURCE; IKT_ERR_INTERNAL where one is not finite; agreed. */
static ikt_status sum_squares(const summed_rows *a, const summed_rows *b, const double *theta,
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
IKT_WIDEST_VECTORS static void pack_rows(const summed_rows *a, const double *scale, int64_t first,
                                         int64_t depth, double *packed) {
    const int64_t m = a->block->m;
    for (int64_t c = 0; c < m; c += PANEL) {
        const int64_t width = ikt_smaller(PANEL, m - c);
        double unit[PANEL] = {0};
        memcpy(unit, scale + c, (size_t)width * sizeof *unit);
        for (int64_t i = 0; i < depth; i++) {
            double *panel = packed + c * depth + i * PANEL, row[PANEL] = {0};
            memcpy(row, summed_row(a, first + i) + c, (size_t)width * sizeof *row);
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
} thread_share;

static void add_products(const summed_rows *a, const summed_rows *b, const double *scale,
                         int64_t first, const thread_share *mine) {
    const ikt_isa isa = ikt_cpu_isa();
    const bool is_same = a->block == b->block;
    const int64_t depth = ikt_smaller(IKT_BLOCK_ROWS, a->count - first);
    const int64_t size[2] = {a->block->m, b->block->m};
    const double *right = is_same ? mine->left : mine->right;
    pack_rows(a, scale, first, depth, mine->left);
    if (!is_same) pack_rows(b, scale + size[0], first, depth, mine->right);
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

/* COLLECTIVE. Sums over rows of a_i b_j for all pairs of columns.
 *   a_square, b_square   what sum_squares gives of each
 *   gram                 [a->m * b->m] receives them */
static ikt_status sum_products(const summed_rows *a, const summed_rows *b, const double *a_square,
                               const double *b_square, double *gram) {
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
        const thread_share mine = {packed + thread * (left + right),
                                   packed + thread * (left + right) + left, sum + thread * entries};
        add_products(a, b, scale, first, &mine);
    }
    for (int64_t t = 1; t < threads; t++)
        for (int64_t e = 0; e < entries; e++)
            sum[e] += sum[t * entries + e];
    finish(ctx, size, a->block == b->block, a_square, b_square, sum, gram);
    return IKT_OK;
}

enum { ROWS = IKT_TILE_ROWS, PASSES_MOST = 20 };

/* Of a column of length 1, the square of what columns before it leave of it: less is not told from
 * rounding, and from nearly all on the columns are orthonormal after this pass. */
static const double pivot_least = 1e-12, pivot_last = 0.9;

static int64_t padded(int64_t rows) {
    return (rows + ROWS - 1) / ROWS * ROWS;
}

ikt_status ikt_block_create(ikt_context *ctx, const ikt_rows *rows, int64_t m, ikt_block *out) {
    *out = (ikt_block){.ctx = ctx, .rows = *rows, .m = m};
    return ikt_alloc(ctx, &out->v, padded(rows->count) * m + PANEL, sizeof *out->v, purpose);
}

void ikt_block_destroy(ikt_block *block) {
    ikt_free(&block->v);
    *block = (ikt_block){.v = NULL};
}

int64_t ikt_block_bytes(int64_t n_local, int64_t m) {
    return (padded(n_local) * m + PANEL) * (int64_t)sizeof(double);
}

int64_t ikt_block_work_bytes(int64_t m, int threads) {
    const int64_t wide = (m + PANEL - 1) / PANEL * PANEL;
    const int64_t sums = threads * (2 * wide * IKT_BLOCK_ROWS + m * m) + 2 * m * IKT_BLOCK_ROWS;
    const int64_t small = 6 * m * wide; /* Gram matrix, factor, inverse, and the small problem */
    return (sums + small) * (int64_t)sizeof(double) + 3 * m * (int64_t)sizeof(ikt_exact_sum);
}

static void random_column(ikt_block *block, int64_t column, uint64_t seed, uint64_t round) {
    const uint64_t draw = round << 32 | (uint64_t)column;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(block->ctx))
    for (int64_t i = 0; i < block->rows.count; i++)
        block->v[i * block->m + column] =
            2 * ikt_rng_uniform(seed, IKT_RNG_SPECTRAL, block->rows.first + i, draw) - 1;
}

void ikt_block_random(ikt_block *block, int64_t first, uint64_t seed, uint64_t round) {
    for (int64_t column = first; column < block->m; column++)
        random_column(block, column, seed, round);
}

/* --- sums over rows --------------------------------------------------------------------------- */

ikt_status ikt_block_gram(const ikt_block *v, const ikt_block *w, double *gram) {
    const bool is_same = v == w;
    summed_rows left IKT_AT_END(summed_rows_destroy) = {.tail = NULL},
                     right IKT_AT_END(summed_rows_destroy) = {.tail = NULL};
    double *square IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc_all(v->ctx, &square, v->m + w->m, sizeof *square, purpose));
    IKT_TRY(summed_rows_create(v, &left));
    IKT_TRY(sum_squares(&left, NULL, NULL, square));
    if (!is_same) IKT_TRY(summed_rows_create(w, &right));
    if (!is_same) IKT_TRY(sum_squares(&right, NULL, NULL, square + v->m));
    return sum_products(&left, is_same ? &left : &right, square, is_same ? square : square + v->m,
                        gram);
}

/* COLLECTIVE. The roots of sum_squares. */
static ikt_status lengths(const ikt_block *v, const ikt_block *b, const double *theta,
                          double *length) {
    summed_rows left IKT_AT_END(summed_rows_destroy) = {.tail = NULL},
                     right IKT_AT_END(summed_rows_destroy) = {.tail = NULL};
    IKT_TRY(summed_rows_create(v, &left));
    if (b) IKT_TRY(summed_rows_create(b, &right));
    IKT_TRY(sum_squares(&left, b ? &right : NULL, theta, length));
    for (int64_t k = 0; k < v->m; k++)
        length[k] = sqrt(length[k]);
    return IKT_OK;
}

ikt_status ikt_block_norms(const ikt_block *v, double *norm) {
    return lengths(v, NULL, NULL, norm);
}

ikt_status ikt_block_residuals(const ikt_block *v, const ikt_block *b, const double *theta,
                               double *residual) {
    return lengths(v, b, theta, residual);
}

/* --- products with small matrices ------------------------------------------------------------- */

/* x [m * m] as panels of 16 columns, [panels][m][PANEL]. */
static void pack(const double *x, int64_t m, double *packed) {
    for (int64_t c = 0; c < m; c++)
        for (int64_t j = 0; j < m; j++)
            packed[c / PANEL * PANEL * m + j * PANEL + c % PANEL] = x[j * m + c];
}

/* 8 rows, from row i on, times the packed matrix, in line [ROWS * m]. */
static void multiply_rows(ikt_isa isa, const ikt_block *v, int64_t i, const double *packed,
                          double *line) {
    const int64_t m = v->m;
    for (int64_t c = 0; c < m; c += PANEL) {
        double tile[ROWS * PANEL];
        ikt_dot_tile(isa, m, v->v + i * m, m, 1, packed + c * m, tile);
        const size_t width = (size_t)ikt_smaller(PANEL, m - c);
        for (int64_t r = 0; r < ROWS; r++)
            memcpy(line + r * m + c, tile + r * PANEL, width * sizeof *line);
    }
}

ikt_status ikt_block_rotate(ikt_block *v, const double *x) {
    ikt_context *ctx = v->ctx;
    const int64_t m = v->m, count = v->rows.count, wide = (m + PANEL - 1) / PANEL * PANEL;
    const ikt_isa isa = ikt_cpu_isa();
    IKT_ARRAYS(held, ctx, purpose);
    double *packed = ikt_claim(&held, wide * m, sizeof *packed);
    double *lines = ikt_claim(&held, ikt_threads(ctx) * ROWS * m, sizeof *lines);
    IKT_TRY(ikt_arrays_agree(&held));
    pack(x, m, packed);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx)) if (count > IKT_BLOCK_ROWS)
    for (int64_t i = 0; i < count; i += ROWS) {
        double *line = lines + omp_get_thread_num() * ROWS * m;
        multiply_rows(isa, v, i, packed, line);
        memcpy(v->v + i * m, line, (size_t)(ikt_smaller(ROWS, count - i) * m) * sizeof *line);
    }
    return IKT_OK;
}

/* --- orthonormal columns ---------------------------------------------------------------------- */

/* Cholesky's factor U of a Gram matrix whose columns have been brought to length 1, in the upper
 * half of `factor`; columns that fail are left out of it. Returns the least pivot of the others.
 *   length   [m] receives the lengths, 0 for columns that fail */
static double factorise(const double *gram, int64_t m, double *factor, double *length) {
    double least = 1;
    for (int64_t j = 0; j < m; j++)
        length[j] = sqrt(gram[j * m + j]);
    for (int64_t j = 0; j < m; j++) {
        double pivot = length[j] > 0;
        for (int64_t i = 0; i < j && length[j] > 0; i++) {
            double value = length[i] > 0 ? gram[i * m + j] / length[i] / length[j] : 0;
            for (int64_t k = 0; k < i; k++)
                value -= factor[k * m + i] * factor[k * m + j];
            value /= factor[i * m + i];
            factor[i * m + j] = length[i] > 0 ? value : 0;
            pivot -= factor[i * m + j] * factor[i * m + j];
        }
        if (!(pivot > pivot_least)) {
            length[j] = 0;
            for (int64_t i = 0; i < j; i++)
                factor[i * m + j] = 0;
        }
        factor[j * m + j] = length[j] > 0 ? sqrt(pivot) : 1;
        if (length[j] > 0 && pivot < least) least = pivot;
    }
    return least;
}

/* x <- diag(1 / length) U^-1; zeros for columns that have failed. */
static void invert(const double *factor, const double *length, int64_t m, double *x) {
    memset(x, 0, (size_t)(m * m) * sizeof *x);
    for (int64_t j = 0; j < m; j++) {
        if (!(length[j] > 0)) continue;
        x[j * m + j] = 1 / factor[j * m + j];
        for (int64_t i = j - 1; i >= 0; i--) {
            double value = 0;
            for (int64_t k = i + 1; k <= j; k++)
                value -= factor[i * m + k] * x[k * m + j];
            x[i * m + j] = value / factor[i * m + i];
        }
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = i; j < m && length[i] > 0; j++)
            x[i * m + j] /= length[i];
}

/* COLLECTIVE. One pass.
 *   work   [3 * m * m + 2 * m]
 *   is_done   receives whether the columns are orthonormal now */
static ikt_status pass(ikt_block *v, const ikt_deflation *known, uint64_t seed, uint64_t round,
                       double *work, int64_t *replaced, bool *is_done) {
    const int64_t m = v->m;
    double *gram = work, *factor = work + m * m, *x = work + 2 * m * m, *length = x + m * m;
    double *before = length + m, kept = 1; /* of a column's square, by the known vectors */
    if (known) IKT_TRY(ikt_block_norms(v, before));
    if (known) IKT_TRY(known->remove(known->self, v));
    IKT_TRY(ikt_block_gram(v, v, gram));
    for (int64_t j = 0; known && j < m; j++) {
        const double share = gram[j * m + j] / (before[j] * before[j]);
        if (!(share > pivot_least))
            gram[j * m + j] = 0; /* what is left is rounding */
        else if (share < kept)
            kept = share;
    }
    const double least = fmin(kept, factorise(gram, m, factor, length));
    invert(factor, length, m, x);
    IKT_TRY(ikt_block_rotate(v, x));
    *is_done = least >= pivot_last;
    for (int64_t j = 0; j < m; j++) {
        if (length[j] > 0) continue;
        random_column(v, j, seed, round);
        *is_done = false;
        ++*replaced;
    }
    return IKT_OK;
}

ikt_status ikt_block_orthonormalise(ikt_block *v, const ikt_deflation *known, uint64_t seed,
                                    int64_t *replaced) {
    double *work IKT_AT_END(ikt_free) = NULL;
    bool is_done = false;
    *replaced = 0;
    IKT_TRY(ikt_alloc_all(v->ctx, &work, 3 * v->m * v->m + 2 * v->m, sizeof *work, purpose));
    for (uint64_t round = 1; !is_done; round++) {
        IKT_TRY(pass(v, known, seed, round, work, replaced, &is_done));
        if (!is_done && round >= PASSES_MOST)
            return ikt_fail(
                v->ctx, IKT_ERR_INTERNAL,
                "%lld orthonormal vectors were not found among %lld rows; are more asked "
                "for than there are?",
                (long long)v->m, (long long)v->rows.n);
    }
    return IKT_OK;
}

/* --- Rayleigh-Ritz ---------------------------------------------------------------------------- */

ikt_status ikt_block_ritz(const ikt_block *v, const ikt_block *b, int64_t first, double *theta,
                          double *x) {
    const int64_t m = v->m, solved = m - first;
    IKT_ARRAYS(held, v->ctx, purpose);
    double *upper = ikt_claim(&held, ikt_upper_entries(solved), sizeof *upper);
    double *vectors = ikt_claim(&held, solved * solved, sizeof *vectors);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_block_gram(v, b, x));
    for (int64_t i = first; i < m; i++)
        for (int64_t j = i; j < m; j++)
            upper[ikt_upper_index(solved, i - first, j - first)] =
                (x[i * m + j] + x[j * m + i]) / 2;
    for (int64_t k = 0; k < first; k++)
        theta[k] = x[k * m + k];
    IKT_TRY(ikt_eigen_leading(v->ctx, upper, solved, solved, IKT_EIGEN_ALONE_MAX, theta + first,
                              vectors));
    for (int64_t c = 0; c < m; c++)
        for (int64_t j = 0; j < m; j++) {
            const bool is_solved = c >= first && j >= first;
            x[j * m + c] = is_solved ? vectors[(c - first) * solved + j - first] : c == j;
        }
    return IKT_OK;
}
