/* A source after normalisation and reduction. See dataset.h. */
#include "data/dataset.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/timer.h"
#include "data/missing.h"
#include "dist/rows.h"
#include "linalg/blocks.h"
#include "linalg/dot_tile.h"
#include "linalg/pca.h"

enum {
    GROUP = IKT_TILE_ROWS,    /* rows that a thread maps at a time */
    U8_COLUMNS_MOST = 1 << 23 /* whose absolute differences, below 2^8 each, add up below 2^31 */
};

/* Squared length of a sparse row that others' map may lead to, at most: distances between two such
 * rows fit single precision. */
static const double square_most = 1.6e37;

struct ikt_dataset {
    ikt_context *ctx;
    ikt_source *source;
    ikt_normaliser normaliser;
    const ikt_pca *pca; /* NULL: no reduction */
    ikt_pca *fitted;    /* the same where it is ours */
    bool is_borrowed;   /* the map is another's, and rows are checked as they are read */
    bool is_u8;         /* bytes reach the kernels as they are */
    bool from_sparse;   /* rows are held sparse and mapped so: no dense work space */
    bool is_sparse;     /* and the kernels get them so */
    int64_t bad;        /* a row of the block just mapped that cannot be used; -1: none */
    ikt_dataset *model; /* that centres are drawn from; NULL: this one */
    ikt_source *model_source;
    ikt_pairwise pairs; /* the source is a matrix of distances; empty otherwise */
    ikt_isa isa;
    int64_t n, d, columns;   /* d as read, columns after reduction */
    size_t row_bytes;        /* of the source */
    int64_t block;           /* rows read at a time */
    unsigned char *native;   /* [block] rows as read */
    float *mapped;           /* [block*columns] */
    ikt_sparse_rows entries; /* rows of a sparse source as read */
    ikt_sparse read;         /* the same mapped, while dense rows are made of them */
    int threads;             /* that `work` is for */
    int64_t work_stride;     /* doubles a thread: GROUP rows as read, GROUP rows mapped */
    double *work;
};

/* Where the rows of a read go: those of a step are in d->native, or in d->read. */
typedef void sink(ikt_dataset *d, int64_t count, void *out);

static const void *native_row(const ikt_dataset *d, int64_t i) {
    return d->native + (size_t)i * d->row_bytes;
}

/* --- rows that no statistic has seen ---------------------------------------------------------- */

/* First of `count` mapped rows that holds a value that is not finite, or so large that squared
 * distances leave single precision; -1: none. */
static int64_t find_bad(const float *rows, int64_t count, int64_t columns, bool is_manhattan) {
    /* (2 most)^2 columns fits a float, or (2 most columns)^2 */
    const float most = 4e18f / (is_manhattan ? (float)columns : sqrtf((float)columns));
    for (int64_t i = 0; i < count; i++) {
        bool good = true;
        for (int64_t k = 0; k < columns; k++)
            good &= fabsf(rows[i * columns + k]) <= most;
        if (!good) return i;
    }
    return -1;
}

static ikt_status refuse_far(const ikt_dataset *d, int64_t row) {
    return ikt_fail(d->ctx, IKT_ERR_DATA,
                    "%s, row %lld lies too far from the data that the model was made of for "
                    "distances in single precision; remove it, or bring it to the same units",
                    ikt_source_name(d->source), (long long)row);
}

/* COLLECTIVE where the map is borrowed. `row`: number in the source of the bad row, if there is
 * one. */
static ikt_status check_block(ikt_dataset *d, int64_t row) {
    const ikt_normaliser identity = {.mode = IKT_NORMALISE_NONE, .d = d->d};
    ikt_status st = IKT_OK;
    if (!d->is_borrowed) return IKT_OK;
    if (d->bad >= 0) {
        double *value = d->work;
        int64_t k = 0;
        ikt_normaliser_row(&identity, ikt_source_type(d->source), native_row(d, d->bad), value);
        while (k < d->d && isfinite(value[k]))
            k++;
        st = k == d->d ? refuse_far(d, row)
                       : ikt_fail(d->ctx, IKT_ERR_DATA,
                                  "%s, row %lld, column %lld (counted from 0): value is %s; remove "
                                  "the row or replace the value",
                                  ikt_source_name(d->source), (long long)row, (long long)k,
                                  isnan(value[k]) ? "NaN" : "infinite");
    }
    return ikt_agree(d->ctx, st);
}

