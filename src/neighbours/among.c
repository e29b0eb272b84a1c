/* The most similar of a few rows, tile by tile. */
#include "neighbours/among.h"

#include <omp.h>

#include "base/memory.h"

/* Own rows and others of a tile of scores: both and their scores stay in the second-level cache. */
enum { OWN_ROWS = 64, OTHERS = 256, NOBODY = -1 };

static void offer_tile(const ikt_scorer *scorer, int64_t first, int64_t rows, const char *packed,
                       int64_t from, int64_t others, float *tile, ikt_neighbours *lists) {
    const int64_t k = lists->k;
    scorer->score(scorer->self, first, rows, packed + scorer->packed_bytes(scorer->self, from),
                  others, tile);
    for (int64_t a = 0; a < rows; a++)
        ikt_best_offer_row(lists->score + (first + a) * k, lists->row + (first + a) * k, k, NOBODY,
                           from, others, tile + a * ikt_score_stride(others));
}

ikt_status ikt_neighbours_among(ikt_context *ctx, const ikt_scorer *scorer, const void *packed,
                                int64_t few, ikt_neighbours *lists) {
    const int64_t k = lists->k, count = scorer->map.count;
    float *tiles = NULL;
    IKT_TRY(ikt_alloc(ctx, &tiles, (int64_t)ikt_threads(ctx) * OWN_ROWS * OTHERS, sizeof *tiles,
                      "neighbours"));
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
    for (int64_t first = 0; first < count; first += OWN_ROWS) {
        float *tile = tiles + (int64_t)omp_get_thread_num() * OWN_ROWS * OTHERS;
        int64_t rows = count - first < OWN_ROWS ? count - first : OWN_ROWS;
        for (int64_t a = first; a < first + rows; a++)
            ikt_best_clear(lists->score + a * k, lists->row + a * k, k);
        for (int64_t from = 0; from < few; from += OTHERS)
            offer_tile(scorer, first, rows, packed, from, few - from < OTHERS ? few - from : OTHERS,
                       tile, lists);
        for (int64_t a = first; a < first + rows; a++)
            ikt_best_sort(lists->score + a * k, lists->row + a * k, k);
    }
    ikt_free(&tiles);
    return IKT_OK;
}
