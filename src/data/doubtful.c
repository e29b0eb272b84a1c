/* Columns that number the rows, and matrices of distances. See doubtful.h. */
#include "data/doubtful.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/sort.h"

enum {
    ROWS_LEAST = 30,  /* below which a permutation or equal steps are chance */
    NUMBERS_MOST = 16 /* columns that may number the rows, beyond which they are ranks */
};

static const double range_share = .9, /* of the range of all rows, that a sample of them has */
    sum_slack = 1e-6;                 /* of the largest entry, of a row's mean and its column's */

static const char purpose[] = "normalisation";

/* --- a pass ----------------------------------------------------------------------------------- */

ikt_status ikt_doubtful_create(ikt_context *ctx, int64_t n, int64_t d, ikt_doubtful *out) {
    *out = (ikt_doubtful){.n = n, .d = d};
    IKT_TRY(ikt_alloc(ctx, &out->step_least, 2 * d, sizeof *out->step_least, purpose));
    out->step_most = out->step_least + d;
    for (int64_t k = 0; k < d; k++) {
        out->step_least[k] = INFINITY;
        out->step_most[k] = -INFINITY;
    }
    if (n != d) return IKT_OK;
    IKT_TRY(ikt_alloc(ctx, &out->row_sum, n, sizeof *out->row_sum, purpose));
    return ikt_alloc(ctx, &out->positive, n, sizeof *out->positive, purpose);
}

void ikt_doubtful_free(ikt_doubtful *doubtful) {
    ikt_free_all(&doubtful->step_least, &doubtful->row_sum, &doubtful->positive);
}

static void see_entry(ikt_doubtful *d, int64_t i, int64_t k, double value) {
    d->row_sum[i] += value;
    d->positive[i] += value > 0;
    if (i == k) d->diagonal = fmax(d->diagonal, fabs(value));
}

void ikt_doubtful_see(ikt_doubtful *doubtful, int64_t first, int64_t count, const double *rows) {
    const int64_t d = doubtful->d;
    for (int64_t i = 0; i < count; i++) {
        const double *row = rows + i * d;
        if (doubtful->row_sum) doubtful->row_sum[first + i] = 0;
        if (doubtful->row_sum) doubtful->positive[first + i] = 0;
        for (int64_t k = 0; k < d; k++) {
            if (row[k] != floor(row[k])) doubtful->step_least[k] = -INFINITY;
            if (doubtful->row_sum) see_entry(doubtful, first + i, k, row[k]);
            if (i == 0 || (first + i) % IKT_BLOCK_ROWS == 0) continue;
            doubtful->step_least[k] = fmin(doubtful->step_least[k], row[k] - row[k - d]);
            doubtful->step_most[k] = fmax(doubtful->step_most[k], row[k] - row[k - d]);
        }
    }
}

/* --- columns that number the rows ------------------------------------------------------------- */

/* Columns that may number them, and their values. */
typedef struct {
    int64_t count, d, rows;        /* of columns, of the reader, of the sample */
    int64_t column[NUMBERS_MOST];  /* ascending */
    bool is_regular[NUMBERS_MOST]; /* nothing but equal steps speaks for it */
    double *value;                 /* [count * rows]; -infinity where another rank has the row */
} numbering;

static bool is_heading_of_numbers(const ikt_source *source, int64_t k) {
    static const char *const headings[] = {"id", "index", "row", "rowid", "row_id", "row_names"};
    char name[128];
    if (!ikt_source_column_name(source, k, name, sizeof name)) return false;
    for (size_t e = 0; e < sizeof headings / sizeof *headings; e++)
        if (strcasecmp(name, headings[e]) == 0) return true;
    return strncasecmp(name, "unnamed: ", strlen("unnamed: ")) == 0;
}

/* SAME-ARGS. Whether the range is that of row numbers; values may still come twice. */
static bool has_their_range(const ikt_doubtful *d, const ikt_column_stats *stats, int64_t k) {
    const double range = stats->most[k] - stats->least[k], whole = (double)(d->n - 1);
    const double least = stats->n == d->n ? whole : range_share * whole;
    return d->n >= ROWS_LEAST && range >= least && range <= whole;
}

/* SAME-ARGS. Finds them; none where most columns that vary are such, which then are ranks. */
static void find_candidates(const ikt_doubtful *d, const ikt_column_stats *stats,
                            const ikt_source *source, numbering *out) {
    int64_t varying = 0, found = 0;
    for (int64_t k = 0; k < d->d; k++) {
        if (stats->most[k] == stats->least[k]) continue;
        varying++;
        if (!isfinite(d->step_least[k])) continue;
        const bool is_sure = is_heading_of_numbers(source, k) || has_their_range(d, stats, k);
        if (!is_sure && (d->n < ROWS_LEAST || d->step_least[k] != d->step_most[k])) continue;
        if (found < NUMBERS_MOST) {
            out->column[found] = k;
            out->is_regular[found] = !is_sure;
        }
        found++;
    }
    out->count = found <= NUMBERS_MOST && 2 * found <= varying ? found : 0;
}

