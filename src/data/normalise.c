/* Bringing columns or rows to one scale. See normalise.h. */
#include "data/normalise.h"

#include <float.h>
#include <math.h>

#include "base/log.h"
#include "base/memory.h"
#include "data/sparse_stats.h"
#include "linalg/blocks.h"
#include "linalg/column_stats.h"

/* Values of a row as doubles. */
static void widen(ikt_type type, const void *from, int64_t count, double *to) {
    if (type == IKT_TYPE_U8) {
        const uint8_t *x = from;
        for (int64_t i = 0; i < count; i++)
            to[i] = x[i];
    } else if (type == IKT_TYPE_F32) {
        const float *x = from;
        for (int64_t i = 0; i < count; i++)
            to[i] = (double)x[i];
    } else {
        const double *x = from;
        for (int64_t i = 0; i < count; i++)
            to[i] = x[i];
    }
}

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

void ikt_normaliser_row(const ikt_normaliser *normaliser, ikt_type type, const void *row,
                        double *out) {
    int64_t d = normaliser->d;
    const double *shift = normaliser->shift, *scale = normaliser->scale;
    widen(type, row, d, out);
    if (shift)
        for (int64_t k = 0; k < d; k++)
            out[k] = (out[k] - shift[k]) * scale[k];
    else if (scale)
        for (int64_t k = 0; k < d; k++)
            out[k] *= scale[k];
    if (normaliser->mode == IKT_NORMALISE_UNIT) to_unit_length(out, d);
}

void ikt_normaliser_entries(const ikt_normaliser *normaliser, const int32_t *column,
                            const double *value, int64_t count, double *out) {
    const double *scale = normaliser->scale;
    for (int64_t e = 0; e < count; e++)
        out[e] = scale ? value[e] * scale[column[e]] : value[e];
    if (normaliser->mode == IKT_NORMALISE_UNIT) to_unit_length(out, count);
}

/* The source as linear algebra reads it: unmapped values. */
typedef struct {
    ikt_source *source;
    void *native; /* room for ikt_stream_rows(d, 8) rows */
} raw_rows;

static ikt_status raw_read(void *self, int64_t first, int64_t count, double *rows) {
    raw_rows *raw = self;
    IKT_TRY(ikt_source_read(raw->source, first, count, raw->native));
    widen(ikt_source_type(raw->source), raw->native, count * ikt_source_columns(raw->source), rows);
    return IKT_OK;
}

static ikt_status statistics(ikt_context *ctx, ikt_source *source, ikt_normalise mode,
                             ikt_column_stats *stats) {
    if (ikt_source_is_sparse(source))
        return ikt_sparse_stats_compute(ctx, source, mode == IKT_NORMALISE_ZSCORE, stats);
    int64_t n = ikt_source_rows(source), d = ikt_source_columns(source);
    raw_rows raw = {source, NULL};
    ikt_row_reader reader = {raw_read, &raw, n, d, ikt_source_name(source)};
    int64_t room = ikt_stream_rows(d, (int64_t)sizeof(double)) * d;
    ikt_status status =
        ikt_alloc(ctx, &raw.native, room, ikt_type_size(ikt_source_type(source)), "row blocks");
    status = ikt_agree(ctx, status);
    if (status == IKT_OK) status = ikt_column_stats_compute(ctx, &reader, stats);
    ikt_free(&raw.native);
    return status;
}

/* The multiple of the power of two at or above the range that lies between 0 and the mean: x -
 * shift is then exact for float32 x away from zero, and the identity where |mean| is below the
 * range. */
static double coarse_shift(double mean, double range) {
    if (range == 0) return mean;
    int exponent;
    double fraction = frexp(range, &exponent);
    double step = ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
    return trunc(mean / step) * step;
}

static void set_column(ikt_normaliser *map, const ikt_column_stats *stats, int64_t k) {
    double range = stats->most[k] - stats->least[k];
    map->constant += range == 0;
    map->shift[k] = stats->least[k];
    map->scale[k] = range == 0 ? 0 : 1;
    if (range == 0) return;
    if (map->mode == IKT_NORMALISE_NONE) map->shift[k] = coarse_shift(stats->mean[k], range);
    if (map->mode == IKT_NORMALISE_MINMAX) map->scale[k] = 1 / range;
    if (map->mode == IKT_NORMALISE_ZSCORE) {
        map->shift[k] = stats->mean[k];
        map->scale[k] = 1 / sqrt(stats->variance[k]);
    }
}

