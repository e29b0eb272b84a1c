/* Local numbers for the columns of P.
 *
 * Method: the foreign rows make a set (dist/rows.h), and a ghost's number is its place there. */
#include <stdbool.h>

#include "base/memory.h"
#include "dist/rows.h"
#include "graph/graph.h"

static bool is_foreign(const ikt_rows *rows, uint32_t row) {
    return row < rows->first || row >= rows->first + rows->count;
}

static void mark_part(ikt_context *ctx, const ikt_rows *rows, const ikt_csr *part,
                      ikt_row_set *ghosts) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < part->start[rows->count]; e++) {
        uint32_t row = (uint32_t)part->column[e];
        if (is_foreign(rows, row)) ikt_row_set_add(ghosts, row);
    }
}

static int32_t local_number(const ikt_rows *rows, const ikt_row_set *ghosts, uint32_t row) {
    if (!is_foreign(rows, row)) return (int32_t)(row - rows->first);
    return (int32_t)(rows->count + ikt_row_set_place(ghosts, row));
}

static void number_part(ikt_context *ctx, const ikt_rows *rows, const ikt_row_set *ghosts,
                        const ikt_csr *part) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < part->start[rows->count]; e++)
        part->column[e] = local_number(rows, ghosts, (uint32_t)part->column[e]);
}

static ikt_status check_count(ikt_context *ctx, const ikt_graph *graph) {
    int64_t count = graph->rows.count + graph->n_ghost;
    if (count <= INT32_MAX) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "rank %d would hold %lld rows and boundary rows, more than 2^31: use more "
                    "ranks",
                    ikt_rank(ctx), (long long)count);
}

static ikt_status list_ghosts(ikt_context *ctx, const ikt_row_set *ghosts, ikt_graph *graph) {
    uint32_t *row = NULL;
    ikt_status st = ikt_alloc(ctx, &row, ghosts->count, sizeof *row, "ghosts");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &graph->ghost_row, ghosts->count, sizeof *graph->ghost_row, "graph");
    if (st == IKT_OK) {
        ikt_row_set_list(ghosts, row);
        for (int64_t g = 0; g < ghosts->count; g++)
            graph->ghost_row[g] = row[g];
    }
    ikt_free(&row);
    return st;
}

ikt_status ikt_graph_number_ghosts(ikt_context *ctx, ikt_graph *graph) {
    const ikt_rows *rows = &graph->rows;
    ikt_row_set ghosts;
    ikt_status st = ikt_row_set_create(ctx, rows->n, &ghosts);
    if (st == IKT_OK) {
        mark_part(ctx, rows, &graph->forward, &ghosts);
        mark_part(ctx, rows, &graph->reverse, &ghosts);
        ikt_row_set_number(&ghosts);
        graph->n_ghost = ghosts.count;
        st = check_count(ctx, graph);
    }
    if (st == IKT_OK) st = list_ghosts(ctx, &ghosts, graph);
    if (st == IKT_OK) {
        number_part(ctx, rows, &ghosts, &graph->forward);
        number_part(ctx, rows, &ghosts, &graph->reverse);
    }
    ikt_row_set_destroy(&ghosts);
    return st;
}
