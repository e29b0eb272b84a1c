/* What preprocess.normalise: auto means for the rows of a source.
 *
 * Method: up to 8,192 rows in evenly spread blocks are looked at (linalg/blocks.h). Columns are
 * brought to one scale only where a few of them would otherwise decide every distance: where the
 * rows are no embedding, principal components or sparse counts, and the largest standard deviation
 * of a column is more than twice the median one. Of 17 labelled sets, minmax has the better 10-NN
 * accuracy in the map on those that fail this test and none on those that pass it
 * (docs/input.md).
 * Advantage: what stands in one unit keeps its meaning; reading takes no time worth mentioning, so
 * that plans and runs decide alike. Disadvantage: columns of differing units that happen to have
 * similar spreads are taken as they are, which changes distances by that factor of two at most.
 */
#include "data/normalise.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/sort.h"
#include "data/doubtful.h"
#include "data/missing.h"
#include "linalg/blocks.h"
#include "linalg/column_stats.h"

enum {
    SAMPLE = 8192,       /* rows looked at */
    COMPONENTS_LEAST = 5 /* columns, for their spreads to fall by more than chance */
};

static const double sparse_share = 0.25, /* of entries that are there, below which rows count */
    length_slack = 1e-3,                 /* of rows of one length, as float16 leaves it */
    independent_share = 0.1,             /* of what columns that vary alone make of the lengths */
    common_share = 0.95,                 /* of columns that have the same least value in one unit */
    range_most = 4,                      /* largest range over the median one, of such columns */
    spread_most = 2,     /* largest standard deviation over the median one, in one unit */
    falling_slack = 1.1, /* of a standard deviation over the one before it, in components */
    falling_share = 0.9, /* of columns that hold to that */
    falling_least = 1.5, /* first over last standard deviation of components */
    centred_most = 0.5;  /* |mean| over standard deviation of components, but for some */

/* Rows as they are, the least and largest of their lengths, and what else they show. */
typedef struct {
    ikt_row_reader rows;
    double least, most;
    ikt_doubtful doubtful;
} measured_rows;

/* What is not finite is for the pass over all rows to refuse, with its place. */
static ikt_status read_measured(void *self, int64_t first, int64_t count, double *rows) {
    measured_rows *m = self;
    const int64_t d = m->rows.d;
    IKT_TRY(m->rows.read(m->rows.self, first, count, rows));
    for (int64_t i = 0; i < count; i++) {
        double square = 0;
        for (int64_t k = 0; k < d; k++) {
            if (!isfinite(rows[i * d + k])) rows[i * d + k] = 0;
            square += rows[i * d + k] * rows[i * d + k];
        }
        m->least = fmin(m->least, sqrt(square));
        m->most = fmax(m->most, sqrt(square));
    }
    ikt_doubtful_see(&m->doubtful, first, count, rows);
    return IKT_OK;
}

static void measured_end(measured_rows *rows) {
    ikt_doubtful_free(&rows->doubtful);
}

/* What the decision rests on: ranges and standard deviations of the columns that vary, in the order
 * of the columns. */
typedef struct {
    int64_t count;
    double *range, *spread, *sorted; /* [count] each */
    double common;                   /* share of columns that have the least value of all */
    double centred;                  /* share of columns whose mean is near 0 */
    double independent; /* standard deviation of the lengths' squares if columns varied alone */
} columns_seen;

static void columns_end(columns_seen *columns) {
    ikt_free(&columns->range);
}

static ikt_status look_at_columns(ikt_context *ctx, const ikt_column_stats *stats,
                                  columns_seen *out) {
    double least = INFINITY;
    int64_t common = 0, centred = 0;
    IKT_TRY(ikt_alloc(ctx, &out->range, 3 * stats->d, sizeof *out->range, "normalisation"));
    out->spread = out->range + stats->d;
    out->sorted = out->spread + stats->d;
    for (int64_t k = 0; k < stats->d; k++)
        least = fmin(least, stats->least[k]);
    for (int64_t k = 0; k < stats->d; k++) {
        if (stats->most[k] == stats->least[k]) continue;
        const double spread = sqrt(stats->variance[k]);
        common += stats->least[k] == least;
        centred += fabs(stats->mean[k]) <= centred_most * spread;
        out->independent +=
            stats->variance[k] * (4 * stats->mean[k] * stats->mean[k] + 2 * stats->variance[k]);
        out->range[out->count] = stats->most[k] - stats->least[k];
        out->spread[out->count++] = spread;
    }
    out->common = out->count > 0 ? (double)common / (double)out->count : 0;
    out->independent = sqrt(out->independent);
    out->centred = out->count > 0 ? (double)centred / (double)out->count : 0;
    return IKT_OK;
}

/* LOCAL. The largest of the values over their median, the lower one of an even number. */
static double largest_over_median(const columns_seen *c, const double *value) {
    memcpy(c->sorted, value, (size_t)c->count * sizeof *value);
    ikt_sort_f64(c->sorted, c->count);
    return c->sorted[c->count - 1] / c->sorted[(c->count - 1) / 2];
}

