/* Bringing columns or rows to one scale. See normalise.h. */
#include "data/normalise.h"

#include <float.h>
#include <math.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/sort.h"
#include "base/watch.h"
#include "data/missing.h"
#include "dist/rows.h"
#include "linalg/blocks.h"
#include "linalg/column_stats.h"

enum {
    PCA_ROWS = 1 << 20,         /* that principal components are found of at most, with auto */
    SPARSE_REDUCED_MOST = 16384 /* columns of sparse rows that they are found of */
};

static const ikt_key keys[] = {
    {"normalise", IKT_KEY_CHOICE, offsetof(ikt_preprocess_settings, normalise), "auto", 0, 0, 0,
     "none|minmax|zscore|unit|auto", "",
     "How the columns are brought to one scale: minmax maps each column to [0, 1], zscore gives "
     "it mean 0 and variance 1, unit gives each row length 1 (cosine distance), and none keeps "
     "the values. auto takes none for embeddings, principal components, sparse rows and columns "
     "of one unit, and minmax where some columns would outweigh all others; the log says which "
     "and why. Sparse rows are only scaled, not shifted, so that zeros stay zeros"},
    {"missing", IKT_KEY_CHOICE, offsetof(ikt_preprocess_settings, missing), "refuse", 0, 0, 0,
     "refuse|mean|median|drop", "",
     "What happens to missing values (NaN): refuse ends the run with the first row and column "
     "that lacks one, mean and median put that of the column in their place, and drop leaves out "
     "the rows that lack any; the log says how many there are"},
    {"pca", IKT_KEY_INT, offsetof(ikt_preprocess_settings, pca), "0", 0, 1e6, 0, NULL, "components",
     "Reduce the normalised rows to this many principal components; 0 keeps all columns. Sparse "
     "rows may have up to 16,384 columns for this"},
    {"pca_rows", IKT_KEY_INT, offsetof(ikt_preprocess_settings, pca_rows), "auto", 0, 1e15, 1, NULL,
     "rows",
     "The number of rows that the principal components of preprocess.pca are found of, in blocks "
     "of 512 spread evenly over the file; all rows are then reduced to them. 0 takes all rows; "
     "auto takes all, but at most 1,048,576"},
    {"metric", IKT_KEY_CHOICE, offsetof(ikt_preprocess_settings, metric), "euclidean", 0, 0, 0,
     "euclidean|cosine|correlation|manhattan|precomputed", "",
     "What the distance of two rows is: euclidean; cosine, of the directions of the rows, whose "
     "columns are not rescaled unless normalise says minmax or zscore; correlation, the same of "
     "rows less their own mean; manhattan, the sum of absolute differences; or precomputed, "
     "where the input is a matrix of the distances of all pairs of rows"},
    {"matrix", IKT_KEY_CHOICE, offsetof(ikt_preprocess_settings, matrix), "distances", 0, 0, 0,
     "distances|similarities", "",
     "What the entries of a precomputed matrix are: distances, or similarities K such as those "
     "of a kernel, which become the distances sqrt(K_ii + K_jj - 2 K_ij)"},
};

const ikt_section ikt_preprocess_section = {"preprocess",
                                            "What happens to the rows before distances are taken",
                                            keys, sizeof keys / sizeof *keys};

/* --- rows ------------------------------------------------------------------------------------- */

/* Scaled by a power of two first, so that the squares of very large or small values fit. */
static void to_unit_length(double *row, int64_t d) {
    double largest = 0, square = 0;
    int exponent = 0;
    for (int64_t k = 0; k < d; k++)
        largest = fabs(row[k]) > largest ? fabs(row[k]) : largest;
    if (largest == 0) return;
    frexp(largest, &exponent);
    double factor = ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
    for (int64_t k = 0; k < d; k++) {
        row[k] *= factor;
        square += row[k] * row[k];
    }
    double length = sqrt(square);
    for (int64_t k = 0; k < d; k++)
        row[k] /= length;
}

/* The first value is taken from all before, so that a row of equal values becomes 0 exactly. */
static void subtract_mean(double *row, int64_t d) {
    const double first = row[0];
    double sum = 0;
    for (int64_t k = 0; k < d; k++) {
        row[k] -= first;
        sum += row[k];
    }
    for (int64_t k = 0; k < d; k++)
        row[k] -= sum / (double)d;
}

