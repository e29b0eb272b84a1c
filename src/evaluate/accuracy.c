/* How well the nearest rows in the map tell a row's label: k-nearest-neighbour accuracy (leave one
 * out, majority; among equal votes the smallest label) and 1-nearest-neighbour error.
 *
 * Every rank holds all positions in a k-d tree and answers for its share of the rows that are
 * looked at, all of them or a sample; what is summed over the ranks are counts. */
#include "evaluate/measure.h"

#include <omp.h>
#include <stdio.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/sort.h"
#include "dist/shuffle.h"
#include "evaluate/family.h"
#include "evaluate/queries.h"
#include "evaluate/tree.h"

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

/* Rows that are labelled rightly by the majority of the nearest, by the nearest alone, and by the
 * majority with the row itself among them. */
typedef struct {
    int64_t by_majority, by_nearest, with_self;
} right_rows;

/* What threads look for neighbours in, and the rows of this rank that are looked at. */
typedef struct {
    ikt_tree tree;
    float *scores; /* [threads * k], as the two others */
    uint32_t *nearest;
    int64_t *votes;
    int64_t count, *row; /* [count] */
    ikt_arrays held;
} search_space;

static ikt_status search_space_create(const ikt_measure_view *view, int64_t k,
                                      const ikt_rows *share, search_space *out) {
    const int64_t each = k * ikt_threads(out->held.ctx);
    IKT_TRY(ikt_tree_create(out->held.ctx, view->y, view->n, view->q, &out->tree));
    out->scores = ikt_claim(&out->held, each, sizeof *out->scores);
    out->nearest = ikt_claim(&out->held, each, sizeof *out->nearest);
    out->votes = ikt_claim(&out->held, each, sizeof *out->votes);
    out->row = ikt_claim(&out->held, share->count, sizeof *out->row);
    IKT_TRY(out->held.status);
    out->count = share->count;
    ikt_queries_draw(view->settings->seed, view->n, share, out->row);
    return IKT_OK;
}

static void search_space_destroy(search_space *space) {
    ikt_tree_destroy(&space->tree);
    ikt_arrays_free(&space->held);
}

/* LOCAL. Classes are numbered in the order of their labels, so the smallest wins among equal votes.
 */
static right_rows count_right(ikt_context *ctx, const ikt_measure_view *view, int64_t k,
                              const search_space *space) {
    int64_t by_majority = 0, by_nearest = 0, with_self = 0;
#pragma omp parallel for schedule(dynamic, 256) reduction(+ : by_majority, by_nearest, with_self)  \
    num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < space->count; e++) {
        const int64_t row = space->row[e], offset = omp_get_thread_num() * k;
        uint32_t *nearest = space->nearest + offset;
        int64_t *votes = space->votes + offset;
        ikt_tree_nearest(&space->tree, view->y + view->q * row, row, k, space->scores + offset,
                         nearest);
        for (int64_t v = 0; v < k; v++)
            votes[v] = view->class_of[nearest[v]];
        by_nearest += votes[0] == view->class_of[row];
        by_majority += ikt_votes_majority(votes, k) == view->class_of[row];
        votes[0] = view->class_of[row]; /* once more, from itself on */
        for (int64_t v = 1; v < k; v++)
            votes[v] = view->class_of[nearest[v - 1]];
        with_self += ikt_votes_majority(votes, k) == view->class_of[row];
    }
    return (right_rows){by_majority, by_nearest, with_self};
}

static ikt_status compute(ikt_context *ctx, const ikt_measure_view *view, ikt_measures *out) {
    const bool is_fitted = view->settings->fits_k && view->n > 1;
    const int64_t others = view->n - 1, wanted = view->settings->k;
    const long long k = is_fitted ? ikt_smaller(wanted, others) : wanted;
    const int64_t looked_at = ikt_label_queries(view->settings, view->n);
    const ikt_rows share = ikt_rows_make(looked_at, ikt_size(ctx), ikt_rank(ctx));
    const int64_t sample = looked_at < view->n ? looked_at : 0;
    const double queries = (double)looked_at;
    search_space space IKT_AT_END(search_space_destroy) = {.held = ikt_arrays_of(ctx, "measures")};
    char name[48];
    if (k >= view->n) /* which `check` has told of where all rows have a label */
        return ikt_measure_refuse(ctx, view->settings,
                                  "%lld-nearest-neighbour accuracy: only %lld rows have a label; "
                                  "choose a smaller k",
                                  k, (long long)view->n);
    if (k < wanted)
        ikt_log(ctx, IKT_LOG_STAGE,
                "label accuracy: of %lld rows with a label, %lld neighbours are taken (k)",
                (long long)view->n, k);
    IKT_TRY(ikt_agree(ctx, search_space_create(view, k, &share, &space)));
    const right_rows right = count_right(ctx, view, k, &space);
    const double majority = (double)ikt_sum_one(ctx, right.by_majority);
    const double wrong = queries - (double)ikt_sum_one(ctx, right.by_nearest);
    const double self = (double)ikt_sum_one(ctx, right.with_self);
    snprintf(name, sizeof name, "%lld-NN accuracy", k);
    IKT_TRY(ikt_measures_add(ctx, out, name, majority / queries, sample,
                             "share of rows whose label the nearest rows in the map tell"));
    IKT_TRY(ikt_measures_add(ctx, out, "1-NN error", wrong / queries, sample,
                             "share of rows whose nearest row in the map has another label"));
    if (view->settings->cheap_only) return IKT_OK;
    snprintf(name, sizeof name, "%lld-NN accuracy, self included", k);
    return ikt_measures_add(ctx, out, name, self / queries, sample,
                            "the same with the row as the first of its nearest, as where a "
                            "classifier is tried on the rows that it was made from");
}

