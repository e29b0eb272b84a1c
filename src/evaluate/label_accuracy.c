/* How well the nearest rows in the map tell a row's label: k-nearest-neighbour accuracy (leave one
 * out, majority, the smallest label on ties) and 1-nearest-neighbour error. */
#include <omp.h>
#include <stdio.h>

#include "base/comm.h"
#include "base/memory.h"
#include "evaluate/measure.h"
#include "evaluate/tree.h"

/* Everything of all rows, on every rank. */
typedef struct {
    float *y;        /* [n * 2] */
    int64_t *labels; /* [n] */
    ikt_tree tree;
    float *score; /* [threads * k] scratch */
    int64_t *nearest;
} replica;

static ikt_status replicate(ikt_context *ctx, const ikt_measured *what, int64_t k, replica *r) {
    IKT_TRY(ikt_measure_replicate(ctx, &what->map, what->y, 2 * sizeof *r->y, &r->y));
    IKT_TRY(ikt_measure_replicate(ctx, &what->map, what->labels, sizeof *r->labels, &r->labels));
    ikt_status st = ikt_tree_create(ctx, r->y, what->map.n, &r->tree);
    int64_t room = k * ikt_threads(ctx);
    if (st == IKT_OK) st = ikt_alloc(ctx, &r->score, room, sizeof *r->score, "measures");
    if (st == IKT_OK) st = ikt_alloc(ctx, &r->nearest, room, sizeof *r->nearest, "measures");
    return ikt_agree(ctx, st);
}

static void replica_free(replica *r) {
    ikt_tree_destroy(&r->tree);
    ikt_free(&r->y);
    ikt_free(&r->labels);
    ikt_free(&r->score);
    ikt_free(&r->nearest);
}

static int64_t votes_for(const int64_t *labels, const int64_t *nearest, int64_t k, int64_t label) {
    int64_t votes = 0;
    for (int64_t e = 0; e < k; e++)
        votes += labels[nearest[e]] == label;
    return votes;
}

static int64_t majority(const int64_t *labels, const int64_t *nearest, int64_t k) {
    int64_t best = labels[nearest[0]], most = 0;
    for (int64_t e = 0; e < k; e++) {
        int64_t label = labels[nearest[e]], votes = votes_for(labels, nearest, k, label);
        if (votes > most || (votes == most && label < best)) {
            most = votes;
            best = label;
        }
    }
    return best;
}

/* Rows whose label the majority, and the single nearest row, tell rightly. */
static void count_right(ikt_context *ctx, const ikt_measured *what, int64_t k, const replica *r,
                        int64_t right[2]) {
    int64_t by_majority = 0, by_nearest = 0;
#pragma omp parallel for schedule(dynamic, 256) reduction(+ : by_majority, by_nearest)             \
    num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < what->map.count; i++) {
        int64_t row = what->map.first + i, offset = omp_get_thread_num() * k;
        int64_t *nearest = r->nearest + offset;
        ikt_tree_nearest(&r->tree, row, k, r->score + offset, nearest);
        by_majority += majority(r->labels, nearest, k) == r->labels[row];
        by_nearest += r->labels[nearest[0]] == r->labels[row];
    }
    right[0] = by_majority;
    right[1] = by_nearest;
    ikt_sum_i64(ctx, right, 2);
}

ikt_status ikt_measure_label_accuracy(ikt_context *ctx, const ikt_measure_settings *settings,
                                      const ikt_measured *what, ikt_measures *out) {
    int64_t n = what->map.n, k = settings->k, right[2];
    replica r = {0};
    char name[48];
    if (k >= n)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%lld neighbours are asked for, but a row has only %lld others",
                        (long long)k, (long long)(n - 1));
    ikt_status st = replicate(ctx, what, k, &r);
    if (st == IKT_OK) {
        count_right(ctx, what, k, &r, right);
        snprintf(name, sizeof name, "%lld-NN accuracy", (long long)k);
        st = ikt_measures_add(ctx, out, name, (double)right[0] / (double)n, 0,
                              "share of rows whose label the nearest rows in the map tell");
    }
    if (st == IKT_OK)
        st = ikt_measures_add(ctx, out, "1-NN error", 1 - (double)right[1] / (double)n, 0,
                              "share of rows whose nearest row in the map has another label");
    replica_free(&r);
    return ikt_agree(ctx, st);
}