static bool is_by_length(const ikt_normaliser *normaliser) {
    return normaliser->mode == IKT_NORMALISE_UNIT || normaliser->metric == IKT_METRIC_COSINE ||
           normaliser->metric == IKT_METRIC_CORRELATION;
}

int64_t ikt_pca_rows(const ikt_preprocess_settings *settings, int64_t n) {
    const int64_t asked = ikt_chosen(settings->pca_rows, PCA_ROWS);
    return asked == 0 ? n : ikt_smaller(n, ikt_larger(asked, IKT_BLOCK_ROWS));
}

ikt_normalise ikt_normalise_of(const ikt_preprocess_settings *settings) {
    const ikt_normalise mode = (ikt_normalise)settings->normalise;
    const bool is_of_rows =
        settings->metric == IKT_METRIC_COSINE || settings->metric == IKT_METRIC_CORRELATION;
    const bool is_open = mode == IKT_NORMALISE_NONE || mode == IKT_NORMALISE_AUTO;
    return is_of_rows && is_open ? IKT_NORMALISE_UNIT : mode;
}

ikt_status ikt_preprocess_check(ikt_context *ctx, const ikt_preprocess_settings *settings,
                                const char *name, int64_t d, bool is_sparse) {
    const long long components = (long long)settings->pca, columns = (long long)d;
    if (components > columns)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "preprocess.pca = %lld, but %s has only %lld columns; choose fewer "
                        "components, or 0 to keep all columns",
                        components, name, columns);
    if (components > 0 && is_sparse && d > SPARSE_REDUCED_MOST)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "preprocess.pca = %lld takes the sparse rows of %s as dense ones, which is "
                        "possible up to %d columns, and they have %lld: set preprocess.pca=0, "
                        "the Isolation kernel takes sparse rows as they are",
                        components, name, SPARSE_REDUCED_MOST, columns);
    if (settings->metric != IKT_METRIC_CORRELATION || !is_sparse || components > 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "preprocess.metric = correlation takes its mean from every row, which would "
                    "fill the zeros of the sparse rows of %s; take preprocess.metric=cosine, or "
                    "reduce them by preprocess.pca",
                    name);
}

void ikt_normaliser_row(const ikt_normaliser *normaliser, ikt_type type, const void *row,
                        double *out) {
    int64_t d = normaliser->d;
    const double *shift = normaliser->shift, *scale = normaliser->scale;
    ikt_widen(type, row, d, out);
    if (shift)
        for (int64_t k = 0; k < d; k++)
            out[k] = (out[k] - shift[k]) * scale[k];
    else if (scale)
        for (int64_t k = 0; k < d; k++)
            out[k] *= scale[k];
    if (normaliser->metric == IKT_METRIC_CORRELATION) subtract_mean(out, d);
    if (is_by_length(normaliser)) to_unit_length(out, d);
}

void ikt_normaliser_entries(const ikt_normaliser *normaliser, const int32_t *column,
                            const double *value, int64_t count, double *out) {
    const double *scale = normaliser->scale;
    for (int64_t e = 0; e < count; e++)
        out[e] = scale ? value[e] * scale[column[e]] : value[e];
    if (is_by_length(normaliser)) to_unit_length(out, count);
}

/* --- statistics of sparse rows ---------------------------------------------------------------- */

/* Least, largest, mean and variance of the columns of sparse rows, their zeros included.
 *
 * Method: extremes in one pass; where mean and variance are wanted, a second one adds up values and
 * squares as integers, after scaling each column to its largest magnitude, in units of 2^-61.
 * Integers add up to the same in any order. Advantage: 50 bytes a column, where exact sums of
 * doubles (linalg/column_stats.h) take 1.1 kB, too much for a million columns. Disadvantage: a
 * second pass, and the variance is a difference of two sums: of a column without a zero whose
 * values lie within 1e-8 of one another little of it is left. */
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
    ikt_sparse_rows rows IKT_AT_END(ikt_sparse_rows_destroy) = {0};
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        IKT_TRY(ikt_source_read_sparse(source, at.first, at.count, &rows));
        visit(p, &rows);
        IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
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

