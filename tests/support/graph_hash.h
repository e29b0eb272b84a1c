/* A checksum of P. */
#ifndef IKT_TEST_GRAPH_HASH_H
#define IKT_TEST_GRAPH_HASH_H

#include "base/comm.h"
#include "base/row_hash.h"
#include "graph/graph.h"

/* COLLECTIVE. Checksum of P (rows, global columns, values) that does not depend on the ranks. */
static inline uint64_t ikt_test_graph_hash(ikt_context *ctx, const ikt_graph *graph) {
    const ikt_csr *const parts[] = {&graph->forward, &graph->reverse};
    uint64_t sum = 0;
    for (int p = 0; p < 2; p++)
        for (int64_t i = 0; i < graph->rows.count; i++)
            for (int64_t e = parts[p]->start[i]; e < parts[p]->start[i + 1]; e++) {
                struct {
                    int64_t row, column;
                    double value;
                } whole = {graph->rows.first + i, ikt_graph_global(graph, parts[p]->column[e]),
                           (double)ikt_csr_value(parts[p], e)};
                sum += ikt_hash_bytes(&whole, sizeof whole, 1);
            }
    return (uint64_t)ikt_sum_one(ctx, (int64_t)sum);
}

#endif
