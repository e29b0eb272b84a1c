/* Distances of a batch of rows to all rows. See input_distances.h. */
#include "evaluate/input_distances.h"

#include <omp.h>
#include <string.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "dist/rows.h"
#include "linalg/blocks.h"
#include "metric/metric.h"

enum { TILE_ROWS = 512, TILE_QUERIES = 8 }; /* of one call of the kernel */

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t tiles_of(int64_t rows) {
    return (rows + TILE_ROWS - 1) / TILE_ROWS;
}

/* Floats of each array, as functions of the sizes: for allocation and prediction alike. */
typedef struct {
    int64_t distance, query, part, rows, packed, tile;
} sizes;

static sizes sizes_for(int64_t n, int64_t d, int64_t room, int ranks, int threads) {
    int64_t block = least(ikt_stream_rows(d, sizeof(float)), n);
    return (sizes){.distance = room * ikt_packed_rows(n),
                   .query = room * d,
                   .part = ranks > 1 ? (block + ranks - 1) / ranks * d : 0,
                   .rows = block * d,
                   .packed = tiles_of(block) * ikt_packed_floats(TILE_ROWS, d),
                   .tile = (int64_t)threads * TILE_QUERIES * TILE_ROWS};
}

int64_t ikt_input_distances_memory(int64_t n, int64_t d, int64_t room, int ranks, int threads) {
    sizes s = sizes_for(n, d, room, ranks, threads);
    int64_t floats = s.distance + s.query + s.part + s.rows + s.packed + s.tile;
    return floats * (int64_t)sizeof(float) + ranks * (int64_t)sizeof(int64_t);
}

ikt_status ikt_input_distances_create(ikt_context *ctx, ikt_dataset *data, int64_t room,
                                      ikt_input_distances *out) {
    int64_t n = ikt_dataset_rows(data), d = ikt_dataset_columns(data);
    sizes s = sizes_for(n, d, room, ikt_size(ctx), ikt_threads(ctx));
    *out = (ikt_input_distances){.data = data,
                                 .n = n,
                                 .d = d,
                                 .room = room,
                                 .stride = ikt_packed_rows(n),
                                 .block = least(ikt_stream_rows(d, sizeof(float)), n)};
    IKT_TRY(ikt_alloc(ctx, &out->distance, s.distance, sizeof(float), "measures"));
    IKT_TRY(ikt_alloc(ctx, &out->query, s.query, sizeof(float), "measures"));
    IKT_TRY(ikt_alloc(ctx, &out->part, s.part, sizeof(float), "measures"));
    IKT_TRY(ikt_alloc(ctx, &out->rows, s.rows, sizeof(float), "measures"));
    IKT_TRY(ikt_alloc(ctx, &out->packed, s.packed, sizeof(float), "measures"));
    IKT_TRY(ikt_alloc(ctx, &out->tile, s.tile, sizeof(float), "measures"));
    return ikt_alloc(ctx, &out->counts, ikt_size(ctx), sizeof *out->counts, "measures");
}

void ikt_input_distances_destroy(ikt_input_distances *work) {
    ikt_free(&work->distance);
    ikt_free(&work->query);
    ikt_free(&work->part);
    ikt_free(&work->rows);
    ikt_free(&work->packed);
    ikt_free(&work->tile);
    ikt_free(&work->counts);
}

/* Rows from row[0] on that follow one another without a gap. */
static int64_t run_length(const int64_t *row, int64_t count) {
    int64_t length = 0;
    while (length < count && row[length] == row[0] + length)
        length++;
    return length;
}

/* COLLECTIVE. Coordinates of the queries, a run of consecutive rows at a time; ranks with fewer
 * runs read nothing at the end. */
static ikt_status read_queries(ikt_context *ctx, ikt_input_distances *work, const int64_t *row,
                               int64_t count) {
    int64_t runs = 0, done = 0;
    for (int64_t q = 0; q < count; runs++)
        q += run_length(row + q, count - q);
    runs = ikt_max_one(ctx, runs);
    for (int64_t run = 0; run < runs; run++) {
        int64_t length = run_length(row + done, count - done);
        int64_t first = length > 0 ? row[done] : 0;
        IKT_TRY(ikt_dataset_read(work->data, first, length, work->query + done * work->d));
        done += length;
    }
    return IKT_OK;
}

/* COLLECTIVE. All ranks get `count` rows from `first` on, of which each reads its part. */
static ikt_status read_block(ikt_context *ctx, ikt_input_distances *work, int64_t first,
                             int64_t count) {
    if (ikt_size(ctx) == 1) return ikt_dataset_read(work->data, first, count, work->rows);
    ikt_rows rows = ikt_rows_make(count, ikt_size(ctx), ikt_rank(ctx));
    IKT_TRY(ikt_dataset_read(work->data, first + rows.first, rows.count, work->part));
    for (int r = 0; r < ikt_size(ctx); r++)
        work->counts[r] = ikt_rows_count(&rows, r);
    ikt_allgather(ctx, work->part, rows.count, (size_t)work->d * sizeof(float), work->rows,
                  work->counts);
    return IKT_OK;
}

static float *packed_tile(const ikt_input_distances *work, int64_t tile) {
    return work->packed + tile * ikt_packed_floats(TILE_ROWS, work->d);
}

/* Some queries against one tile of the block that begins at row `first`. */
static void score_tile(const ikt_input_distances *work, int64_t q, int64_t queries, int64_t tile,
                       int64_t first, int64_t rows) {
    int64_t width = ikt_packed_rows(rows);
    float *result = work->tile + (int64_t)omp_get_thread_num() * TILE_QUERIES * TILE_ROWS;
    ikt_metric_of(work->data)
        ->block(ikt_cpu_isa(), work->query + q * work->d, queries, packed_tile(work, tile), rows,
                work->d, result);
    for (int64_t a = 0; a < queries; a++)
        memcpy(work->distance + (q + a) * work->stride + first + tile * TILE_ROWS,
               result + a * width, (size_t)rows * sizeof *result);
}

static void score_block(ikt_context *ctx, const ikt_input_distances *work, int64_t queries,
                        int64_t first, int64_t rows) {
    int64_t tiles = tiles_of(rows), groups = (queries + TILE_QUERIES - 1) / TILE_QUERIES;
#pragma omp parallel num_threads(ikt_threads(ctx))
    {
#pragma omp for
        for (int64_t t = 0; t < tiles; t++)
            ikt_pack_rows(work->rows + t * TILE_ROWS * work->d,
                          least(TILE_ROWS, rows - t * TILE_ROWS), work->d, packed_tile(work, t));
            /* All queries meet one tile before the next, so that it stays in the cache. */
#pragma omp for
        for (int64_t w = 0; w < tiles * groups; w++) {
            int64_t t = w / groups, q = w % groups * TILE_QUERIES;
            score_tile(work, q, least(TILE_QUERIES, queries - q), t, first,
                       least(TILE_ROWS, rows - t * TILE_ROWS));
        }
    }
}

ikt_status ikt_input_distances_fill(ikt_context *ctx, ikt_input_distances *work, const int64_t *row,
                                    int64_t count) {
    IKT_TRY(read_queries(ctx, work, row, count));
    for (int64_t first = 0; first < work->n; first += work->block) {
        int64_t rows = least(work->block, work->n - first);
        IKT_TRY(read_block(ctx, work, first, rows));
        score_block(ctx, work, count, first, rows);
    }
    return IKT_OK;
}