static bool are_components(const columns_seen *c) {
    int64_t falling = 0;
    for (int64_t k = 1; k < c->count; k++)
        falling += c->spread[k] <= falling_slack * c->spread[k - 1];
    return c->count >= COMPONENTS_LEAST && c->centred >= falling_share &&
           (double)falling >= falling_share * (double)(c->count - 1) &&
           c->spread[0] >= falling_least * c->spread[c->count - 1];
}

/* Whether something has brought the rows to one length. That all lengths are much the same is not
 * enough: one column far from zero, such as an id or a time, makes them so as well, whatever the
 * rows are. But then they differ as much as that column does, where those of embeddings differ far
 * less than their columns would let them if each varied alone. */
static bool have_one_length(const measured_rows *rows, const columns_seen *c) {
    const double range = rows->most - rows->least;
    return rows->most > 0 && range <= length_slack * rows->most &&
           2 * rows->most * range <= independent_share * c->independent;
}

/* LOCAL. The decision on dense rows, and why. */
static ikt_normalise decide(const measured_rows *rows, const columns_seen *c, char *why,
                            size_t size) {
    if (c->count == 0) {
        snprintf(why, size, "no column varies");
        return IKT_NORMALISE_NONE;
    }
    if (have_one_length(rows, c)) {
        snprintf(why, size, "all rows have the length %g, as embeddings have", rows->most);
        return IKT_NORMALISE_NONE;
    }
    const double spread = largest_over_median(c, c->spread);
    if (are_components(c)) {
        snprintf(why, size,
                 "the columns have mean 0 and falling spreads, as principal components have");
        return IKT_NORMALISE_NONE;
    }
    if (c->common >= common_share && largest_over_median(c, c->range) <= range_most) {
        snprintf(why, size,
                 "the columns have one unit: their least value is the same, and no range is more "
                 "than %g times the median one",
                 range_most);
        return IKT_NORMALISE_NONE;
    }
    if (spread <= spread_most) {
        snprintf(why, size,
                 "no column outweighs the others: the largest standard deviation is %.2g times the "
                 "median one",
                 spread);
        return IKT_NORMALISE_NONE;
    }
    snprintf(why, size,
             "the columns have several units: the largest standard deviation is %.2g times the "
             "median one",
             spread);
    return IKT_NORMALISE_MINMAX;
}

/* COLLECTIVE. The same, from the sampled rows. */
static ikt_status look_and_decide(ikt_context *ctx, ikt_source *source, ikt_normalise *mode,
                                  char *why, size_t size) {
    measured_rows rows IKT_AT_END(measured_end) = {.least = INFINITY};
    columns_seen columns IKT_AT_END(columns_end) = {.count = 0};
    ikt_column_stats stats IKT_AT_END(ikt_column_stats_free) = {0};
    ikt_raw_rows raw IKT_AT_END(ikt_raw_rows_destroy) = {0};
    ikt_strided_reader space;
    IKT_TRY(ikt_raw_rows_create(ctx, source, &raw, &rows.rows));
    IKT_TRY(ikt_agree(ctx, ikt_doubtful_create(ctx, rows.rows.n, rows.rows.d, &rows.doubtful)));
    const ikt_row_reader all = {read_measured, &rows, rows.rows.n, rows.rows.d, rows.rows.name};
    const ikt_row_reader sample = ikt_strided_reader_make(ctx, &all, SAMPLE, &space);
    IKT_TRY(ikt_column_stats_compute(ctx, &sample, &stats));
    ikt_min_f64(ctx, &rows.least, 1);
    ikt_max_f64(ctx, &rows.most, 1);
    IKT_TRY(ikt_agree(ctx, look_at_columns(ctx, &stats, &columns)));
    IKT_TRY(ikt_doubtful_tell(ctx, &rows.doubtful, &sample, &stats, source));
    if (columns.count == 0 && stats.n == rows.rows.n &&
        ikt_source_type(source) == IKT_TYPE_U8) /* see no other pass */
        ikt_log(ctx, IKT_LOG_WARN, IKT_ALL_EQUAL, rows.rows.name);
    *mode = decide(&rows, &columns, why, size);
    return IKT_OK;
}

ikt_status ikt_normalise_choose(ikt_context *ctx, ikt_source *source, ikt_normalise *mode) {
    static const char *const names[] = {"none", "minmax"};
    const char *name = ikt_source_name(source);
    const double all = (double)ikt_source_rows(source) * (double)ikt_source_columns(source);
    char why[256];
    *mode = IKT_NORMALISE_NONE;
    if (strstr(name, ":/obsm/"))
        snprintf(why, sizeof why, "the rows are an embedding of an AnnData file");
    else if (ikt_source_is_sparse(source) &&
             (double)ikt_source_entries(source) < sparse_share * all)
        snprintf(why, sizeof why, "the rows are sparse, as counts in one unit are");
    else
        IKT_TRY(look_and_decide(ctx, source, mode, why, sizeof why));
    ikt_log(ctx, IKT_LOG_STAGE, "preprocess.normalise: auto takes %s, because %s", names[*mode],
            why);
    return IKT_OK;
}