/* Extremes are refused where the mapped values, or their squared distances, leave single precision.
 */
static ikt_status check_range(ikt_context *ctx, const ikt_normaliser *map,
                              const ikt_column_stats *stats, const char *name) {
    double square = 0;
    for (int64_t k = 0; k < stats->d; k++) {
        double range = stats->most[k] - stats->least[k];
        const double spread = stats->variance ? stats->variance[k] : range * range;
        if (range != 0 && !(spread >= DBL_MIN && spread <= DBL_MAX))
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "%s, column %lld (counted from 0): values between %g and %g are beyond "
                            "what can be computed with; rescale the column",
                            name, (long long)k, stats->least[k], stats->most[k]);
        square += range * range;
    }
    if (map->mode == IKT_NORMALISE_NONE && square > 0 &&
        !(square < FLT_MAX && square > (double)FLT_MIN / FLT_EPSILON))
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s: squared distances up to %g do not fit single precision; set "
                        "preprocess.normalise to minmax or zscore",
                        name, square);
    return IKT_OK;
}

static void report(ikt_context *ctx, const ikt_normaliser *map, const char *name) {
    if (map->constant > 0)
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        (ikt_log_number[]){IKT_LOG_INT("columns", map->constant), {0}},
                        "%s: %lld of %lld columns are constant and become 0", name,
                        (long long)map->constant, (long long)map->d);
    if (map->zero_rows > 0)
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        (ikt_log_number[]){IKT_LOG_INT("rows", map->zero_rows), {0}},
                        "%s: %lld rows are zero and have no direction; they stay zero", name,
                        (long long)map->zero_rows);
}

/* Of sparse rows: a scale alone, or nothing. */
static ikt_status make_scale(ikt_context *ctx, const ikt_column_stats *stats, ikt_normaliser *out) {
    if (out->mode == IKT_NORMALISE_NONE) return IKT_OK;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &out->scale, out->d, sizeof(double), "normalisation")));
    for (int64_t k = 0; k < out->d; k++) {
        const double range = stats->most[k] - stats->least[k];
        out->constant += range == 0;
        if (range == 0) continue;
        out->scale[k] = stats->variance ? 1 / sqrt(stats->variance[k]) : 1 / range;
    }
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
    if (is_sparse) return make_scale(ctx, stats, out);
    ikt_status status = ikt_alloc(ctx, &out->shift, 2 * out->d, sizeof(double), "normalisation");
    IKT_TRY(ikt_agree(ctx, status));
    out->scale = out->shift + out->d;
    for (int64_t k = 0; k < out->d; k++)
        set_column(out, stats, k);
    return IKT_OK;
}

ikt_status ikt_normaliser_create(ikt_context *ctx, ikt_source *source, ikt_normalise mode,
                                 ikt_normaliser *out) {
    const char *name = ikt_source_name(source);
    *out = (ikt_normaliser){.mode = mode, .d = ikt_source_columns(source)};
    if (ikt_source_rows(source) < 1 || out->d < 1)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s: no data (%lld rows, %lld columns)", name,
                        (long long)ikt_source_rows(source), (long long)out->d);
    /* Bytes are finite and need no centre. */
    if (mode == IKT_NORMALISE_NONE && ikt_source_type(source) == IKT_TYPE_U8) return IKT_OK;
    ikt_column_stats stats = {0};
    ikt_status status = statistics(ctx, source, mode, &stats);
    if (status == IKT_OK) status = make_map(ctx, &stats, name, ikt_source_is_sparse(source), out);
    if (status == IKT_OK) report(ctx, out, name);
    ikt_column_stats_free(&stats);
    return status;
}

void ikt_normaliser_free(ikt_normaliser *normaliser) {
    if (normaliser->shift)
        ikt_free(&normaliser->shift); /* and with it the scale */
    else
        ikt_free(&normaliser->scale);
    *normaliser = (ikt_normaliser){0};
}