/* --- sparse rows ------------------------------------------------------------------------------ */

int64_t ikt_dataset_entries(const ikt_dataset *d) {
    return ikt_source_entries(d->source);
}

int64_t ikt_dataset_longest_row(const ikt_dataset *d) {
    return ikt_source_longest_row(d->source);
}

int64_t ikt_dataset_block_rows(const ikt_dataset *d) {
    return ikt_source_block_rows(d->source);
}

ikt_status ikt_dataset_read_sparse(ikt_dataset *d, int64_t first, int64_t count, ikt_sparse *rows) {
    const ikt_sparse_rows *from = &d->entries;
    IKT_TRY(ikt_source_read_sparse(d->source, first, count, &d->entries));
    ikt_status st = IKT_OK;
    IKT_TRY(ikt_agree(d->ctx, ikt_sparse_reserve(d->ctx, count, from->start[count], rows)));
    rows->count = rows->start[0] = 0;
    rows->d = d->d;
#pragma omp parallel for num_threads(ikt_threads(d->ctx))
    for (int64_t i = 0; i < from->count; i++) { /* mapped where they are */
        const int64_t at = from->start[i];
        ikt_normaliser_entries(&d->normaliser, from->column + at, from->value + at,
                               from->start[i + 1] - at, from->value + at);
    }
    int64_t to = 0;
    for (int64_t i = 0; i < from->count; i++) { /* rounded to float32; what becomes 0 is dropped */
        for (int64_t e = from->start[i]; e < from->start[i + 1]; e++) {
            const float value = (float)from->value[e];
            if (value == 0) continue;
            rows->column[to] = from->column[e];
            rows->value[to++] = value;
        }
        rows->start[++rows->count] = to;
    }
    /* Rows under another's map are looked at as they are read; those of one's own map have been. */
    for (int64_t i = 0; st == IKT_OK && d->is_borrowed && i < rows->count; i++) {
        const ikt_sparse_row row = ikt_sparse_row_of(rows, i);
        const double length = ikt_sparse_length_l1(row);
        const bool is_manhattan = d->normaliser.metric == IKT_METRIC_MANHATTAN;
        if (!((is_manhattan ? length * length : ikt_sparse_norm(row)) <= square_most))
            st = refuse_far(d, first + i);
    }
    return ikt_agree(d->ctx, st);
}

/* Fills up sparse rows, as floats. */
static void fill_floats(const ikt_sparse *from, float *rows) {
    for (int64_t i = 0; i < from->count; i++) {
        memset(rows + i * from->d, 0, (size_t)from->d * sizeof *rows);
        ikt_sparse_fill(ikt_sparse_row_of(from, i), rows + i * from->d);
    }
}

/* --- dense rows ------------------------------------------------------------------------------- */

/* COLLECTIVE. Reads rows in blocks and passes each to `put`, which advances by out_bytes a row. */
static ikt_status stream(ikt_dataset *d, int64_t first, int64_t count, sink *put, void *out,
                         size_t out_bytes) {
    const int64_t steps = ikt_stream_steps(d->ctx, count, d->block);
    ikt_status st = IKT_OK;
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const ikt_row_range at = ikt_stream_step((ikt_row_range){first, count}, d->block, step);
        const int64_t from = at.count > 0 ? at.first : 0;
        st = d->from_sparse ? ikt_dataset_read_sparse(d, from, at.count, &d->read)
                            : ikt_source_read(d->source, from, at.count, d->native);
        if (st != IKT_OK) break;
        put(d, at.count, (char *)out + (size_t)(at.first - first) * out_bytes);
        if (!d->from_sparse) st = check_block(d, at.first + d->bad);
    }
    ikt_sparse_destroy(&d->read);
    return st;
}

