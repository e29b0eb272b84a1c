/* Rows from which all rows are looked at. See queries.h. */
#include "evaluate/queries.h"

#include <omp.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/sort.h"
#include "evaluate/tree.h"
#include "isolation/similarity.h"
#include "linalg/blocks.h"
#include "metric/metric.h"

enum { TILE_ROWS = 512, TILE_QUERIES = 8 }; /* of one call of the kernel */
enum { BLOCK = 4096 }; /* own rows against which the codes of all queries go at a time */

/* --- in the input ----------------------------------------------------------------------------- */

static int64_t tiles_of(int64_t rows) {
    return (rows + TILE_ROWS - 1) / TILE_ROWS;
}

/* The arrays and how many floats each has, for allocation and prediction alike. */
enum { DISTANCE, QUERY, PART, STREAM, PACKED, TILE, ARRAYS };

static void find_sizes(int64_t n, int64_t d, int64_t batch, int ranks, int threads,
                       int64_t floats[ARRAYS]) {
    const int64_t block = ikt_smaller(ikt_stream_rows(d, sizeof(float)), n);
    floats[DISTANCE] = batch * ikt_packed_rows(n);
    floats[QUERY] = batch * d;
    floats[PART] = ranks > 1 ? (block + ranks - 1) / ranks * d : 0;
    floats[STREAM] = block * d;
    floats[PACKED] = tiles_of(block) * ikt_packed_floats(TILE_ROWS, d);
    floats[TILE] = (int64_t)threads * TILE_QUERIES * TILE_ROWS;
}

/* Blocks are of dense rows, which wide sparse rows may be too wide for. */
static ikt_status create_input(ikt_arrays *held, ikt_distances *w) {
    ikt_context *ctx = held->ctx;
    const int64_t n = w->rows.n, d = ikt_dataset_columns(w->data);
    float **const array[ARRAYS] = {&w->distance, &w->query,  &w->part,
                                   &w->stream,   &w->packed, &w->tile};
    int64_t floats[ARRAYS], bytes = 0;
    w->d = d;
    if (ikt_dataset_pairs(w->data)) { /* its rows are what is wanted */
        w->stride = n;
        w->distance = ikt_claim(held, w->batch * n, sizeof *w->distance);
        return held->status;
    }
    w->stride = ikt_packed_rows(n);
    w->block = ikt_smaller(ikt_stream_rows(d, sizeof(float)), n);
    find_sizes(n, d, w->batch, ikt_size(ctx), ikt_threads(ctx), floats);
    for (int a = 0; a < ARRAYS; a++)
        bytes += floats[a] * (int64_t)sizeof(float);
    if (ikt_dataset_is_sparse(w->data) && bytes > ikt_memory_available(ctx) / 2)
        return ikt_fail(
            ctx, IKT_ERR_RESOURCE,
            "measures of the input take sparse rows dense: with the %lld columns of %s that "
            "is %.1f GB a rank; leave them out (output.measures=map), or compare with "
            "the Isolation kernel's neighbours (`iktsne evaluate --kernel --measures kernel`)",
            (long long)d, ikt_dataset_name(w->data), (double)bytes / 1e9);
    for (int a = 0; a < ARRAYS; a++)
        *array[a] = ikt_claim(held, floats[a], sizeof(float));
    return held->status;
}

/* Rows from row[0] on that follow one another without a gap. */
static int64_t run_length(const int64_t *row, int64_t count) {
    int64_t length = 0;
    while (length < count && row[length] == row[0] + length)
        length++;
    return length;
}

/* COLLECTIVE. Coordinates of the queries, or their distances to all rows where the input is a
 * matrix of these, a run of consecutive rows at a time; ranks with fewer
 * runs read nothing at the end. */
static ikt_status read_queries(ikt_context *ctx, ikt_distances *work, const int64_t *row,
                               int64_t count, float *to) {
    int64_t runs = 0, done = 0;
    for (int64_t q = 0; q < count; runs++)
        q += run_length(row + q, count - q);
    runs = ikt_max_one(ctx, runs);
    for (int64_t run = 0; run < runs; run++) {
        int64_t length = run_length(row + done, count - done);
        int64_t first = length > 0 ? row[done] : 0;
        IKT_TRY(ikt_dataset_read(work->data, first, length, to + done * work->d));
        done += length;
    }
    return IKT_OK;
}

static float *packed_tile(const ikt_distances *work, int64_t tile) {
    return work->packed + tile * ikt_packed_floats(TILE_ROWS, work->d);
}

