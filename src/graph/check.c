/* Invariants and checksum of P. */
#include <math.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "graph/graph.h"

int64_t ikt_graph_global(const ikt_graph *graph, int32_t column) {
    int64_t n_local = graph->map.count;
    return column < n_local ? graph->map.first + column : graph->ghost_row[column - n_local];
}

int64_t ikt_graph_entries(ikt_context *ctx, const ikt_graph *graph) {
    return ikt_sum_one(ctx, graph->start[graph->map.count]);
}

/* Value of the entry (row, column) of own rows; 0 where there is none. */
static float value_at(const ikt_graph *graph, int64_t row, int64_t global) {
    int64_t low = graph->start[row], high = graph->start[row + 1];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        int64_t here = ikt_graph_global(graph, graph->column[middle]);
        if (here == global) return graph->value[middle];
        if (here < global)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

static ikt_status check_row(ikt_context *ctx, const ikt_graph *graph, int64_t i) {
    long long row = (long long)(graph->map.first + i);
    if (graph->start[i] == graph->start[i + 1])
        return ikt_fail(ctx, IKT_ERR_INTERNAL, "row %lld of P is empty", row);
    int64_t before = -1;
    for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
        int32_t column = graph->column[e];
        if (column < 0 || column >= graph->map.count + graph->n_ghost)
            return ikt_fail(ctx, IKT_ERR_INTERNAL, "row %lld of P: column out of range", row);
        int64_t global = ikt_graph_global(graph, column);
        if (global <= before || global == row)
            return ikt_fail(ctx, IKT_ERR_INTERNAL, "row %lld of P: columns out of order", row);
        before = global;
        if (!(graph->value[e] > 0))
            return ikt_fail(ctx, IKT_ERR_INTERNAL, "row %lld of P: value not positive", row);
        if (column < graph->map.count && value_at(graph, column, row) != graph->value[e])
            return ikt_fail(ctx, IKT_ERR_INTERNAL, "P is not symmetric at (%lld, %lld)", row,
                            (long long)global);
    }
    return IKT_OK;
}

ikt_status ikt_graph_check(ikt_context *ctx, const ikt_graph *graph) {
    ikt_status st = IKT_OK;
    ikt_exact_sum total = {{0}, 0, 0};
    for (int64_t i = 0; i < graph->map.count && st == IKT_OK; i++) {
        st = check_row(ctx, graph, i);
        for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++)
            ikt_exact_sum_add(&total, (double)graph->value[e]);
    }
    IKT_TRY(ikt_agree(ctx, st));
    ikt_exact_sum_reduce(ctx, &total, 1);
    double sum = ikt_exact_sum_value(&total);
    if (fabs(sum - 1) > 1e-5)
        return ikt_fail(ctx, IKT_ERR_INTERNAL, "the entries of P sum to %.9g, not 1", sum);
    return IKT_OK;
}

uint64_t ikt_graph_hash(ikt_context *ctx, const ikt_graph *graph) {
    int64_t sum = 0;
    for (int64_t i = 0; i < graph->map.count; i++)
        for (int64_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
            struct {
                int64_t row, column;
                double value;
            } whole = {graph->map.first + i, ikt_graph_global(graph, graph->column[e]),
                       (double)graph->value[e]};
            sum = (int64_t)((uint64_t)sum + ikt_hash_bytes(&whole, sizeof whole, 1));
        }
    return (uint64_t)ikt_sum_one(ctx, sum);
}
