/* How well the map tells the input by a linear map, compared with principal components: the global
 * score of TriMap (Amid and Warmuth 2019).
 *
 * E(Y) = least sum over rows of |x_i - A y_i - a|^2 over all A and a. The score is
 * exp(-(E(Y) - E(PCA)) / E(PCA)) with as many principal components as the map has columns: 1 for a
 * map that is as good as they are, towards 0 for one that tells nothing of where rows lie.
 * With centred X and Y, E(Y) = |X|^2 - trace(B' (Y'Y)^-1 B) with B = Y'X (q x d); E(PCA) is the
 * variance that the components leave. Method: principal components in two passes over the input
 * (linalg/pca.h), and B in a third: products are added in order within fixed blocks of rows
 * (linalg/blocks.h), the blocks' sums exactly. Advantage: rows are streamed, the bits do not depend
 * on ranks. Disadvantage: d^2 memory, as for any principal components; where q components leave
 * less than 1e-12 of the variance the score is 1 or 0 by the same bound. */
#include <math.h>

#include "base/arrays.h"
#include "base/exact_sum.h"
#include "base/sort.h"
#include "evaluate/family.h"
#include "linalg/blocks.h"
#include "linalg/column_stats.h"
#include "linalg/eigen.h"
#include "linalg/pca.h"

enum { SLAB = 64 }; /* columns that a thread takes at a time */

typedef struct {
    const ikt_measure_view *view;
    ikt_row_reader reader;
    ikt_pca *pca;
    int64_t d, q;
    double mean[IKT_AXES_MOST];                   /* of the map */
    double square[IKT_AXES_MOST * IKT_AXES_MOST]; /* Y'Y */
    double *rows;                                 /* [rows_max * d] */
    int64_t rows_max;
    double *block;        /* [q * d] Y'X of the rows of a block so far */
    ikt_exact_sum *total; /* [q * d] of all */
    double *product;      /* [q * d] the same, rounded */
} work;

/* Means and Y'Y of the centred map; every rank holds all of it. */
static void find_squares(work *w) {
    const ikt_measure_view *view = w->view;
    for (int64_t a = 0; a < w->q; a++) {
        ikt_exact_sum sum = {{0}, 0, 0};
        for (int64_t i = 0; i < view->n; i++)
            ikt_exact_sum_add(&sum, (double)view->y[w->q * i + a]);
        w->mean[a] = ikt_exact_sum_value(&sum) / (double)view->n;
    }
    for (int64_t a = 0; a < w->q; a++)
        for (int64_t b = 0; b < w->q; b++) {
            ikt_exact_sum sum = {{0}, 0, 0};
            for (int64_t i = 0; i < view->n; i++)
                ikt_exact_sum_add(&sum, ((double)view->y[w->q * i + a] - w->mean[a]) *
                                            ((double)view->y[w->q * i + b] - w->mean[b]));
            w->square[a * w->q + b] = ikt_exact_sum_value(&sum);
        }
}

/* Adds rows within one block to its products, row after row; `block_ends`: they are its last, and
 * the products go to the exact sums. */
static void add_rows(ikt_context *ctx, work *w, const double *rows, ikt_row_range at,
                     bool block_ends) {
    const int64_t d = w->d, slabs = (d + SLAB - 1) / SLAB;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t slab = 0; slab < slabs; slab++) {
        const int64_t first = slab * SLAB, stop = first + SLAB < d ? first + SLAB : d;
        for (int64_t i = 0; i < at.count; i++)
            for (int64_t a = 0; a < w->q; a++) {
                double y = (double)w->view->y[w->q * (at.first + i) + a] - w->mean[a];
                double *to = w->block + a * d;
                for (int64_t k = first; k < stop; k++)
                    to[k] += y * (rows[i * d + k] - w->pca->mean[k]);
            }
        for (int64_t a = 0; a < w->q && block_ends; a++)
            for (int64_t k = first; k < stop; k++) {
                ikt_exact_sum_add(&w->total[a * d + k], w->block[a * d + k]);
                w->block[a * d + k] = 0;
            }
    }
}

/* COLLECTIVE. Y'X in one pass over the rows. */
static ikt_status find_product(ikt_context *ctx, work *w) {
    ikt_row_range mine = ikt_blocks_of_rank(w->view->n, ikt_size(ctx), ikt_rank(ctx));
    int64_t steps = ikt_stream_steps(ctx, mine.count, w->rows_max);
    for (int64_t step = 0; step < steps; step++) {
        ikt_row_range at = ikt_stream_step(mine, w->rows_max, step);
        IKT_TRY(w->reader.read(w->reader.self, at.first, at.count, w->rows));
        for (int64_t done = 0; done < at.count;) {
            ikt_row_range part = ikt_block_part(at, done);
            const int64_t end = part.first + part.count;
            add_rows(ctx, w, w->rows + done * w->d, part,
                     end % IKT_BLOCK_ROWS == 0 || end == mine.first + mine.count);
            done += part.count;
        }
    }
    ikt_exact_sum_reduce(ctx, w->total, w->q * w->d);
    for (int64_t e = 0; e < w->q * w->d; e++)
        w->product[e] = ikt_exact_sum_value(&w->total[e]);
    return IKT_OK;
}

