/* How well the nearest rows in the map tell a row's label: k-nearest-neighbour accuracy (leave one
 * out, majority; among equal votes the smallest label) and 1-nearest-neighbour error.
 *
 * Every rank holds all positions in a k-d tree and answers for its own rows; what is summed over
 * the ranks are counts. */
#include "evaluate/accuracy.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/sort.h"
#include "dist/shuffle.h"
#include "evaluate/family.h"

/* In ascending order the smallest of several comes first. */
int64_t ikt_votes_majority(int64_t *votes, int64_t count) {
    int64_t best = votes[0], most = 0, run = 0;
    ikt_sort_i64(votes, count);
    for (int64_t e = 0; e < count; e++) {
        run = e > 0 && votes[e] == votes[e - 1] ? run + 1 : 1;
        if (run > most) {
            most = run;
            best = votes[e];
        }
    }
    return best;
}

/* Counts the rows that the majority, and the nearest row, label rightly. Classes are numbered in
 * the order of their labels, so the smallest wins among equal votes. */
static ikt_status compute(ikt_context *ctx, const ikt_measure_view *view, ikt_measures *out) {
    const ikt_rows *rows = &view->what->rows;
    const int64_t k = view->settings->k, scratch = k * ikt_threads(ctx);
    const double n = (double)view->n;
    ikt_tree tree = {0};
    float *scores = NULL; /* [threads * k] scratch, as the two others */
    uint32_t *nearest_rows = NULL;
    int64_t *all_votes = NULL, by_majority = 0, by_nearest = 0, with_self = 0;
    char name[48];
    ikt_status st = ikt_tree_create(ctx, view->y, view->n, view->q, &tree);
    if (st == IKT_OK) st = ikt_alloc(ctx, &scores, scratch, sizeof *scores, "measures");
    if (st == IKT_OK) st = ikt_alloc(ctx, &nearest_rows, scratch, sizeof *nearest_rows, "measures");
    if (st == IKT_OK) st = ikt_alloc(ctx, &all_votes, scratch, sizeof *all_votes, "measures");
    IKT_TRY_GOTO(st, done, ikt_agree(ctx, st));
#pragma omp parallel for schedule(dynamic, 256) reduction(+ : by_majority, by_nearest, with_self)  \
    num_threads(ikt_threads(ctx))
    for (int64_t row = rows->first; row < rows->first + rows->count; row++) {
        const int64_t offset = omp_get_thread_num() * k;
        uint32_t *nearest = nearest_rows + offset;
        int64_t *votes = all_votes + offset;
        ikt_tree_nearest(&tree, view->y + view->q * row, row, k, scores + offset, nearest);
        for (int64_t e = 0; e < k; e++)
            votes[e] = view->class_of[nearest[e]];
        by_nearest += votes[0] == view->class_of[row];
        by_majority += ikt_votes_majority(votes, k) == view->class_of[row];
        votes[0] = view->class_of[row]; /* once more, from itself on */
        for (int64_t e = 1; e < k; e++)
            votes[e] = view->class_of[nearest[e - 1]];
        with_self += ikt_votes_majority(votes, k) == view->class_of[row];
    }
    const double right = (double)ikt_sum_one(ctx, by_majority);
    const double wrong = n - (double)ikt_sum_one(ctx, by_nearest);
    snprintf(name, sizeof name, "%lld-NN accuracy", (long long)k);
    st = ikt_measures_add(ctx, out, name, right / n, 0,
                          "share of rows whose label the nearest rows in the map tell");
    if (st == IKT_OK)
        st = ikt_measures_add(ctx, out, "1-NN error", wrong / n, 0,
                              "share of rows whose nearest row in the map has another label");
    const double self = (double)ikt_sum_one(ctx, with_self);
    snprintf(name, sizeof name, "%lld-NN accuracy, self included", (long long)k);
    if (st == IKT_OK && !view->settings->cheap_only)
        st = ikt_measures_add(ctx, out, name, self / n, 0,
                              "the same with the row as the first of its nearest, as where a "
                              "classifier is tried on the rows that it was made from");
    st = ikt_agree(ctx, st);
done:
    ikt_tree_destroy(&tree);
    ikt_free(&scores);
    ikt_free(&nearest_rows);
    ikt_free(&all_votes);
    return st;
}

static ikt_status check(ikt_context *ctx, const ikt_measure_settings *settings,
                        const ikt_measured *what) {
    long long others = what->rows.n - 1;
    if (settings->k >= 1 && settings->k <= others) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%lld-nearest-neighbour accuracy: a row of %lld has %lld others; choose "
                    "k from 1 to %lld",
                    (long long)settings->k, (long long)what->rows.n, others, others);
}

static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    int64_t per_thread =
        settings->k * (int64_t)(sizeof(float) + sizeof(uint32_t) + sizeof(int64_t));
    return ikt_tree_memory(extent->n) + extent->threads * per_thread;
}

const ikt_measure_family ikt_family_labels = {
    .name = "labels",
    .help = "k-nearest-neighbour accuracy and 1-nearest-neighbour error of the labels",
    .needs = IKT_MEASURE_NEEDS_LABELS,
    .is_cheap = true,
    .check = check,
    .compute = compute,
    .memory = memory};

/* --- before anything is placed ---------------------------------------------------------------- */

enum { VOTES_MOST = 256 };

/* Whether the k best of a list tell the label. */
static bool is_told(const ikt_neighbours *lists, int64_t i, int64_t k, const int64_t *all,
                    int64_t label) {
    ikt_pair best[VOTES_MOST];
    int64_t votes[VOTES_MOST], count = 0;
    for (int64_t e = i * lists->k; e < (i + 1) * lists->k; e++) {
        ikt_pair pair = ikt_pair_make(lists->score[e], lists->row[e]);
        if (count == k && pair > best[k - 1]) continue;
        int64_t to = count < k ? count++ : k - 1;
        for (; to > 0 && best[to - 1] > pair; to--)
            best[to] = best[to - 1];
        best[to] = pair;
    }
    for (int64_t e = 0; e < count; e++)
        votes[e] = all[ikt_pair_number(best[e])];
    return count > 0 && ikt_votes_majority(votes, count) == label;
}

ikt_status ikt_list_label_accuracy(ikt_context *ctx, const ikt_rows *rows,
                                   const ikt_neighbours *lists, const int64_t *labels, int64_t k,
                                   double *accuracy) {
    int64_t *all = NULL, right = 0, votes = k < lists->k ? k : lists->k;
    if (votes > VOTES_MOST) votes = VOTES_MOST;
    IKT_TRY(ikt_share_rows(ctx, rows, labels, sizeof *labels, "measures", &all));
#pragma omp parallel for schedule(static) reduction(+ : right) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++)
        right += is_told(lists, i, votes, all, labels[i]);
    ikt_free(&all);
    *accuracy = (double)ikt_sum_one(ctx, right) / (double)rows->n;
    return IKT_OK;
}