static int threads_now(const ikt_dataset *d) {
    int threads = ikt_threads(d->ctx);
    return threads < d->threads ? threads : d->threads;
}

/* Sink: normalised rows in double precision, before any reduction. */
static void put_normalised(ikt_dataset *d, int64_t count, void *out) {
    double *rows = out;
    ikt_type type = ikt_source_type(d->source);
#pragma omp parallel for num_threads(threads_now(d))
    for (int64_t i = 0; i < count; i++)
        ikt_normaliser_row(&d->normaliser, type, native_row(d, i), rows + i * d->d);
}

/* Sink: fully mapped rows in single precision; each thread maps groups in its own work space. */
static void put_mapped(ikt_dataset *d, int64_t count, void *out) {
    float *rows = out;
    const ikt_type type = ikt_source_type(d->source);
    if (d->from_sparse) {
        fill_floats(&d->read, rows);
        return;
    }
#pragma omp parallel for num_threads(threads_now(d))
    for (int64_t i = 0; i < count; i += GROUP) {
        const int64_t now = count - i < GROUP ? count - i : GROUP;
        double *work = d->work + omp_get_thread_num() * d->work_stride, *result = work;
        for (int64_t row = 0; row < now; row++)
            ikt_normaliser_row(&d->normaliser, type, native_row(d, i + row), work + row * d->d);
        if (d->pca) {
            result = work + GROUP * d->d;
            ikt_pca_project(d->pca, d->isa, work, now, result);
        }
        for (int64_t k = 0; k < now * d->columns; k++)
            rows[i * d->columns + k] = (float)result[k];
    }
    d->bad = d->is_borrowed
                 ? find_bad(rows, count, d->columns, d->normaliser.metric == IKT_METRIC_MANHATTAN)
                 : -1;
}

/* Sink: fully mapped rows, widened. */
static void put_widened(ikt_dataset *d, int64_t count, void *out) {
    double *rows = out;
    if (d->from_sparse) {
        for (int64_t i = 0; i < count; i++) {
            const ikt_sparse_row row = ikt_sparse_row_of(&d->read, i);
            memset(rows + i * d->d, 0, (size_t)d->d * sizeof *rows);
            for (int64_t e = 0; e < row.count; e++)
                rows[i * d->d + row.column[e]] = (double)row.value[e];
        }
        return;
    }
    put_mapped(d, count, d->mapped);
    for (int64_t k = 0; k < count * d->columns; k++)
        rows[k] = (double)d->mapped[k];
}

static ikt_status read_normalised(void *self, int64_t first, int64_t count, double *rows) {
    ikt_dataset *d = self;
    return stream(d, first, count, put_normalised, rows, (size_t)d->d * sizeof(double));
}

static ikt_status read_widened(void *self, int64_t first, int64_t count, double *rows) {
    ikt_dataset *d = self;
    return stream(d, first, count, put_widened, rows, (size_t)d->columns * sizeof(double));
}

/* COLLECTIVE. Fits the components to the normalised rows, or to `most` of them. */
static ikt_status reduce(ikt_dataset *d, int64_t k, int64_t most) {
    ikt_strided_reader space;
    const ikt_row_reader all = {read_normalised, d, d->n, d->d, ikt_source_name(d->source)};
    const ikt_row_reader reader = ikt_strided_reader_make(d->ctx, &all, most, &space);
    IKT_TRY_STAGE(d->ctx, IKT_STAGE_PCA, ikt_pca_fit(d->ctx, &reader, k, &d->fitted));
    d->pca = d->fitted;
    double kept = 0;
    for (int64_t m = 0; m < k; m++)
        kept += d->pca->variance[m];
    if (d->pca->total_variance > 0) kept /= d->pca->total_variance;
    ikt_log_numbers(d->ctx, IKT_LOG_STAGE,
                    IKT_LOG_NUMBERS(IKT_LOG_INT("columns", d->d), IKT_LOG_INT("components", k),
                                    IKT_LOG_REAL("variance", kept), IKT_LOG_INT("rows", reader.n)),
                    "%s: %lld columns -> %lld components with %.1f %% of the variance (of %lld "
                    "rows)",
                    reader.name, (long long)d->d, (long long)k, 100 * kept, (long long)reader.n);
    if (d->pca->rank < k)
        ikt_log(d->ctx, IKT_LOG_WARN,
                "%s: only %lld of %lld components have variance; the others are 0", reader.name,
                (long long)d->pca->rank, (long long)k);
    return IKT_OK;
}

