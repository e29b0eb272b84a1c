/* A symmetric sparse P that every rank can make: given neighbours with row-keyed weights. */
#ifndef IKT_TEST_RANDOM_P_H
#define IKT_TEST_RANDOM_P_H

#include "support/ikt_test.h"

#include <math.h>

#include "base/memory.h"
#include "base/rng.h"
#include "support/symmetrise.h"

enum { RANDOM_P_NEIGHBOURS_MOST = 16 };

/* Which row is the e-th neighbour of a row, of n. */
typedef int64_t neighbour_of(int64_t row, int64_t e, int64_t n);

/* Neighbours on a ring, at growing distances. */
static inline int64_t on_a_ring(int64_t row, int64_t e, int64_t n) {
    return (row + (e + 1) * (e + 1)) % n;
}

/* COLLECTIVE. P of k neighbours each, at most RANDOM_P_NEIGHBOURS_MOST.
 *   power   of the uniform draws that the weights are: 1, or more for uneven weights */
static inline void make_random_p(ikt_context *ctx, const ikt_rows *rows, int k,
                                 neighbour_of *neighbour, double power, ikt_graph *graph) {
    ikt_neighbours lists = {rows->count, k, NULL, NULL};
    ikt_alloc(ctx, &lists.row, rows->count * k, sizeof *lists.row, "test");
    ikt_alloc(ctx, &lists.score, rows->count * k, sizeof *lists.score, "test");
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t row = rows->first + i;
        double draw[RANDOM_P_NEIGHBOURS_MOST], total = 0;
        for (int e = 0; e < k; e++)
            total += draw[e] = pow(ikt_rng_uniform(2, IKT_RNG_TEST, row, (uint64_t)e), power);
        for (int e = 0; e < k; e++) {
            lists.row[i * k + e] = (uint32_t)neighbour(row, e, rows->n);
            lists.score[i * k + e] = (float)(draw[e] / total);
        }
    }
    assert_int_equal(ikt_test_symmetrise(ctx, rows, &lists, graph), IKT_OK);
    assert_int_equal(ikt_graph_check(ctx, graph), IKT_OK);
    ikt_neighbours_destroy(&lists);
}

/* All of such a P of n rows as a full matrix p[n * n], on every rank alone. */
static inline void fill_random_p(int64_t n, int k, neighbour_of *neighbour, double power,
                                 double *p) {
    ikt_context *alone = ikt_test_alone();
    const ikt_rows rows = ikt_rows_make(n, 1, 0);
    ikt_graph graph;
    memset(p, 0, (size_t)(n * n) * sizeof *p);
    make_random_p(alone, &rows, k, neighbour, power, &graph);
    for (int64_t i = 0; i < n; i++)
        for (int part = 0; part < 2; part++) {
            const ikt_csr *csr = part == 0 ? &graph.forward : &graph.reverse;
            for (int64_t e = csr->start[i]; e < csr->start[i + 1]; e++)
                p[i * n + csr->column[e]] = (double)ikt_csr_value(csr, e);
        }
    ikt_graph_destroy(&graph);
    ikt_context_destroy(&alone);
}

#endif
