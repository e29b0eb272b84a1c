/* How far the farthest rows lie from the centre, compared with the others: the outlier ratio of
 * TriMap (Amid and Warmuth 2019, section 5), of the map and of the data.
 *
 * The ratio is the mean distance from the mean of all rows of the twentieth of the rows that are
 * farthest from it, divided by the mean distance of the others. A map that shows the outliers of
 * its data has a ratio like theirs; one that pulls them into clusters has less.
 * Method: the distances of the own rows in double precision; the distance from which on rows are
 * far is found by bisection over the bits of doubles, whose order is that of the numbers, so that
 * ranks tell each other counts only; then two exact sums. Rows of equal distance add the same
 * whichever of them counts as far, so that ties need no order. Advantage: no rank holds more than
 * its own rows, and the bits do not depend on ranks. Disadvantage: some 63 small reductions. */
#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/sort.h"
#include "evaluate/family.h"
#include "linalg/blocks.h"
#include "linalg/column_stats.h"

/* One row in so many is far. Rows of more columns would take much memory and time for one number.
 */
enum { ONE_IN = 20, COLUMNS_MOST = 65536 };

static int64_t bits_of(double distance) {
    int64_t bits;
    memcpy(&bits, &distance, sizeof bits);
    return bits;
}

/* COLLECTIVE. The own rows that lie at least so far away as the bits say, of all ranks. */
static int64_t count_from(ikt_context *ctx, const double *away, int64_t own, int64_t bits) {
    int64_t count = 0;
    for (int64_t i = 0; i < own; i++)
        count += bits_of(away[i]) >= bits;
    return ikt_sum_one(ctx, count);
}

/* COLLECTIVE. The ratio of n >= 2 rows; NaN where all are in one place, infinite where nearly all
 * are.
 *   away   [own] distances of the own rows from the centre */
static double ratio_of(ikt_context *ctx, const double *away, int64_t own, int64_t n) {
    const int64_t rounded = (n + ONE_IN / 2) / ONE_IN, far = ikt_larger(rounded, 1);
    /* At least `far` rows lie as far as `low`, and fewer as far as `high`. */
    int64_t low = 0, high = bits_of(INFINITY), more = 0;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (count_from(ctx, away, own, middle) >= far)
            low = middle;
        else
            high = middle;
    }
    double limit;
    memcpy(&limit, &low, sizeof limit);
    ikt_exact_sum sum[2] = {{{0}, 0, 0}, {{0}, 0, 0}}; /* of the far rows, of the others */
    for (int64_t i = 0; i < own; i++) {
        more += away[i] > limit;
        ikt_exact_sum_add(&sum[away[i] <= limit], away[i]);
    }
    /* Of those at the limit as many are far as are missing. */
    const int64_t missing = far - ikt_sum_one(ctx, more);
    for (int64_t i = 0; i < missing && ikt_rank(ctx) == 0; i++) {
        ikt_exact_sum_add(&sum[0], limit);
        ikt_exact_sum_add(&sum[1], -limit);
    }
    ikt_exact_sum_reduce(ctx, sum, 2);
    const double of_far = ikt_exact_sum_value(&sum[0]) / (double)far;
    return of_far / (ikt_exact_sum_value(&sum[1]) / (double)(n - far));
}

static const char note[] = "mean distance from the centre of the 5 % of rows farthest from it, "
                           "divided by that of the others";

/* --- the map ---------------------------------------------------------------------------------- */

static ikt_status compute_map(ikt_context *ctx, const ikt_measure_view *view, ikt_measures *out) {
    const ikt_measured *what = view->what;
    const int64_t own = what->rows.count, q = view->q;
    ikt_exact_sum sum[IKT_AXES_MOST] = {{{0}, 0, 0}};
    double mean[IKT_AXES_MOST], *away IKT_AT_END(ikt_free) = NULL;
    if (view->n < 2) return IKT_OK;
    IKT_TRY(ikt_alloc_all(ctx, &away, own, sizeof *away, "measures"));
    for (int64_t e = 0; e < q * own; e++)
        ikt_exact_sum_add(&sum[e % q], (double)what->y[e]);
    ikt_exact_sum_reduce(ctx, sum, q);
    for (int64_t c = 0; c < q; c++)
        mean[c] = ikt_exact_sum_value(&sum[c]) / (double)view->n;
    for (int64_t i = 0; i < own; i++) {
        double square = 0;
        for (int64_t c = 0; c < q; c++)
            square +=
                ((double)what->y[q * i + c] - mean[c]) * ((double)what->y[q * i + c] - mean[c]);
        away[i] = sqrt(square);
    }
    const double ratio = ratio_of(ctx, away, own, view->n);
    return ikt_measures_add(ctx, out, "outlier ratio", ratio, 0, note);
}