/* Work space of dense rows; that of sparse ones grows as it is needed. */
static ikt_status allocate(ikt_dataset *d) {
    ikt_context *ctx = d->ctx;
    if (d->from_sparse) {
        d->block = ikt_source_block_rows(d->source);
        return IKT_OK;
    }
    d->block = ikt_stream_rows(d->d, (int64_t)sizeof(double));
    d->threads = ikt_threads(ctx);
    d->work_stride = GROUP * (d->d + d->columns);
    IKT_TRY(ikt_alloc(ctx, &d->native, d->block, d->row_bytes, "row blocks"));
    IKT_TRY(ikt_alloc(ctx, &d->mapped, d->block * d->columns, sizeof(float), "row blocks"));
    return ikt_alloc(ctx, &d->work, d->threads * d->work_stride, sizeof(double), "row blocks");
}

/* COLLECTIVE. The source as a matrix of all distances, which is looked through once. */
static ikt_status prepare_pairs(ikt_dataset *d, const ikt_preprocess_settings *settings) {
    const bool is_kernel = settings->matrix == IKT_MATRIX_SIMILARITIES;
    d->normaliser = (ikt_normaliser){.mode = (ikt_normalise)settings->normalise, /* of nothing */
                                     .metric = IKT_METRIC_PRECOMPUTED,
                                     .d = d->d};
    if (settings->pca > 0)
        return ikt_fail(d->ctx, IKT_ERR_USAGE,
                        "preprocess.pca needs rows with coordinates, and preprocess.metric = "
                        "precomputed gives distances only");
    IKT_TRY(ikt_pairwise_lend(d->ctx, d->source, is_kernel, &d->pairs));
    d->pairs.is_indefinite = is_kernel && settings->is_indefinite;
    if (d->pairs.is_indefinite) return IKT_OK;
    return ikt_pairwise_check(d->ctx, &d->pairs);
}

static ikt_status prepare(ikt_dataset *d, const ikt_preprocess_settings *settings) {
    if (settings->metric == IKT_METRIC_PRECOMPUTED) return prepare_pairs(d, settings);
    const ikt_normalise mode = ikt_normalise_of(settings);
    const ikt_metric_kind metric = (ikt_metric_kind)settings->metric;
    IKT_TRY(ikt_preprocess_check(d->ctx, settings, ikt_source_name(d->source), d->d,
                                 ikt_source_is_sparse(d->source)));
    IKT_TRY(ikt_normaliser_create(d->ctx, d->source, mode, metric, &d->normaliser));
    d->from_sparse = d->is_sparse = ikt_source_is_sparse(d->source) && settings->pca == 0;
    IKT_TRY(ikt_agree(d->ctx, allocate(d)));
    if (settings->pca > 0) IKT_TRY(reduce(d, settings->pca, ikt_pca_rows(settings, d->n)));
    d->is_u8 = ikt_source_type(d->source) == IKT_TYPE_U8 && !d->pca &&
               d->normaliser.mode == IKT_NORMALISE_NONE && d->d <= U8_COLUMNS_MOST;
    return IKT_OK;
}

/* COLLECTIVE. A data set of the source's shape, with nothing decided yet. */
static ikt_status create(ikt_context *ctx, ikt_source *source, ikt_dataset **out) {
    IKT_TRY(ikt_alloc_all(ctx, out, 1, sizeof **out, "data set"));
    ikt_dataset *d = *out;
    d->ctx = ctx;
    d->source = source;
    d->isa = ikt_cpu_isa();
    d->bad = -1;
    d->n = ikt_source_rows(source);
    d->d = d->columns = ikt_source_columns(source);
    d->row_bytes = (size_t)d->d * ikt_type_size(ikt_source_type(source));
    return IKT_OK;
}

