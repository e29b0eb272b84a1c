/* A source after normalisation and reduction. See dataset.h. */
#include "data/dataset.h"

#include <omp.h>
#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "data/dataset_parts.h"
#include "data/row_check.h"
#include "dist/rows.h"
#include "linalg/blocks.h"
#include "linalg/dot_tile.h"
#include "linalg/pca.h"

enum {
    GROUP = IKT_TILE_ROWS,      /* rows that a thread maps at a time */
    SPARSE_REDUCED_MOST = 16384 /* columns of sparse rows that principal components are found of */
};

/* Where the rows of a read go: a step's native rows are in d->native. */
typedef void sink(ikt_dataset *d, int64_t count, void *out);

static const void *native_row(const ikt_dataset *d, int64_t i) {
    return d->native + (size_t)i * d->row_bytes;
}

/* COLLECTIVE where the map is lent. `row`: number in the source of the bad row, if there is one. */
static ikt_status check_block(ikt_dataset *d, int64_t row) {
    if (!d->is_lent) return IKT_OK;
    ikt_status status = IKT_OK;
    if (d->bad >= 0)
        status = ikt_row_refuse(d->ctx, d->source, row, native_row(d, d->bad), d->work);
    return ikt_agree(d->ctx, status);
}

/* COLLECTIVE. Reads rows in blocks and passes each to `put`, which advances by out_bytes a row. */
static ikt_status stream(ikt_dataset *d, int64_t first, int64_t count, sink *put, void *out,
                         size_t out_bytes) {
    int64_t steps = ikt_stream_steps(d->ctx, count, d->block);
    for (int64_t step = 0; step < steps; step++) {
        ikt_row_range at = ikt_stream_step((ikt_row_range){first, count}, d->block, step);
        IKT_TRY(ikt_source_read(d->source, at.first, at.count, d->native));
        put(d, at.count, (char *)out + (size_t)(at.first - first) * out_bytes);
        IKT_TRY(check_block(d, at.first + d->bad));
    }
    return IKT_OK;
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

/* Maps one group of rows in this thread's work space. */
static void map_group(const ikt_dataset *d, ikt_type type, int64_t i, int64_t count, double *work,
                      float *out) {
    double *result = work;
    for (int64_t row = 0; row < count; row++)
        ikt_normaliser_row(&d->normaliser, type, native_row(d, i + row), work + row * d->d);
    if (d->pca) {
        result = work + GROUP * d->d;
        ikt_pca_project(d->pca, d->isa, work, count, result);
    }
    for (int64_t k = 0; k < count * d->columns; k++)
        out[k] = (float)result[k];
}

/* Sink: fully mapped rows in single precision. */
static void put_mapped(ikt_dataset *d, int64_t count, void *out) {
    float *rows = out;
    ikt_type type = ikt_source_type(d->source);
#pragma omp parallel for num_threads(threads_now(d))
    for (int64_t i = 0; i < count; i += GROUP) {
        int64_t now = count - i < GROUP ? count - i : GROUP;
        double *work = d->work + omp_get_thread_num() * d->work_stride;
        map_group(d, type, i, now, work, rows + i * d->columns);
    }
    d->bad = d->is_lent ? ikt_rows_find_bad(rows, count, d->columns) : -1;
}

/* Sink: fully mapped rows, widened. */
static void put_widened(ikt_dataset *d, int64_t count, void *out) {
    double *rows = out;
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
    if (d->from_sparse) return ikt_dataset_fill_doubles(d, first, count, rows);
    return stream(d, first, count, put_widened, rows, (size_t)d->columns * sizeof(double));
}

/* COLLECTIVE. Fits the components to the normalised rows. */
static ikt_status reduce(ikt_dataset *d, int64_t k) {
    ikt_row_reader reader = {read_normalised, d, d->n, d->d, ikt_source_name(d->source)};
    ikt_stage_begin(d->ctx, IKT_STAGE_PCA);
    ikt_status status = ikt_pca_fit(d->ctx, &reader, k, &d->fitted);
    ikt_stage_end(d->ctx, IKT_STAGE_PCA);
    IKT_TRY(status);
    d->pca = d->fitted;
    double kept = 0;
    for (int64_t m = 0; m < k; m++)
        kept += d->pca->variance[m];
    if (d->pca->total_variance > 0) kept /= d->pca->total_variance;
    ikt_log_numbers(d->ctx, IKT_LOG_STAGE,
                    (ikt_log_number[]){IKT_LOG_INT("columns", d->d),
                                       IKT_LOG_INT("components", k),
                                       IKT_LOG_REAL("variance", kept),
                                       {0}},
                    "%s: %lld columns -> %lld components with %.1f %% of the variance", reader.name,
                    (long long)d->d, (long long)k, 100 * kept);
    if (d->pca->rank < k)
        ikt_log(d->ctx, IKT_LOG_WARN,
                "%s: only %lld of %lld components have variance; the others are 0", reader.name,
                (long long)d->pca->rank, (long long)k);
    return IKT_OK;
}

/* Work space of dense rows; that of sparse ones grows as it is needed. */
static ikt_status allocate(ikt_dataset *d) {
    ikt_context *ctx = d->ctx;
    if (d->from_sparse) return IKT_OK;
    d->block = ikt_stream_rows(d->d, (int64_t)sizeof(double));
    d->threads = ikt_threads(ctx);
    d->work_stride = GROUP * (d->d + d->columns);
    IKT_TRY(ikt_alloc(ctx, &d->native, d->block, d->row_bytes, "row blocks"));
    IKT_TRY(ikt_alloc(ctx, &d->mapped, d->block * d->columns, sizeof(float), "row blocks"));
    return ikt_alloc(ctx, &d->work, d->threads * d->work_stride, sizeof(double), "row blocks");
}

static ikt_status prepare(ikt_dataset *d, const ikt_preprocess_settings *settings) {
    ikt_normalise mode = (ikt_normalise)settings->normalise;
    if (settings->pca > d->d)
        return ikt_fail(d->ctx, IKT_ERR_USAGE,
                        "preprocess.pca = %lld, but %s has only %lld columns; choose fewer "
                        "components, or 0 to keep all columns",
                        (long long)settings->pca, ikt_source_name(d->source), (long long)d->d);
    if (settings->pca > 0 && ikt_source_is_sparse(d->source) && d->d > SPARSE_REDUCED_MOST)
        return ikt_fail(d->ctx, IKT_ERR_USAGE,
                        "preprocess.pca = %lld would need a matrix of %lld x %lld columns of the "
                        "sparse rows of %s; it is possible up to %d columns: set preprocess.pca=0, "
                        "the Isolation kernel takes sparse rows as they are",
                        (long long)settings->pca, (long long)d->d, (long long)d->d,
                        ikt_source_name(d->source), SPARSE_REDUCED_MOST);
    IKT_TRY(ikt_normaliser_create(d->ctx, d->source, mode, &d->normaliser));
    d->from_sparse = d->is_sparse = ikt_source_is_sparse(d->source) && settings->pca == 0;
    IKT_TRY(ikt_agree(d->ctx, allocate(d)));
    if (settings->pca > 0) IKT_TRY(reduce(d, settings->pca));
    d->is_u8 = ikt_source_type(d->source) == IKT_TYPE_U8 && !d->pca && mode == IKT_NORMALISE_NONE;
    return IKT_OK;
}

/* A data set of the source's shape, with nothing decided yet. */
static ikt_status create(ikt_context *ctx, ikt_source *source, ikt_dataset **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "data set"));
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
    IKT_TRY(ikt_agree(ctx, create(ctx, source, out)));
    if (settings->pca > 0) (*out)->columns = settings->pca;
    ikt_stage_begin(ctx, IKT_STAGE_PREPROCESS);
    ikt_status status = prepare(*out, settings);
    ikt_stage_end(ctx, IKT_STAGE_PREPROCESS);
    if (status != IKT_OK) ikt_dataset_destroy(out);
    return status;
}