/* The queries against the block of rows that begins at row `first`. */
static void score_block(ikt_context *ctx, const ikt_distances *work, int64_t queries, int64_t first,
                        int64_t rows) {
    const ikt_metric *metric = ikt_metric_of(work->data);
    int64_t tiles = tiles_of(rows), groups = (queries + TILE_QUERIES - 1) / TILE_QUERIES;
#pragma omp parallel num_threads(ikt_threads(ctx))
    {
#pragma omp for
        for (int64_t t = 0; t < tiles; t++)
            ikt_pack_rows(work->stream + t * TILE_ROWS * work->d,
                          ikt_smaller(TILE_ROWS, rows - t * TILE_ROWS), work->d,
                          packed_tile(work, t));
            /* All queries meet one tile before the next, so that it stays in the cache. */
#pragma omp for
        for (int64_t w = 0; w < tiles * groups; w++) {
            const int64_t t = w / groups, q = w % groups * TILE_QUERIES;
            const int64_t some = ikt_smaller(TILE_QUERIES, queries - q);
            const int64_t of_tile = ikt_smaller(TILE_ROWS, rows - t * TILE_ROWS);
            const int64_t width = ikt_packed_rows(of_tile);
            float *result = work->tile + (int64_t)omp_get_thread_num() * TILE_QUERIES * TILE_ROWS;
            metric->on(ikt_cpu_isa())
                ->block(work->query + q * work->d, some, packed_tile(work, t), of_tile, work->d,
                        result);
            for (int64_t a = 0; a < some; a++)
                memcpy(work->distance + (q + a) * work->stride + first + t * TILE_ROWS,
                       result + a * width, (size_t)of_tile * sizeof *result);
        }
    }
}

static ikt_status fill_input(ikt_context *ctx, ikt_distances *work, const int64_t *row,
                             int64_t count) {
    if (ikt_dataset_pairs(work->data)) return read_queries(ctx, work, row, count, work->distance);
    IKT_TRY(read_queries(ctx, work, row, count, work->query));
    for (int64_t first = 0; first < work->rows.n; first += work->block) {
        const int64_t rows = ikt_smaller(work->block, work->rows.n - first);
        const ikt_rows share = ikt_rows_make(rows, ikt_size(ctx), ikt_rank(ctx));
        float *to = share.ranks > 1 ? work->part : work->stream;
        IKT_TRY(ikt_dataset_read(work->data, first + share.first, share.count, to));
        for (int r = 0; r < share.ranks; r++)
            work->counts[r] = ikt_rows_count(&share, r);
        if (share.ranks > 1) /* all get the whole block, of which each has read its part */
            ikt_allgather(ctx, work->part, share.count, (size_t)work->d * sizeof(float),
                          work->stream, work->counts);
        score_block(ctx, work, count, first, rows);
    }
    return IKT_OK;
}

/* --- by codes --------------------------------------------------------------------------------- */

static ikt_status create_code(ikt_arrays *held, ikt_distances *w) {
    const int64_t ranks = ikt_size(held->ctx), asked = ranks * w->batch, n = w->rows.n;
    w->stride = n;
    w->distance = ikt_claim(held, w->batch * n, sizeof *w->distance);
    w->asked = ikt_claim(held, asked, sizeof *w->asked);
    w->code = ikt_claim(held, asked * w->codes->stride, 1);
    w->out = ikt_claim(held, asked * w->rows.count, sizeof *w->out);
    w->in = ikt_claim(held, w->batch * n, sizeof *w->in);
    w->leave = ikt_claim(held, ranks, sizeof *w->leave);
    w->come = ikt_claim(held, ranks, sizeof *w->come);
    return held->status;
}

static ikt_status fill_code(ikt_context *ctx, ikt_distances *w, const int64_t *row, int64_t count) {
    const ikt_code_shape shape = {w->codes->t, w->codes->stride, w->codes->width};
    const char *own = (const char *)w->codes->code;
    int64_t total = 0;
    ikt_gather_counts(ctx, count, w->counts);
    for (int r = 0; r < ikt_size(ctx); r++) {
        total += w->counts[r];
        w->leave[r] = w->counts[r] * w->rows.count;
        w->come[r] = count * ikt_rows_count(&w->rows, r);
    }
    ikt_allgather(ctx, row, count, sizeof *row, w->asked, w->counts);
    /* Codes of all queries on every rank: the owner's bytes, added to the others' zeros. Strides
     * are multiples of 64, so the bytes are whole integers. */
    for (int64_t q = 0; q < total; q++) {
        const int64_t i = w->asked[q] - w->rows.first;
        if (i >= 0 && i < w->rows.count)
            memcpy(w->code + q * shape.stride, own + i * shape.stride, (size_t)shape.stride);
        else
            memset(w->code + q * shape.stride, 0, (size_t)shape.stride);
    }
    ikt_sum_i64(ctx, (int64_t *)(void *)w->code, total * shape.stride / (int64_t)sizeof(int64_t));
    /* Counts of equal cells of all queries with the own rows. */
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
    for (int64_t first = 0; first < w->rows.count; first += BLOCK)
        ikt_similarity_block(ikt_cpu_isa(), shape, w->code, total, own + first * shape.stride,
                             ikt_smaller(BLOCK, w->rows.count - first), w->out + first,
                             w->rows.count);
    ikt_exchange(ctx, w->out, w->leave, w->in, w->come, sizeof *w->out);
    /* What came, rank after rank, becomes one row of distances a query. */
    const int64_t n = w->rows.n, t = w->codes->t;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t q = 0; q < count; q++)
        for (int r = 0; r < ikt_size(ctx); r++) {
            const int64_t first = ikt_rows_first(&w->rows, r), rows = ikt_rows_count(&w->rows, r);
            const uint16_t *equal = w->in + count * first + q * rows;
            for (int64_t j = 0; j < rows; j++)
                w->distance[q * n + first + j] = (float)(t - equal[j]);
        }
    return IKT_OK;
}