static int64_t memory_of_map(const ikt_measure_settings *settings,
                             const ikt_measure_extent *extent) {
    (void)settings;
    return (extent->n / extent->ranks + 1) * (int64_t)sizeof(double);
}

const ikt_measure_family ikt_family_outliers = {
    .name = "outliers",
    .help = "outlier ratio of the map: distance of the 5 % farthest rows from the centre, against "
            "that of the others",
    .compute = compute_map,
    .memory = memory_of_map};

/* --- the data --------------------------------------------------------------------------------- */

typedef struct {
    const double *mean; /* [d] */
    int64_t d, first;   /* columns; the first row of this rank's blocks */
    double *away;       /* of the rows of these blocks */
} distances;

static void take_rows(ikt_context *ctx, void *self, const double *rows, ikt_row_range part,
                      bool is_end) {
    const distances *to = self;
    const int64_t d = to->d;
    (void)is_end;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < part.count; i++) {
        double square = 0;
        for (int64_t k = 0; k < d; k++) {
            const double apart = rows[i * d + k] - to->mean[k];
            square += apart * apart;
        }
        to->away[part.first - to->first + i] = sqrt(square);
    }
}

static ikt_status compute_data(ikt_context *ctx, const ikt_measure_view *view, ikt_measures *out) {
    const ikt_row_reader reader = ikt_dataset_reader(view->what->data);
    const ikt_row_range mine = ikt_blocks_of_rank(view->n, ikt_size(ctx), ikt_rank(ctx));
    ikt_column_stats stats IKT_AT_END(ikt_column_stats_free) = {0};
    if (view->n < 2) return IKT_OK;
    if (reader.d > COLUMNS_MOST)
        return ikt_measure_refuse(ctx, view->settings,
                                  "the outlier ratio of the data is for rows of up to %d columns; "
                                  "there are %lld: reduce them (preprocess.pca)",
                                  (int)COLUMNS_MOST, (long long)reader.d);
    IKT_TRY(ikt_column_stats_compute(ctx, &reader, &stats));
    IKT_ARRAYS(held, ctx, "measures");
    double *away = ikt_claim(&held, mine.count, sizeof *away);
    IKT_TRY(ikt_arrays_agree(&held));
    distances to = {stats.mean, reader.d, mine.first, away};
    IKT_TRY(ikt_blocks_read(ctx, &reader, &to, take_rows));
    const double ratio = ratio_of(ctx, away, mine.count, view->n);
    return ikt_measures_add(ctx, out, "outlier ratio of the data", ratio, 0, note);
}

/* A block of rows beside statistics of the columns, or beside the distances. */
static int64_t memory_of_data(const ikt_measure_settings *settings,
                              const ikt_measure_extent *extent) {
    const int64_t d = extent->d, real = (int64_t)sizeof(double);
    if (d > COLUMNS_MOST) return 0;
    const int64_t blocks = (extent->n + IKT_BLOCK_ROWS - 1) / IKT_BLOCK_ROWS;
    const int64_t rows = (blocks / extent->ranks + 1) * IKT_BLOCK_ROWS;
    const int64_t distances_of = ikt_smaller(rows, extent->n) * real + 4 * d * real;
    const int64_t sums = 2 * d * (int64_t)sizeof(ikt_exact_sum) + 8 * d * real;
    (void)settings;
    return ikt_stream_rows(d, real) * d * real + ikt_larger(distances_of, sums);
}

const ikt_measure_family ikt_family_data_outliers = {
    .name = "data-outliers",
    .help = "outlier ratio of the data: the same of the rows of the input",
    .needs = IKT_MEASURE_NEEDS_INPUT | IKT_MEASURE_NEEDS_COLUMNS,
    .compute = compute_data,
    .memory = memory_of_data};