/* COLLECTIVE. The second pass. */
static ikt_status find_variance(ikt_context *ctx, ikt_source *source, pass *p) {
    ikt_column_stats *s = p->stats;
    const int64_t d = s->d;
    const double n = (double)s->n;
    IKT_ARRAYS(held, ctx, purpose);
    p->exponent = ikt_claim(&held, d, sizeof *p->exponent);
    p->sum = ikt_claim(&held, 4 * d, sizeof *p->sum);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t k = 0; k < d; k++)
        frexp(fmax(fabs(s->least[k]), fabs(s->most[k])), &p->exponent[k]);
    IKT_TRY(go_through(ctx, source, add_values, p));
    ikt_sum_i64(ctx, p->sum, 4 * d);
    for (int64_t k = 0; k < d; k++) {
        const double mean = scaled_sum(&p->sum[k], &p->sum[d + k]) / n;
        const double square = scaled_sum(&p->sum[2 * d + k], &p->sum[3 * d + k]) / n;
        const double variance = square - mean * mean;
        s->mean[k] = ldexp(mean, p->exponent[k]);
        s->variance[k] =
            s->least[k] == s->most[k] || variance < 0 ? 0 : ldexp(variance, 2 * p->exponent[k]);
    }
    return IKT_OK;
}

/* COLLECTIVE. Statistics of a sparse source, the same on all ranks.
 *   with_variance   whether mean and variance are wanted; they are NULL otherwise
 *   out             free with ikt_column_stats_free, also after a failure
 * Cost: the entries over the ranks, once or twice. */
static ikt_status sparse_statistics(ikt_context *ctx, ikt_source *source, bool with_variance,
                                    ikt_column_stats *out) {
    const int64_t d = ikt_source_columns(source), arrays = with_variance ? 4 : 2;
    pass p = {.stats = out};
    *out = (ikt_column_stats){.n = ikt_source_rows(source), .d = d};
    IKT_ARRAYS(held, ctx, purpose);
    out->least = ikt_claim_kept(&held, arrays * d, sizeof *out->least);
    p.held = ikt_claim(&held, d, sizeof *p.held);
    IKT_TRY(ikt_arrays_agree(&held));
    out->most = out->least + d;
    out->mean = with_variance ? out->least + 2 * d : NULL;
    out->variance = with_variance ? out->least + 3 * d : NULL;
    for (int64_t k = 0; k < d; k++) {
        out->least[k] = INFINITY;
        out->most[k] = -INFINITY;
    }
    IKT_TRY(go_through(ctx, source, find_extremes, &p));
    join_extremes(ctx, &p);
    return with_variance ? find_variance(ctx, source, &p) : IKT_OK;
}

/* --- the map ---------------------------------------------------------------------------------- */

static ikt_status statistics(ikt_context *ctx, ikt_source *source, ikt_normalise mode,
                             ikt_column_stats *stats) {
    if (ikt_source_is_sparse(source))
        return sparse_statistics(ctx, source, mode == IKT_NORMALISE_ZSCORE, stats);
    ikt_raw_rows raw IKT_AT_END(ikt_raw_rows_destroy) = {0};
    ikt_row_reader reader;
    IKT_TRY(ikt_raw_rows_create(ctx, source, &raw, &reader));
    return ikt_column_stats_compute(ctx, &reader, stats);
}

/* The multiple of the power of two at or above the range that lies between 0 and the mean: x -
 * shift is then exact for float32 x away from zero, and the identity where |mean| is below the
 * range. */
static double coarse_shift(double mean, double range) {
    int exponent;
    double fraction = frexp(range, &exponent);
    double step = ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
    return trunc(mean / step) * step;
}

/* Of sparse rows a scale alone. */
static void set_column(ikt_normaliser *map, const ikt_column_stats *stats, int64_t k) {
    const double range = stats->most[k] - stats->least[k];
    double shift = stats->least[k], scale = 1;
    map->constant += range == 0;
    if (range == 0) {
        scale = 0;
    } else if (map->mode == IKT_NORMALISE_NONE) {
        shift = coarse_shift(stats->mean[k], range);
    } else if (map->mode == IKT_NORMALISE_MINMAX) {
        scale = 1 / range;
    } else {
        shift = stats->mean[k];
        scale = 1 / sqrt(stats->variance[k]);
    }
    map->scale[k] = scale;
    if (map->shift) map->shift[k] = shift;
}