ikt_status ikt_dataset_create(ikt_context *ctx, ikt_source *source,
                              const ikt_preprocess_settings *settings, ikt_dataset **out) {
    IKT_TRY(create(ctx, source, out));
    if (settings->pca > 0) (*out)->columns = settings->pca;
    ikt_stage_begin(ctx, IKT_STAGE_PREPROCESS);
    ikt_status status = prepare(*out, settings);
    ikt_stage_end(ctx, IKT_STAGE_PREPROCESS);
    if (status != IKT_OK) ikt_dataset_destroy(out);
    return status;
}

ikt_source *ikt_dataset_source(const ikt_dataset *d) {
    return d->source;
}

const double *ikt_dataset_fill(const ikt_dataset *d) {
    return ikt_missing_fill(d->source);
}

ikt_data_map ikt_dataset_map(const ikt_dataset *d) {
    return (ikt_data_map){d->normaliser, d->pca};
}

ikt_status ikt_dataset_create_mapped(ikt_context *ctx, ikt_source *source, const ikt_data_map *map,
                                     ikt_dataset **out) {
    IKT_TRY(create(ctx, source, out));
    ikt_dataset *d = *out;
    d->is_borrowed = true;
    d->normaliser = map->normaliser;
    d->pca = map->pca;
    if (d->pca) d->columns = d->pca->k;
    d->from_sparse = d->is_sparse =
        ikt_source_is_sparse(source) && !d->pca && !map->normaliser.shift;
    d->is_u8 = ikt_source_type(source) == IKT_TYPE_U8 && !d->pca && !map->normaliser.scale &&
               map->normaliser.mode == IKT_NORMALISE_NONE && d->d <= U8_COLUMNS_MOST;
    const ikt_status status = ikt_agree(ctx, allocate(d));
    if (status != IKT_OK) ikt_dataset_destroy(out);
    return status;
}

void ikt_dataset_destroy(ikt_dataset **dataset) {
    ikt_dataset *d = *dataset;
    if (!d) return;
    ikt_dataset_destroy(&d->model); /* first: it may use our map */
    ikt_source_close(&d->model_source);
    if (!d->is_borrowed) ikt_normaliser_free(&d->normaliser);
    ikt_pca_destroy(&d->fitted);
    ikt_pairwise_close(&d->pairs);
    ikt_free_all(&d->native, &d->mapped, &d->work);
    ikt_sparse_rows_destroy(&d->entries);
    ikt_free(dataset);
}

void ikt_dataset_take_model(ikt_dataset *d, ikt_source **source, ikt_dataset **model) {
    d->model = *model;
    d->model_source = *source;
    d->is_u8 = d->model->is_u8 = d->is_u8 && d->model->is_u8;
    d->is_sparse = d->model->is_sparse = d->is_sparse && d->model->is_sparse;
    *model = NULL;
    *source = NULL;
}

ikt_dataset *ikt_dataset_model(ikt_dataset *d) {
    return d->model ? d->model : d;
}

const ikt_pairwise *ikt_dataset_pairs(const ikt_dataset *d) {
    return d->pairs.source ? &d->pairs : NULL;
}

ikt_metric_kind ikt_dataset_metric(const ikt_dataset *d) {
    return d->normaliser.metric;
}

int64_t ikt_dataset_rows(const ikt_dataset *d) {
    return d->n;
}

int64_t ikt_dataset_columns(const ikt_dataset *d) {
    return d->columns;
}

bool ikt_dataset_is_u8(const ikt_dataset *d) {
    return d->is_u8;
}

bool ikt_dataset_is_sparse(const ikt_dataset *d) {
    return d->is_sparse;
}

const char *ikt_dataset_name(const ikt_dataset *d) {
    return ikt_source_name(d->source);
}