/* --- in either -------------------------------------------------------------------------------- */

ikt_status ikt_distances_create(ikt_arrays *held, const ikt_measured *what, bool by_code,
                                int64_t batch, ikt_distances *out) {
    *out = (ikt_distances){.rows = what->rows,
                           .data = by_code ? NULL : what->data,
                           .codes = by_code ? what->codes : NULL,
                           .batch = batch,
                           .counts = ikt_claim(held, ikt_size(held->ctx), sizeof *out->counts)};
    IKT_TRY(held->status);
    return by_code ? create_code(held, out) : create_input(held, out);
}

static int64_t distances_memory(const ikt_measure_extent *extent, bool by_code, int64_t batch) {
    const int64_t n = extent->n, ranks = extent->ranks, own = (n + ranks - 1) / ranks;
    const int64_t count = (int64_t)sizeof(uint16_t), real = (int64_t)sizeof(float);
    int64_t floats[ARRAYS], bytes = ranks * (int64_t)sizeof(int64_t);
    if (by_code)
        return 3 * bytes + batch * n * (real + count) +
               ranks * batch * ((int64_t)sizeof(int64_t) + extent->stride + own * count);
    find_sizes(n, extent->d, batch, extent->ranks, extent->threads, floats);
    for (int a = 0; a < ARRAYS; a++)
        bytes += floats[a] * real;
    return bytes;
}

ikt_status ikt_distances_fill(ikt_context *ctx, ikt_distances *work, const int64_t *row,
                              int64_t count) {
    return work->codes ? fill_code(ctx, work, row, count) : fill_input(ctx, work, row, count);
}

/* --- rows from which all are looked at ------------------------------------------------------- */

/* The work space in which a thread ranks rows. */
typedef struct {
    ikt_radix radix;
    float *distance; /* [n] in the map */
} ranker;

typedef struct {
    ikt_context *ctx;
    const ikt_query_observer *observers;
    int observer_count;
    const float *y; /* [n * q] */
    int64_t n, q;
    bool wants_ranks;
    int64_t count, *query; /* of this rank, ascending rows */
    int64_t batch;         /* queries in it at most */
    ikt_distances distances;
    ranker *rankers; /* [threads] */
    ikt_arrays held;
} pass;

static void pass_free(pass *p) {
    for (int t = 0; p->rankers && t < ikt_threads(p->ctx); t++)
        ikt_radix_destroy(&p->rankers[t].radix);
    ikt_arrays_free(&p->held);
}

int64_t ikt_queries_count(const ikt_measure_settings *settings, int64_t n) {
    return n <= settings->exact_limit || settings->sample >= n ? n : settings->sample;
}

/* Queries in a batch: what the memory allows, whole tiles of 8 where it allows as many, and no more
 * than the rank with the most queries has. */
static int64_t batch_of(const ikt_measure_settings *settings, int64_t n, int ranks) {
    int64_t batch = settings->batch_bytes / (ikt_packed_rows(n) * (int64_t)sizeof(float));
    int64_t most = (ikt_queries_count(settings, n) + ranks - 1) / ranks;
    batch = batch >= 8 ? batch / 8 * 8 : batch;
    return ikt_smaller(ikt_larger(batch, 1), most);
}

int64_t ikt_queries_memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent,
                           bool by_code, bool ranks) {
    const int64_t n = extent->n, batch = batch_of(settings, n, extent->ranks);
    const int64_t most = (ikt_queries_count(settings, n) + extent->ranks - 1) / extent->ranks;
    int64_t bytes = most * (int64_t)sizeof(int64_t) + extent->threads * (int64_t)sizeof(ranker);
    if (ranks) bytes += extent->threads * (ikt_radix_memory(n) + n * (int64_t)sizeof(float));
    return bytes + distances_memory(extent, by_code, batch);
}