static void take_values(ikt_context *ctx, void *self, const double *rows, ikt_row_range part,
                        bool is_end) {
    const numbering *n = self;
    (void)ctx;
    (void)is_end;
    for (int64_t i = 0; i < part.count; i++)
        for (int64_t c = 0; c < n->count; c++)
            n->value[c * n->rows + part.first + i] = rows[i * n->d + n->column[c]];
}

/* LOCAL. Whether values count on in equal steps within the blocks that the sample is made of. */
static bool counts_on(const double *value, int64_t rows) {
    for (int64_t i = 2; i < rows; i++)
        if (i % IKT_BLOCK_ROWS != 0 && value[i] - value[i - 1] != value[1] - value[0]) return false;
    return true;
}

/* LOCAL. Whether all are different. Sorts them. */
static bool are_different(double *value, int64_t rows) {
    ikt_sort_f64(value, rows);
    for (int64_t i = 1; i < rows; i++)
        if (value[i] == value[i - 1]) return false;
    return true;
}

/* One sentence for all of them. */
static void warn_of_columns(ikt_context *ctx, const ikt_source *source, const int64_t *column,
                            int64_t count, bool is_whole) {
    char names[400] = "", name[128], remedy[480] = "make a file of the data without them";
    bool has_names = true;
    for (int64_t c = 0; c < count; c++) {
        const bool has_name = ikt_source_column_name(source, column[c], name, sizeof name);
        has_names &= has_name;
        if (!has_name) snprintf(name, sizeof name, "%lld", (long long)column[c]);
        ikt_join(names, sizeof names, ",", "%s", name);
    }
    if (has_names)
        snprintf(remedy, sizeof remedy, "'%s' added to input.skip_columns leaves %s out", names,
                 count == 1 ? "it" : "them");
    ikt_log_numbers(ctx, IKT_LOG_WARN, IKT_LOG_NUMBERS(IKT_LOG_INT("columns", count)),
                    "%s: whole numbers that are all different%s, as row numbers are, count as a "
                    "feature like any other (column %s%s); %s",
                    ikt_source_name(source), is_whole ? "" : " in the rows looked at", names,
                    has_names ? "" : ", counted from 0", remedy);
}

static ikt_status tell_columns(ikt_context *ctx, const ikt_doubtful *doubtful,
                               const ikt_row_reader *sample, const ikt_column_stats *stats,
                               const ikt_source *source) {
    numbering n = {.d = doubtful->d, .rows = sample->n};
    int64_t count = 0;
    find_candidates(doubtful, stats, source, &n);
    if (n.count == 0) return IKT_OK;
    IKT_ARRAYS(held, ctx, purpose);
    n.value = ikt_claim(&held, n.count * n.rows, sizeof *n.value);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t e = 0; e < n.count * n.rows; e++)
        n.value[e] = -INFINITY;
    IKT_TRY(ikt_blocks_read(ctx, sample, &n, take_values));
    ikt_max_f64(ctx, n.value, n.count * n.rows);
    for (int64_t c = 0; c < n.count; c++) {
        double *value = n.value + c * n.rows;
        if (n.is_regular[c] && !counts_on(value, n.rows)) continue;
        if (are_different(value, n.rows)) n.column[count++] = n.column[c];
    }
    if (count > 0) warn_of_columns(ctx, source, n.column, count, n.rows == doubtful->n);
    return IKT_OK;
}

/* --- matrices of distances -------------------------------------------------------------------- */

/* SAME-ARGS. Where only a sample of the rows was seen symmetry is not known, and nothing is said.
 */
static bool looks_like_distances(const ikt_doubtful *d, const ikt_column_stats *stats) {
    double most = 0;
    if (!d->row_sum || d->n < 3 || d->diagonal != 0 || stats->n != d->n) return false;
    for (int64_t k = 0; k < d->d; k++) {
        if (stats->least[k] < 0) return false;
        most = fmax(most, stats->most[k]);
    }
    for (int64_t i = 0; i < d->n; i++) {
        if (2 * d->positive[i] < d->n - 1) return false;
        if (fabs(d->row_sum[i] / (double)d->n - stats->mean[i]) > sum_slack * most) return false;
    }
    return most > 0;
}

ikt_status ikt_doubtful_tell(ikt_context *ctx, ikt_doubtful *doubtful, const ikt_row_reader *sample,
                             const ikt_column_stats *stats, const ikt_source *source) {
    ikt_min_f64(ctx, doubtful->step_least, doubtful->d);
    ikt_max_f64(ctx, doubtful->step_most, doubtful->d);
    if (doubtful->row_sum) {
        ikt_max_f64(ctx, doubtful->row_sum, doubtful->n);
        ikt_max_i64(ctx, doubtful->positive, doubtful->n);
        ikt_max_f64(ctx, &doubtful->diagonal, 1);
    }
    if (looks_like_distances(doubtful, stats)) {
        ikt_log(ctx, IKT_LOG_WARN,
                "%s: a square matrix that is symmetric with zeros on its diagonal is probably one "
                "of distances; preprocess.metric=precomputed takes it as that, and without it each "
                "row is taken as the coordinates of a point",
                ikt_source_name(source));
        return IKT_OK;
    }
    return tell_columns(ctx, doubtful, sample, stats, source);
}