/* Extremes are refused where the mapped values, or their squared distances, leave single precision.
 */
static ikt_status check_range(ikt_context *ctx, const ikt_normaliser *map,
                              const ikt_column_stats *stats, const char *name) {
    const bool is_manhattan = map->metric == IKT_METRIC_MANHATTAN;
    double square = 0, sum = 0;
    for (int64_t k = 0; k < stats->d; k++) {
        double range = stats->most[k] - stats->least[k];
        const double spread = stats->variance ? stats->variance[k] : range * range;
        if (range != 0 && !(spread >= DBL_MIN && spread <= DBL_MAX))
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "%s, column %lld (counted from 0): values between %g and %g are beyond "
                            "what can be computed with; rescale the column",
                            name, (long long)k, stats->least[k], stats->most[k]);
        square += range * range;
        sum += range;
    }
    if (is_manhattan) square = sum * sum;
    if (map->mode == IKT_NORMALISE_NONE && square > 0 &&
        !(square < FLT_MAX && square > (double)FLT_MIN / FLT_EPSILON))
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s: squared distances up to %g do not fit single precision; set "
                        "preprocess.normalise to minmax or zscore",
                        name, square);
    return IKT_OK;
}

/* Same on all ranks: everything follows from statistics that are. */
static ikt_status make_map(ikt_context *ctx, const ikt_column_stats *stats, const char *name,
                           bool is_sparse, ikt_normaliser *out) {
    if (out->mode == IKT_NORMALISE_UNIT) {
        out->zero_rows = stats->zero_rows;
        return IKT_OK;
    }
    IKT_TRY(check_range(ctx, out, stats, name));
    if (is_sparse && out->mode == IKT_NORMALISE_NONE) return IKT_OK;
    double *map = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &map, (is_sparse ? 1 : 2) * out->d, sizeof *map, "normalisation"));
    out->shift = is_sparse ? NULL : map;
    out->scale = is_sparse ? map : map + out->d;
    for (int64_t k = 0; k < out->d; k++)
        set_column(out, stats, k);
    return IKT_OK;
}

ikt_status ikt_normaliser_create(ikt_context *ctx, ikt_source *source, ikt_normalise mode,
                                 ikt_metric_kind metric, ikt_normaliser *out) {
    const char *name = ikt_source_name(source);
    *out = (ikt_normaliser){.mode = mode, .metric = metric, .d = ikt_source_columns(source)};
    if (ikt_source_rows(source) < 1 || out->d < 1)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s: no data (%lld rows, %lld columns)", name,
                        (long long)ikt_source_rows(source), (long long)out->d);
    if (mode == IKT_NORMALISE_AUTO) IKT_TRY(ikt_normalise_choose(ctx, source, &mode));
    out->mode = mode;
    /* Bytes are finite and need no centre. */
    if (mode == IKT_NORMALISE_NONE && ikt_source_type(source) == IKT_TYPE_U8) return IKT_OK;
    ikt_column_stats stats IKT_AT_END(ikt_column_stats_free) = {0};
    IKT_TRY(statistics(ctx, source, mode, &stats));
    IKT_TRY(make_map(ctx, &stats, name, ikt_source_is_sparse(source), out));
    if (out->constant == out->d)
        ikt_log(ctx, IKT_LOG_WARN, IKT_ALL_EQUAL, name);
    else if (out->constant > 0)
        ikt_log_numbers(ctx, IKT_LOG_STAGE, IKT_LOG_NUMBERS(IKT_LOG_INT("columns", out->constant)),
                        "%s: %lld of %lld columns are constant and become 0", name,
                        (long long)out->constant, (long long)out->d);
    if (out->zero_rows > 0)
        ikt_log_numbers(ctx, IKT_LOG_STAGE, IKT_LOG_NUMBERS(IKT_LOG_INT("rows", out->zero_rows)),
                        "%s: %lld rows are zero and have no direction; they stay zero", name,
                        (long long)out->zero_rows);
    return IKT_OK;
}

void ikt_normaliser_free(ikt_normaliser *normaliser) {
    if (normaliser->shift)
        ikt_free(&normaliser->shift); /* and with it the scale */
    else
        ikt_free(&normaliser->scale);
    *normaliser = (ikt_normaliser){0};
}
