/* Data of every kind in memory, as ranks hold blocks of them, for the tests of the library. */
#ifndef IKT_TESTS_LIBRARY_DATA_H
#define IKT_TESTS_LIBRARY_DATA_H

#include "support/library.h"

#include <math.h>

#include "base/rng.h"

enum { N = 90, D = 8, Q = 2, WAYS = 3, ITERATIONS = 30 };

/* --- the data, all of them on every rank ------------------------------------------------------ */

static float dense[N * D];
static int64_t labels[N];
static float start[N * Q];

/* The same rows sparse, as SciPy may hold them: columns descend, and one value is the sum of two.
 */
static int32_t begin32[N + 1], column32[2 * N * D];
static int64_t begin64[N + 1], column64[2 * N * D];
static float value32[2 * N * D];
static double value64[2 * N * D];

/* Distances of all pairs, and those to the 15 nearest as a graph. */
enum { K = 15 };
static double pairs[N * N];
static int32_t graph_begin[N + 1], graph_column[N * K];
static double graph_value[N * K];

static inline void make_pairs(void) {
    for (int i = 0; i < N; i++) {
        int32_t taken[N] = {0};
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int c = 0; c < D; c++)
                sum += pow((double)dense[i * D + c] - (double)dense[j * D + c], 2);
            pairs[i * N + j] = sqrt(sum);
        }
        graph_begin[i + 1] = (i + 1) * K;
        for (int e = 0; e < K; e++) {
            int best = -1;
            for (int j = 0; j < N; j++)
                if (j != i && !taken[j] && (best < 0 || pairs[i * N + j] < pairs[i * N + best]))
                    best = j;
            taken[best] = 1;
            graph_column[i * K + e] = best;
            graph_value[i * K + e] = pairs[i * N + best];
        }
    }
}

static inline void make_data(void) {
    int32_t entries = 0;
    for (int i = 0; i < N; i++) {
        labels[i] = i % 3;
        for (int c = D - 1; c >= 0; c--) {
            const int64_t step = ikt_rng_below(2, IKT_RNG_TEST, i, (uint64_t)c, 60);
            const bool is_zero = step < 20 && i % 3 != c % 3;
            dense[i * D + c] = is_zero ? 0 : (float)(step + (i % 3 == c % 3) * 150);
            for (int part = 0; part < 2 && !is_zero; part++) { /* 1 and the rest */
                const float rest = dense[i * D + c] - 1;
                column64[entries] = column32[entries] = c;
                value64[entries] = value32[entries] = part == 0 ? 1 : rest;
                entries++;
            }
        }
        begin64[i + 1] = begin32[i + 1] = entries;
        for (int c = 0; c < Q; c++)
            start[i * Q + c] =
                (float)ikt_rng_below(3, IKT_RNG_TEST, i, (uint64_t)c, 1000) / 100 - 5;
    }
    make_pairs();
}

/* Rows of each rank: equal blocks, all on the last, every second rank without. */
static inline void share_of(int way, int rank, int size, int64_t *first, int64_t *count) {
    const int64_t half = (size + 1) / 2;
    *first = *count = 0;
    for (int r = 0; r <= rank; r++) {
        *count = way == 0   ? N / size + (r < N % size)
                 : way == 1 ? (r == size - 1 ? N : 0)
                            : (r % 2 ? 0 : N / half + (r / 2 < N % half));
        if (r < rank) *first += *count;
    }
}

/* --- describing them -------------------------------------------------------------------------- */

typedef enum { DENSE, SPARSE32, SPARSE64, GRAPH, PAIRS, KINDS } kind;

static inline ikt_data *data_of(ikt_context *ctx, kind what, int way) {
    ikt_data *data;
    int64_t first, count;
    share_of(way, ikt_rank(ctx), ikt_size(ctx), &first, &count);
    succeed(ctx, ikt_data_create(ctx, count, &data));
    switch (what) {
    case DENSE:
        ikt_data_rows(data, dense + first * D, D, IKT_TYPE_F32);
        break;
    case SPARSE32:
        ikt_data_sparse(data, begin32 + first, column32, IKT_INDEX_32, value32, IKT_TYPE_F32, D);
        break;
    case SPARSE64:
        ikt_data_sparse(data, begin64 + first, column64, IKT_INDEX_64, value64, IKT_TYPE_F64, D);
        break;
    case GRAPH:
        ikt_data_graph(data, graph_begin + first, graph_column, IKT_INDEX_32, graph_value,
                       IKT_TYPE_F64);
        break;
    default:
        ikt_data_pairs(data, pairs + first * N, IKT_TYPE_F64);
    }
    if (count > 0) ikt_data_labels(data, labels + first);
    return data;
}

static inline ikt_parameters *parameters_of(ikt_context *ctx, kind what) {
    ikt_parameters *p = parameters_for(ctx);
    if (what == GRAPH || what == PAIRS) {
        succeed(ctx, ikt_parameters_set(p, "graph.values", "distances"));
        succeed(ctx, ikt_parameters_set(p, "gaussian.perplexity", "4"));
        succeed(ctx, ikt_parameters_set(p, "isolation.psi", "auto"));
        succeed(ctx, ikt_parameters_set(p, "isolation.partitionings", "200"));
    }
    if (what == GRAPH) succeed(ctx, ikt_parameters_set(p, "affinity.neighbours", "auto"));
    return p;
}

static inline uint64_t hash_of(ikt_context *ctx, kind what, int way) {
    ikt_parameters *parameters = parameters_of(ctx, what);
    ikt_data *data = data_of(ctx, what, way);
    ikt_embedding *map;
    succeed(ctx, ikt_embed(ctx, parameters, data, NULL, &map));
    const uint64_t hash = ikt_embedding_hash(map);
    assert_int_equal(ikt_embedding_rows(map), N);
    assert_false(ikt_embedding_is_stopped(map));
    for (int64_t i = 0; i < ikt_embedding_count(map); i++)
        assert_int_equal(ikt_embedding_labels(map)[i], labels[ikt_embedding_first(map) + i]);
    ikt_embedding_destroy(&map);
    ikt_data_destroy(&data);
    ikt_parameters_destroy(&parameters);
    return hash;
}

#endif