ikt_data_map ikt_dataset_map(const ikt_dataset *d) {
    return (ikt_data_map){d->normaliser, d->pca};
}

ikt_status ikt_dataset_create_mapped(ikt_context *ctx, ikt_source *source, const ikt_data_map *map,
                                     ikt_dataset **out) {
    ikt_status status = create(ctx, source, out);
    if (status == IKT_OK) {
        ikt_dataset *d = *out;
        d->is_lent = true;
        d->normaliser = map->normaliser;
        d->pca = map->pca;
        if (d->pca) d->columns = d->pca->k;
        d->from_sparse = d->is_sparse =
            ikt_source_is_sparse(source) && !d->pca && !map->normaliser.shift;
        d->is_u8 = ikt_source_type(source) == IKT_TYPE_U8 && !d->pca && !map->normaliser.scale &&
                   map->normaliser.mode == IKT_NORMALISE_NONE;
        status = allocate(d);
    }
    status = ikt_agree(ctx, status);
    if (status != IKT_OK) ikt_dataset_destroy(out);
    return status;
}

void ikt_dataset_destroy(ikt_dataset **dataset) {
    ikt_dataset *d = *dataset;
    if (!d) return;
    ikt_dataset_destroy(&d->model); /* first: it may use our map */
    ikt_source_close(&d->model_source);
    if (!d->is_lent) ikt_normaliser_free(&d->normaliser);
    ikt_pca_destroy(&d->fitted);
    ikt_free(&d->native);
    ikt_free(&d->mapped);
    ikt_free(&d->work);
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

ikt_status ikt_dataset_read(ikt_dataset *d, int64_t first, int64_t count, float *rows) {
    if (d->from_sparse) return ikt_dataset_fill_floats(d, first, count, rows);
    return stream(d, first, count, put_mapped, rows, (size_t)d->columns * sizeof(float));
}

ikt_status ikt_dataset_read_u8(ikt_dataset *d, int64_t first, int64_t count, uint8_t *rows) {
    return ikt_source_read(d->source, first, count, rows);
}

ikt_row_reader ikt_dataset_reader(ikt_dataset *d) {
    return (ikt_row_reader){read_widened, d, d->n, d->columns, ikt_source_name(d->source)};
}

/* Wanted rows from `rows` on, at most `left`, that one block starting at the first of them holds.
 */
static int64_t wanted_in_block(const ikt_dataset *d, const int64_t *rows, int64_t left) {
    int64_t count = 0;
    while (count < left && rows[count] - rows[0] < d->block)
        count++;
    return count;
}

/* Moves the wanted rows of the block just read to its front; they are in ascending order. */
static void compact(ikt_dataset *d, const int64_t *rows, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        memmove(d->native + (size_t)i * d->row_bytes, native_row(d, rows[i] - rows[0]),
                d->row_bytes);
}

/* COLLECTIVE. This rank's share of a gather; `out` has room for it. */
static ikt_status gather_share(ikt_dataset *d, const int64_t *rows, int64_t count, char *out,
                               size_t out_bytes) {
    int64_t steps = 0;
    for (int64_t i = 0; i < count; steps++)
        i += wanted_in_block(d, rows + i, count - i);
    steps = ikt_max_one(d->ctx, steps);
    for (int64_t step = 0, i = 0; step < steps; step++) {
        int64_t now = wanted_in_block(d, rows + i, count - i);
        int64_t first = now > 0 ? rows[i] : 0, span = now > 0 ? rows[i + now - 1] - first + 1 : 0;
        IKT_TRY(ikt_source_read(d->source, first, span, d->native));
        compact(d, rows + i, now);
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
    if (d->from_sparse) return ikt_dataset_fill_gathered(d, rows, count, out);
    int ranks = ikt_size(ctx);
    ikt_rows share = ikt_rows_make(count, ranks, ikt_rank(ctx));
    size_t bytes = (size_t)d->columns * (ikt_dataset_is_u8(d) ? 1 : sizeof(float));
    char *mine = (char *)out + (size_t)share.first * bytes;
    int64_t *counts = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &counts, ranks, sizeof *counts, "row blocks")));
    for (int rank = 0; rank < ranks; rank++)
        counts[rank] = ikt_rows_count(&share, rank);
    ikt_status status = gather_share(d, rows + share.first, share.count, mine, bytes);
    if (status == IKT_OK) ikt_allgather(ctx, mine, share.count, bytes, out, counts);
    ikt_free(&counts);
    return status;
}

ikt_status ikt_dataset_gather_floats(ikt_dataset *d, const int64_t *rows, int64_t count,
                                     float *out) {
    const int64_t entries = count * d->columns;
    uint8_t *bytes = NULL;
    if (!ikt_dataset_is_u8(d)) return ikt_dataset_gather(d, rows, count, out);
    ikt_status status = ikt_agree(d->ctx, ikt_alloc(d->ctx, &bytes, entries, 1, "row blocks"));
    if (status == IKT_OK) status = ikt_dataset_gather(d, rows, count, bytes);
    for (int64_t e = 0; status == IKT_OK && e < entries; e++)
        out[e] = (float)bytes[e];
    ikt_free(&bytes);
    return status;
}
