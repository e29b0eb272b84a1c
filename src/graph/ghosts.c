/* Local numbers for the columns of P.
 *
 * Method: one bit for each row of the whole set marks the foreign ones; a ghost's number is the
 * count of marks before its own. Advantage: no sorting of millions of columns, and a number costs
 * one look-up. Disadvantage: 3 n / 16 bytes on every rank while it works. */
#include "graph/ghosts.h"
#include <stdbool.h>

#include "base/memory.h"

typedef struct {
    const ikt_row_map *map;
    uint64_t *mark;   /* [words] bit r % 64 of word r / 64: row r is a ghost */
    uint32_t *before; /* [words] marks in the words before */
    int64_t words;
} marks;

static bool is_foreign(const ikt_row_map *map, uint32_t row) {
    return row < map->first || row >= map->first + map->count;
}

static void mark_part(ikt_context *ctx, marks *m, const ikt_csr *part) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < part->start[m->map->count]; e++) {
        uint32_t row = (uint32_t)part->column[e];
        if (!is_foreign(m->map, row)) continue;
        uint64_t bit = UINT64_C(1) << (row % 64), *word = &m->mark[row / 64], seen;
#pragma omp atomic read
        seen = *word;
        if (seen & bit) continue; /* most are marked already: no write, no contention */
#pragma omp atomic update
        *word |= bit;
    }
}

static int64_t count_marks(marks *m) {
    int64_t total = 0;
    for (int64_t w = 0; w < m->words; w++) {
        m->before[w] = (uint32_t)total;
        total += __builtin_popcountll(m->mark[w]);
    }
    return total;
}

static void list_marks(const marks *m, int64_t *row) {
    for (int64_t w = 0; w < m->words; w++)
        for (uint64_t left = m->mark[w]; left; left &= left - 1)
            *row++ = 64 * w + __builtin_ctzll(left);
}

static int32_t local_number(const marks *m, uint32_t row) {
    if (!is_foreign(m->map, row)) return (int32_t)(row - m->map->first);
    uint64_t below = (UINT64_C(1) << (row % 64)) - 1;
    return (int32_t)(m->map->count + m->before[row / 64] +
                     __builtin_popcountll(m->mark[row / 64] & below));
}

static void number_part(ikt_context *ctx, const marks *m, const ikt_csr *part) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < part->start[m->map->count]; e++)
        part->column[e] = local_number(m, (uint32_t)part->column[e]);
}

static ikt_status check_count(ikt_context *ctx, const ikt_graph *graph) {
    int64_t count = graph->map.count + graph->n_ghost;
    if (count <= INT32_MAX) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "rank %d would hold %lld rows and boundary rows, more than 2^31: use more "
                    "ranks",
                    ikt_rank(ctx), (long long)count);
}

ikt_status ikt_ghosts_number(ikt_context *ctx, ikt_graph *graph) {
    marks m = {&graph->map, NULL, NULL, graph->map.n / 64 + 1};
    ikt_status st = ikt_alloc(ctx, &m.mark, m.words, sizeof *m.mark, "ghosts");
    if (st == IKT_OK) st = ikt_alloc(ctx, &m.before, m.words, sizeof *m.before, "ghosts");
    if (st == IKT_OK) {
        mark_part(ctx, &m, &graph->forward);
        mark_part(ctx, &m, &graph->reverse);
        graph->n_ghost = count_marks(&m);
        st = check_count(ctx, graph);
    }
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &graph->ghost_row, graph->n_ghost, sizeof *graph->ghost_row, "graph");
    if (st == IKT_OK) {
        list_marks(&m, graph->ghost_row);
        number_part(ctx, &m, &graph->forward);
        number_part(ctx, &m, &graph->reverse);
    }
    ikt_free(&m.mark);
    ikt_free(&m.before);
    return st;
}
