/* How well the most similar rows tell a row's label. */
#include "evaluate/list_accuracy.h"

#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/select.h"
#include "evaluate/measure.h"
#include "evaluate/votes.h"

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
    return ikt_votes_majority(votes, count) == label;
}

ikt_status ikt_list_label_accuracy(ikt_context *ctx, const ikt_rows *rows,
                                   const ikt_neighbours *lists, const int64_t *labels, int64_t k,
                                   double *accuracy) {
    int64_t *all = NULL, right = 0, votes = k < lists->k ? k : lists->k;
    if (votes > VOTES_MOST) votes = VOTES_MOST;
    IKT_TRY(ikt_measure_replicate(ctx, rows, labels, sizeof *labels, &all));
#pragma omp parallel for schedule(static) reduction(+ : right) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++)
        right += is_told(lists, i, votes, all, labels[i]);
    ikt_free(&all);
    *accuracy = (double)ikt_sum_one(ctx, right) / (double)rows->n;
    return IKT_OK;
}