/* trace(B' (Y'Y)^-1 B) by elimination: the map's columns are made orthogonal one after the other,
 * and what each new direction explains is added. A column that depends on those before it, or has
 * no extent, explains nothing. */
static double explained(work *w) {
    const int64_t q = w->q, d = w->d;
    double sum = 0;
    for (int64_t a = 0; a < q; a++) {
        double pivot = w->square[a * q + a], own = 0;
        for (int64_t k = 0; k < d; k++)
            own += w->product[a * d + k] * w->product[a * d + k];
        if (!(pivot > 0)) continue;
        sum += own / pivot;
        for (int64_t b = a + 1; b < q; b++) {
            double weight = w->square[b * q + a] / pivot, before = w->square[b * q + b];
            for (int64_t k = 0; k < d; k++)
                w->product[b * d + k] -= weight * w->product[a * d + k];
            for (int64_t c = a + 1; c < q; c++)
                w->square[b * q + c] -= weight * w->square[a * q + c];
            if (w->square[b * q + b] < 1e-13 * before) w->square[b * q + b] = 0;
        }
    }
    return sum;
}

static double score(work *w) {
    const double others = (double)(w->view->n - 1), total = w->pca->total_variance * others;
    double by_map = total - explained(w), by_pca = total;
    for (int64_t m = 0; m < w->pca->k; m++)
        by_pca -= w->pca->variance[m] * others;
    if (by_pca <= 1e-12 * total) return by_map <= 1e-12 * total ? 1 : 0;
    double value = exp(-(by_map - by_pca) / by_pca);
    return value < 1 ? value : 1; /* not above but by rounding */
}

static ikt_status compute(ikt_context *ctx, const ikt_measure_view *view, ikt_measures *out) {
    const int64_t d = ikt_dataset_columns(view->what->data), entries = view->q * d;
    ikt_pca *pca IKT_AT_END(ikt_pca_destroy) = NULL;
    work w = {.view = view,
              .reader = ikt_dataset_reader(view->what->data),
              .d = d,
              .q = view->q,
              .rows_max = ikt_stream_rows(d, (int64_t)sizeof(double))};
    if (view->n < 2) return IKT_OK;
    if (d > IKT_EIGEN_ALONE_MAX)
        return ikt_measure_refuse(ctx, view->settings,
                                  "the global score needs principal components, which take many "
                                  "passes beyond %d columns; there are %lld: reduce them "
                                  "(preprocess.pca)",
                                  (int)IKT_EIGEN_ALONE_MAX, (long long)d);
    IKT_TRY(ikt_pca_fit(ctx, &w.reader, view->q, &pca));
    w.pca = pca;
    IKT_ARRAYS(held, ctx, "measures");
    w.rows = ikt_claim(&held, w.rows_max * d, sizeof *w.rows);
    w.block = ikt_claim(&held, entries, sizeof *w.block);
    w.total = ikt_claim(&held, entries, sizeof *w.total);
    w.product = ikt_claim(&held, entries, sizeof *w.product);
    IKT_TRY(ikt_arrays_agree(&held));
    find_squares(&w);
    IKT_TRY(find_product(ctx, &w));
    return ikt_measures_add(ctx, out, "global score", score(&w), 0,
                            "how well the map tells the input linearly, compared with principal "
                            "components; 1 is as well");
}

/* Components: a block of rows and statistics, or a block, its packed columns, the covariance and
 * the solver. The product comes after that. */
static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    (void)settings;
    const int64_t d = extent->d, entries = extent->q * d, real = (int64_t)sizeof(double);
    if (d > IKT_EIGEN_ALONE_MAX) return 0;
    int64_t rows = ikt_stream_rows(d, real) * d * real, sums = (int64_t)sizeof(ikt_exact_sum);
    int64_t components = rows + 2 * d * sums + (IKT_BLOCK_ROWS + 64) * (d + 64) * real +
                         ikt_upper_entries(d) * real +
                         ikt_eigen_bytes(d, extent->ranks, IKT_EIGEN_ALONE_MAX);
    int64_t product = rows + entries * (2 * real + sums);
    return ikt_larger(components, product);
}

const ikt_measure_family ikt_family_global = {
    .name = "global",
    .help = "TriMap's global score: reconstruction of the input, relative to principal components",
    .needs = IKT_MEASURE_NEEDS_INPUT | IKT_MEASURE_NEEDS_COLUMNS,
    .compute = compute,
    .memory = memory};