int64_t ikt_label_queries(const ikt_measure_settings *settings, int64_t n) {
    const bool is_all =
        n <= settings->label_limit || n <= settings->exact_limit || n <= settings->label_sample;
    return is_all ? n : settings->label_sample;
}

void ikt_queries_draw(uint64_t seed, int64_t n, const ikt_rows *share, int64_t *query) {
    if (share->n == n) {
        for (int64_t q = 0; q < share->count; q++)
            query[q] = share->first + q;
        return;
    }
    int64_t found = 0, end = share->first + share->count;
    for (int64_t row = 0; row < n && found < end; row++) {
        double chance = (double)(share->n - found) / (double)(n - row);
        if (ikt_rng_uniform(seed, IKT_RNG_SAMPLE, row, 0) >= chance) continue;
        if (found >= share->first) query[found - share->first] = row;
        found++;
    }
}

static ikt_status allocate(pass *p, const ikt_measured *what, bool by_code) {
    const int threads = ikt_threads(p->ctx);
    p->query = ikt_claim(&p->held, p->count, sizeof *p->query);
    p->rankers = ikt_claim(&p->held, threads, sizeof *p->rankers);
    IKT_TRY(p->held.status);
    for (int t = 0; p->wants_ranks && t < threads; t++) {
        IKT_TRY(ikt_radix_create(p->ctx, p->n, &p->rankers[t].radix));
        p->rankers[t].distance = ikt_claim(&p->held, p->n, sizeof(float));
    }
    return ikt_distances_create(&p->held, what, by_code, p->batch, &p->distances);
}

/* Shows a query to the observers, with the ranks of all rows from it where one wants them. */
static void show(const pass *p, int64_t row, float *distance) {
    const int thread = omp_get_thread_num();
    ranker *r = &p->rankers[thread];
    ikt_query query = {.row = row, .thread = thread, .distance = distance};
    if (p->wants_ranks) {
        const float own = distance[row];
        distance[row] = -1; /* the query itself comes first */
        ikt_radix_ranks(&r->radix, distance, r->radix.rank[0]);
        distance[row] = own;
        ikt_embedding_distances(p->y, p->n, p->q, p->y + p->q * row, r->distance);
        r->distance[row] = -1;
        ikt_radix_ranks(&r->radix, r->distance, r->radix.rank[1]);
        query.high = r->radix.rank[0];
        query.low = r->radix.rank[1];
    }
    for (int o = 0; o < p->observer_count; o++)
        if (p->observers[o].see) p->observers[o].see(p->observers[o].self, &query);
}

ikt_status ikt_queries_run(ikt_context *ctx, const ikt_measure_settings *settings,
                           const ikt_measured *what, const float *y, bool by_code,
                           const ikt_query_observer *observers, int count) {
    const int64_t n = what->rows.n;
    ikt_rows share = ikt_rows_make(ikt_queries_count(settings, n), ikt_size(ctx), ikt_rank(ctx));
    pass p IKT_AT_END(pass_free) = {.ctx = ctx,
                                    .observers = observers,
                                    .observer_count = count,
                                    .y = y,
                                    .n = n,
                                    .q = what->q,
                                    .count = share.count,
                                    .batch = batch_of(settings, n, ikt_size(ctx)),
                                    .held = ikt_arrays_of(ctx, "measures")};
    bool any = false;
    for (int o = 0; o < count; o++) {
        any = any || observers[o].see;
        p.wants_ranks = p.wants_ranks || (observers[o].see && observers[o].wants_ranks);
    }
    if (!any) return IKT_OK;
    IKT_TRY(ikt_agree(ctx, allocate(&p, what, by_code)));
    ikt_queries_draw(settings->seed, n, &share, p.query);
    /* Batch by batch; ranks that have fewer queries take part with empty batches. */
    const int64_t steps = ikt_max_one(ctx, (p.count + p.batch - 1) / p.batch);
    for (int64_t step = 0; step < steps; step++) {
        const int64_t first = ikt_smaller(step * p.batch, p.count);
        const int64_t some = ikt_smaller(p.batch, p.count - first);
        IKT_TRY(ikt_distances_fill(ctx, &p.distances, p.query + first, some));
#pragma omp parallel for schedule(dynamic, 4) num_threads(ikt_threads(ctx))
        for (int64_t q = 0; q < some; q++)
            show(&p, p.query[first + q], p.distances.distance + q * p.distances.stride);
        ikt_progress(ctx, "batches of queries", step + 1, steps, NULL);
    }
    return IKT_OK;
}
