/* The most similar of a few rows, tile by tile. */
#include "neighbours/among.h"

#include <omp.h>

#include "base/memory.h"

/* Own rows and others of a tile of scores: both and their scores stay in the second-level cache. */
enum { OWN_ROWS = 64, OTHERS = 256, NOBODY = -1 };

static void offer_tile(const ikt_scorer *scorer, int64_t own, int64_t rows, const char *packed,
                       int64_t first, int64_t others, float *tile, ikt_neighbours *lists) {
    const int64_t k = lists->k;
    scorer->score(scorer->self, own, rows, packed, others, tile);
    for (int64_t a = 0; a < rows; a++)
        ikt_best_offer_row(lists->score + (own + a) * k, lists->row + (own + a) * k, k, NOBODY,
                           first, others, tile + a * ikt_score_stride(others));
}

ikt_status ikt_neighbours_offer_block(ikt_context *ctx, const ikt_scorer *scorer,
                                      const void *packed, int64_t first, int64_t few,
                                      ikt_neighbours *lists) {
    const int64_t count = scorer->rows.count;
    float *tiles = NULL;
    IKT_TRY(ikt_alloc(ctx, &tiles, (int64_t)ikt_threads(ctx) * OWN_ROWS * OTHERS, sizeof *tiles,
                      "neighbours"));
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
    for (int64_t own = 0; own < count; own += OWN_ROWS) {
        float *tile = tiles + (int64_t)omp_get_thread_num() * OWN_ROWS * OTHERS;
        int64_t rows = count - own < OWN_ROWS ? count - own : OWN_ROWS;
        for (int64_t from = 0; from < few; from += OTHERS)
            offer_tile(scorer, own, rows,
                       (const char *)packed + scorer->packed_bytes(scorer->self, from),
                       first + from, few - from < OTHERS ? few - from : OTHERS, tile, lists);
    }
    ikt_free(&tiles);
    return IKT_OK;
}

ikt_status ikt_neighbours_among(ikt_context *ctx, const ikt_scorer *scorer, const void *packed,
                                int64_t few, ikt_neighbours *lists) {
    const int64_t k = lists->k, count = scorer->rows.count;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t a = 0; a < count; a++)
        ikt_best_clear(lists->score + a * k, lists->row + a * k, k);
    IKT_TRY(ikt_neighbours_offer_block(ctx, scorer, packed, 0, few, lists));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t a = 0; a < count; a++)
        ikt_best_sort(lists->score + a * k, lists->row + a * k, k);
    return IKT_OK;
}