/* Where the squared distances of some rows go. */
typedef struct {
    ikt_context *ctx;
    int64_t first, n;
    float *square; /* [rows * n] */
} pair_sink;

static ikt_status put_squares(void *self, int64_t first, int64_t count, const double *value) {
    const pair_sink *to = self;
    float *square = to->square + (first - to->first) * to->n;
#pragma omp parallel for num_threads(ikt_threads(to->ctx))
    for (int64_t e = 0; e < count * to->n; e++)
        square[e] = (float)(value[e] * value[e]);
    return IKT_OK;
}

static ikt_status read_pairs(ikt_dataset *d, int64_t first, int64_t count, float *rows) {
    const ikt_rows range = {.n = d->n, .ranks = 1, .first = first, .count = count};
    pair_sink to = {d->ctx, first, d->n, rows};
    return ikt_pairwise_read(d->ctx, &d->pairs, &range, put_squares, &to);
}

ikt_status ikt_dataset_read(ikt_dataset *d, int64_t first, int64_t count, float *rows) {
    if (d->pairs.source) return read_pairs(d, first, count, rows);
    return stream(d, first, count, put_mapped, rows, (size_t)d->columns * sizeof(float));
}

ikt_status ikt_dataset_read_u8(ikt_dataset *d, int64_t first, int64_t count, uint8_t *rows) {
    return ikt_source_read(d->source, first, count, rows);
}

ikt_row_reader ikt_dataset_reader(ikt_dataset *d) {
    return (ikt_row_reader){read_widened, d, d->n, d->columns, ikt_source_name(d->source)};
}

/* --- gathering -------------------------------------------------------------------------------- */

/* Wanted rows from `rows` on, at most `left`, that one block starting at the first of them holds.
 */
static int64_t wanted_in_block(const ikt_dataset *d, const int64_t *rows, int64_t left) {
    int64_t count = 0;
    while (count < left && rows[count] - rows[0] < d->block)
        count++;
    return count;
}

/* Blocks that it takes to read the wanted rows. */
static int64_t steps_of(const ikt_dataset *d, const int64_t *rows, int64_t count) {
    int64_t steps = 0;
    for (int64_t i = 0; i < count; steps++)
        i += wanted_in_block(d, rows + i, count - i);
    return ikt_max_one(d->ctx, steps);
}

/* COLLECTIVE. This rank's share of a gather, `out_bytes` a row. */
static ikt_status gather_share(ikt_dataset *d, const int64_t *rows, int64_t count, char *out,
                               size_t out_bytes) {
    const int64_t most = d->pairs.source ? ikt_max_one(d->ctx, count) : 0;
    for (int64_t i = 0; i < most; i++) /* whole rows of a matrix, one at a time */
        IKT_TRY(read_pairs(d, i < count ? rows[i] : 0, i < count,
                           (float *)(void *)(out + (size_t)(i < count ? i : 0) * out_bytes)));
    if (d->pairs.source) return IKT_OK;
    const int64_t steps = steps_of(d, rows, count);
    for (int64_t step = 0, i = 0; step < steps; step++) {
        int64_t now = wanted_in_block(d, rows + i, count - i);
        int64_t first = now > 0 ? rows[i] : 0, span = now > 0 ? rows[i + now - 1] - first + 1 : 0;
        IKT_TRY(ikt_source_read(d->source, first, span, d->native));
        for (int64_t w = 0; w < now; w++) /* to the front; they are in ascending order */
            memmove(d->native + (size_t)w * d->row_bytes, native_row(d, rows[i + w] - first),
                    d->row_bytes);
        char *target = out + (size_t)i * out_bytes;
        if (ikt_dataset_is_u8(d))
            memcpy(target, d->native, (size_t)now * out_bytes);
        else
            put_mapped(d, now, target);
        IKT_TRY(check_block(d, d->bad < 0 ? -1 : rows[i + d->bad]));
        i += now;
    }
    return IKT_OK;
}

