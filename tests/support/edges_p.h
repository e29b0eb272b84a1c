/* P of a graph whose edges have one weight: sparse, dense, and as a full matrix. */
#ifndef IKT_TEST_EDGES_P_H
#define IKT_TEST_EDGES_P_H

#include "support/ikt_test.h"

#include <string.h>

#include "affinity/dense.h"
#include "base/memory.h"
#include "graph/graph.h"

enum { EDGES_MOST = 2048 };

/* The rows above `row` that it is joined to, ascending; returns how many. */
typedef int64_t edges_of(int64_t row, int64_t n, int64_t to[EDGES_MOST]);

static inline int64_t edges_in_all(int64_t n, edges_of *edges) {
    int64_t to[EDGES_MOST], count = 0;
    for (int64_t i = 0; i < n; i++)
        count += edges(i, n, to);
    return count;
}

/* COLLECTIVE. The entries of P sum to 1. */
static inline void make_edges_p(ikt_context *ctx, const ikt_rows *rows, edges_of *edges,
                                ikt_graph *out) {
    int64_t to[EDGES_MOST], count = 0;
    const float weight = (float)((double)rows->n / (double)edges_in_all(rows->n, edges));
    ikt_directed directed = {.n_local = rows->count};
    for (int64_t i = 0; i < rows->count; i++)
        count += edges(rows->first + i, rows->n, to);
    ikt_alloc(ctx, &directed.start, rows->count + 1, sizeof *directed.start, "test");
    ikt_alloc(ctx, &directed.column, count, sizeof *directed.column, "test");
    ikt_alloc(ctx, &directed.value, count, sizeof *directed.value, "test");
    count = 0;
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t mine = edges(rows->first + i, rows->n, to);
        for (int64_t e = 0; e < mine; e++) {
            directed.column[count] = (uint32_t)to[e];
            directed.value[count++] = weight;
        }
        directed.start[i + 1] = count;
    }
    assert_int_equal(ikt_graph_from_directed(ctx, rows, &directed, out), IKT_OK);
}

static inline void make_edges_dense(ikt_context *ctx, const ikt_rows *rows, edges_of *edges,
                                    ikt_dense *out) {
    int64_t to[EDGES_MOST];
    const float weight = (float)(0.5 / (double)edges_in_all(rows->n, edges));
    assert_int_equal(ikt_dense_create(ctx, rows, out), IKT_OK);
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t mine = edges(i, rows->n, to);
        for (int64_t e = 0; e < mine; e++) {
            const int64_t ends[2][2] = {{i, to[e]}, {to[e], i}};
            for (int s = 0; s < 2; s++)
                if (ends[s][0] >= rows->first && ends[s][0] < rows->first + rows->count)
                    out->value[(ends[s][0] - rows->first) * out->stride + ends[s][1]] = weight;
        }
    }
}

#endif