static ikt_status check(ikt_context *ctx, const ikt_measure_settings *settings,
                        const ikt_measured *what) {
    long long others = what->rows.n - 1;
    if (settings->k >= 1 && (settings->k <= others || settings->fits_k)) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%lld-nearest-neighbour accuracy: a row of %lld has %lld others; choose "
                    "k from 1 to %lld",
                    (long long)settings->k, (long long)what->rows.n, others, others);
}

static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    int64_t per_thread =
        settings->k * (int64_t)(sizeof(float) + sizeof(uint32_t) + sizeof(int64_t));
    const int64_t looked_at = ikt_label_queries(settings, extent->n);
    const int64_t rows = (looked_at + extent->ranks - 1) / extent->ranks;
    return ikt_tree_memory(extent->n) + extent->threads * per_thread +
           rows * (int64_t)sizeof(int64_t);
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

int64_t ikt_labels_least(ikt_context *ctx, const int64_t *labels, int64_t count,
                         const char *names) {
    int64_t is_there[3] = {0, 0, names && names[0]}; /* -1, 1, others */
    for (int64_t i = 0; i < count; i++)
        is_there[labels[i] == -1 ? 0 : labels[i] == 1 ? 1 : 2] = 1;
    ikt_max_i64(ctx, is_there, 3);
    return is_there[0] && is_there[1] && !is_there[2] ? -1 : 0;
}

/* Whether the k best of a list that have a label, `least` or more, tell that of the row.
 *   counts   receives whether there are such */
static bool votes_for(const ikt_neighbours *lists, int64_t i, int64_t k, const int64_t *all,
                      int64_t least, int64_t label, bool *counts) {
    ikt_pair best[VOTES_MOST];
    int64_t votes[VOTES_MOST], count = 0;
    for (int64_t e = i * lists->k; e < (i + 1) * lists->k; e++) {
        ikt_pair pair = ikt_pair_make(lists->score[e], lists->row[e]);
        if (all[lists->row[e]] < least) continue;
        if (count == k && pair > best[k - 1]) continue;
        int64_t to = count < k ? count++ : k - 1;
        for (; to > 0 && best[to - 1] > pair; to--)
            best[to] = best[to - 1];
        best[to] = pair;
    }
    for (int64_t e = 0; e < count; e++)
        votes[e] = all[ikt_pair_number(best[e])];
    *counts = count > 0;
    return count > 0 && ikt_votes_majority(votes, count) == label;
}

ikt_status ikt_list_label_accuracy(ikt_context *ctx, const ikt_rows *rows,
                                   const ikt_neighbours *lists, const int64_t *labels,
                                   const char *names, int64_t k, double *accuracy) {
    const int64_t votes = ikt_smaller(ikt_smaller(k, lists->k), VOTES_MOST);
    const int64_t least = ikt_labels_least(ctx, labels, rows->count, names);
    int64_t *all IKT_AT_END(ikt_free) = NULL, right = 0, asked = 0;
    IKT_TRY(ikt_share_rows(ctx, rows, labels, sizeof *labels, "measures", &all));
#pragma omp parallel for schedule(static) reduction(+ : right, asked) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++) {
        bool counts = false;
        if (labels[i] >= least) right += votes_for(lists, i, votes, all, least, labels[i], &counts);
        asked += counts;
    }
    asked = ikt_sum_one(ctx, asked);
    right = ikt_sum_one(ctx, right);
    *accuracy = asked > 0 ? (double)right / (double)asked : -1;
    return IKT_OK;
}
