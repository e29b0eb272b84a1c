/* How well the nearest rows in the map tell a row's label: k-nearest-neighbour accuracy (leave one
 * out, majority; among equal votes the smallest label) and 1-nearest-neighbour error.
 *
 * Every rank holds all positions in a k-d tree and answers for its own rows; what is summed over
 * the ranks are counts. */
#include <omp.h>
#include <stdio.h>

#include "base/comm.h"
#include "base/memory.h"
#include "evaluate/measure.h"
#include "evaluate/tree.h"
#include "evaluate/votes.h"

/* Everything of all rows, on every rank. */
typedef struct {
    int64_t *labels; /* [n] */
    ikt_tree tree;
    float *score;      /* [threads * k] scratch */
    uint32_t *nearest; /* [threads * k] */
    int64_t *votes;    /* [threads * k] */
} replica;

static ikt_status allocate(ikt_context *ctx, int64_t k, replica *r) {
    int64_t room = k * ikt_threads(ctx);
    IKT_TRY(ikt_alloc(ctx, &r->score, room, sizeof *r->score, "measures"));
    IKT_TRY(ikt_alloc(ctx, &r->nearest, room, sizeof *r->nearest, "measures"));
    return ikt_alloc(ctx, &r->votes, room, sizeof *r->votes, "measures");
}

static ikt_status replicate(ikt_context *ctx, const ikt_measured *what, int64_t k, replica *r) {
    float *y = NULL;
    IKT_TRY(ikt_measure_replicate(ctx, &what->map, what->labels, sizeof *r->labels, &r->labels));
    IKT_TRY(ikt_measure_replicate(ctx, &what->map, what->y, 2 * sizeof *y, &y));
    ikt_status st = ikt_tree_create(ctx, y, what->map.n, &r->tree);
    ikt_free(&y);
    if (st == IKT_OK) st = allocate(ctx, k, r);
    return ikt_agree(ctx, st);
}

static void replica_free(replica *r) {
    ikt_tree_destroy(&r->tree);
    ikt_free(&r->labels);
    ikt_free(&r->score);
    ikt_free(&r->nearest);
    ikt_free(&r->votes);
}

/* Adds one row to the counts of those that the majority, and the nearest row, label rightly. */
static void judge(const replica *r, const float *at, int64_t row, int64_t k, int64_t *by_majority,
                  int64_t *by_nearest) {
    int64_t offset = omp_get_thread_num() * k;
    uint32_t *nearest = r->nearest + offset;
    int64_t *votes = r->votes + offset;
    ikt_tree_nearest(&r->tree, at, row, k, r->score + offset, nearest);
    for (int64_t e = 0; e < k; e++)
        votes[e] = r->labels[nearest[e]];
    *by_nearest += votes[0] == r->labels[row];
    *by_majority += ikt_votes_majority(votes, k) == r->labels[row];
}

static void count_right(ikt_context *ctx, const ikt_measured *what, int64_t k, const replica *r,
                        int64_t right[2]) {
    int64_t by_majority = 0, by_nearest = 0;
#pragma omp parallel for schedule(dynamic, 256) reduction(+ : by_majority, by_nearest)             \
    num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < what->map.count; i++)
        judge(r, what->y + 2 * i, what->map.first + i, k, &by_majority, &by_nearest);
    right[0] = by_majority;
    right[1] = by_nearest;
    ikt_sum_i64(ctx, right, 2);
}

ikt_status ikt_measure_label_accuracy(ikt_context *ctx, const ikt_measure_settings *settings,
                                      const ikt_measured *what, ikt_measures *out) {
    int64_t n = what->map.n, k = settings->k, right[2];
    replica r = {0};
    char name[48];
    if (k < 1 || k >= n)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%lld-nearest-neighbour accuracy: a row of %lld has %lld others; choose "
                        "k from 1 to %lld",
                        (long long)k, (long long)n, (long long)(n - 1), (long long)(n - 1));
    ikt_status st = replicate(ctx, what, k, &r);
    if (st == IKT_OK) {
        count_right(ctx, what, k, &r, right);
        snprintf(name, sizeof name, "%lld-NN accuracy", (long long)k);
        st = ikt_measures_add(ctx, out, name, (double)right[0] / (double)n, 0,
                              "share of rows whose label the nearest rows in the map tell");
        if (st == IKT_OK)
            st = ikt_measures_add(ctx, out, "1-NN error", (double)(n - right[1]) / (double)n, 0,
                                  "share of rows whose nearest row in the map has another label");
        st = ikt_agree(ctx, st);
    }
    replica_free(&r);
    return st;
}