ikt_status ikt_dataset_gather(ikt_dataset *d, const int64_t *rows, int64_t count, void *out) {
    ikt_context *ctx = d->ctx;
    if (d->from_sparse) {
        ikt_sparse gathered IKT_AT_END(ikt_sparse_destroy) = {0};
        IKT_TRY(ikt_dataset_gather_sparse(d, rows, count, &gathered));
        fill_floats(&gathered, out);
        return IKT_OK;
    }
    int ranks = ikt_size(ctx);
    ikt_rows share = ikt_rows_make(count, ranks, ikt_rank(ctx));
    size_t bytes = (size_t)d->columns * (ikt_dataset_is_u8(d) ? 1 : sizeof(float));
    char *mine = (char *)out + (size_t)share.first * bytes;
    int64_t *counts IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &counts, ranks, sizeof *counts, "row blocks"));
    for (int rank = 0; rank < ranks; rank++)
        counts[rank] = ikt_rows_count(&share, rank);
    IKT_TRY(gather_share(d, rows + share.first, share.count, mine, bytes));
    ikt_allgather(ctx, mine, share.count, bytes, out, counts);
    return IKT_OK;
}

/* The wanted ones among the rows just read, behind what `out` holds. */
static ikt_status append_wanted(const ikt_dataset *d, const ikt_sparse *read, int64_t first,
                                const int64_t *rows, int64_t count, ikt_sparse *out) {
    int64_t entries = out->start[out->count];
    for (int64_t i = 0; i < count; i++)
        entries += ikt_sparse_row_of(read, rows[i] - first).count;
    if (entries > out->entry_capacity) {
        const int64_t capacity = entries + entries / 2;
        IKT_TRY(ikt_resize(d->ctx, &out->column, capacity, sizeof *out->column, "sparse rows"));
        IKT_TRY(ikt_resize(d->ctx, &out->value, capacity, sizeof *out->value, "sparse rows"));
        out->entry_capacity = capacity;
    }
    for (int64_t i = 0; i < count; i++) {
        const ikt_sparse_row row = ikt_sparse_row_of(read, rows[i] - first);
        const int64_t at = out->start[out->count];
        if (row.count > 0) {
            memcpy(out->column + at, row.column, (size_t)row.count * sizeof *row.column);
            memcpy(out->value + at, row.value, (size_t)row.count * sizeof *row.value);
        }
        out->start[++out->count] = at + row.count;
    }
    return IKT_OK;
}

/* COLLECTIVE. The wanted rows of this rank, in `steps` blocks. */
static ikt_status read_wanted(ikt_dataset *d, const int64_t *wanted, int64_t count, int64_t steps,
                              ikt_sparse *own) {
    ikt_sparse read IKT_AT_END(ikt_sparse_destroy) = {0};
    for (int64_t step = 0, i = 0; step < steps; step++) {
        const int64_t now = wanted_in_block(d, wanted + i, count - i);
        const int64_t first = now > 0 ? wanted[i] : 0;
        const int64_t span = now > 0 ? wanted[i + now - 1] - first + 1 : 0;
        IKT_TRY(ikt_dataset_read_sparse(d, first, span, &read));
        IKT_TRY(ikt_agree(d->ctx, append_wanted(d, &read, first, wanted + i, now, own)));
        i += now;
    }
    return IKT_OK;
}

ikt_status ikt_dataset_gather_sparse(ikt_dataset *d, const int64_t *rows, int64_t count,
                                     ikt_sparse *out) {
    const ikt_rows share = ikt_rows_make(count, ikt_size(d->ctx), ikt_rank(d->ctx));
    const int64_t *wanted = rows + share.first, steps = steps_of(d, wanted, share.count);
    ikt_sparse own IKT_AT_END(ikt_sparse_destroy) = {.d = d->d};
    *out = (ikt_sparse){0};
    IKT_TRY(ikt_agree(d->ctx, ikt_sparse_reserve(d->ctx, share.count, 0, &own)));
    IKT_TRY(read_wanted(d, wanted, share.count, steps, &own));
    return ikt_sparse_join(d->ctx, &own, out);
}
