/* Invariants and checksum of P. */
#include "affinity/dense.h"
#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/sort.h"
#include "graph/graph.h"

int64_t ikt_graph_global(const ikt_graph *graph, int32_t column) {
    int64_t n_local = graph->rows.count;
    return column < n_local ? graph->rows.first + column : graph->ghost_row[column - n_local];
}

int64_t ikt_graph_entries(ikt_context *ctx, const ikt_graph *graph) {
    int64_t n_local = graph->rows.count;
    return ikt_sum_one(ctx, graph->forward.start[n_local] + graph->reverse.start[n_local]);
}

/* Value of the entry (row, column) of own rows in a part; 0 where there is none. */
static float value_in(const ikt_graph *graph, const ikt_csr *part, int64_t row, int64_t global) {
    const int64_t end = part->start[row + 1];
    int64_t e;
    IKT_FIND_FIRST(e, part->start[row], end, ikt_graph_global(graph, part->column[e]) >= global);
    return e < end && ikt_graph_global(graph, part->column[e]) == global ? part->value[e] : 0;
}

/* An entry is in one part only: the sum is the value. */
static float value_at(const ikt_graph *graph, int64_t row, int64_t global) {
    return value_in(graph, &graph->forward, row, global) +
           value_in(graph, &graph->reverse, row, global);
}

static ikt_status check_entry(ikt_context *ctx, const ikt_graph *graph, int64_t row, int32_t column,
                              float value) {
    int64_t global = ikt_graph_global(graph, column);
    if (!(value > 0))
        return ikt_fail(ctx, IKT_ERR_INTERNAL, "row %lld of P: value not positive", (long long)row);
    if (column < graph->rows.count && value_at(graph, column, row) != value)
        return ikt_fail(ctx, IKT_ERR_INTERNAL, "P is not symmetric at (%lld, %lld)", (long long)row,
                        (long long)global);
    return IKT_OK;
}

static ikt_status check_part(ikt_context *ctx, const ikt_graph *graph, const ikt_csr *part,
                             int64_t i) {
    int64_t row = graph->rows.first + i, before = -1;
    for (int64_t e = part->start[i]; e < part->start[i + 1]; e++) {
        int32_t column = part->column[e];
        if (column < 0 || column >= graph->rows.count + graph->n_ghost)
            return ikt_fail(ctx, IKT_ERR_INTERNAL, "row %lld of P: column out of range",
                            (long long)row);
        int64_t global = ikt_graph_global(graph, column);
        if (global <= before || global == row)
            return ikt_fail(ctx, IKT_ERR_INTERNAL, "row %lld of P: columns out of order",
                            (long long)row);
        before = global;
        IKT_TRY(check_entry(ctx, graph, row, column, part->value[e]));
    }
    return IKT_OK;
}

static ikt_status check_row(ikt_context *ctx, const ikt_graph *graph, int64_t i) {
    const ikt_csr *forward = &graph->forward, *reverse = &graph->reverse;
    if (forward->start[i] == forward->start[i + 1] && reverse->start[i] == reverse->start[i + 1])
        return ikt_fail(ctx, IKT_ERR_INTERNAL, "row %lld of P is empty",
                        (long long)(graph->rows.first + i));
    IKT_TRY(check_part(ctx, graph, forward, i));
    return check_part(ctx, graph, reverse, i);
}

ikt_status ikt_graph_check(ikt_context *ctx, const ikt_graph *graph) {
    ikt_status st = IKT_OK;
    for (int64_t i = 0; i < graph->rows.count && st == IKT_OK; i++)
        st = check_row(ctx, graph, i);
    IKT_TRY(ikt_agree(ctx, st));
    return ikt_graph_check_sums(ctx, graph);
}

/* Adds the entries of own row i in one part of P, and what they add to the checksum. */
static void add_row(const ikt_graph *graph, const ikt_csr *part, int64_t i, double *sum,
                    uint64_t *odd) {
    for (int64_t e = part->start[i]; e < part->start[i + 1]; e++) {
        *sum += (double)part->value[e];
        *odd += ikt_hash_entry(graph->rows.first + i, ikt_graph_global(graph, part->column[e]),
                               part->value[e]);
    }
}

/* The entries of a row are in one order on any ranks; rows are added exactly. */
ikt_status ikt_graph_check_sums(ikt_context *ctx, const ikt_graph *graph) {
    ikt_exact_sum total = {{0}, 0, 0};
    uint64_t odd = 0;
#pragma omp parallel num_threads(ikt_threads(ctx)) reduction(+ : odd)
    {
        ikt_exact_sum mine = {{0}, 0, 0};
#pragma omp for schedule(dynamic, 1024) nowait
        for (int64_t i = 0; i < graph->rows.count; i++) {
            double sum = 0;
            add_row(graph, &graph->forward, i, &sum, &odd);
            add_row(graph, &graph->reverse, i, &sum, &odd);
            ikt_exact_sum_add(&mine, sum);
        }
#pragma omp critical(ikt_graph_check_sums)
        ikt_exact_sum_merge(&total, &mine);
    }
    return ikt_check_p(ctx, &total, odd);
}

static uint64_t hash_part(const ikt_graph *graph, const ikt_csr *part) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < graph->rows.count; i++)
        for (int64_t e = part->start[i]; e < part->start[i + 1]; e++) {
            struct {
                int64_t row, column;
                double value;
            } whole = {graph->rows.first + i, ikt_graph_global(graph, part->column[e]),
                       (double)part->value[e]};
            sum += ikt_hash_bytes(&whole, sizeof whole, 1);
        }
    return sum;
}

uint64_t ikt_graph_hash(ikt_context *ctx, const ikt_graph *graph) {
    uint64_t sum = hash_part(graph, &graph->forward) + hash_part(graph, &graph->reverse);
    return (uint64_t)ikt_sum_one(ctx, (int64_t)sum);
}
