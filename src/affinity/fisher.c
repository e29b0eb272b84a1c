/* Gaussian weights of Fisher distances: rows attract each other as far as the probabilities of
 * given classes change little on the way from one to the other (metric/segment.h). A row whose kept
 * distances are all equal, mostly all 0 because one class has all the weight there, has equal
 * weights: no bandwidth can tell its neighbours apart. */
#include "affinity/affinity.h"
#include "base/comm.h"
#include "base/log.h"

/* Rows whose kept distances are all equal. */
static int64_t count_equal(const ikt_neighbours *lists) {
    int64_t rows = 0;
    for (int64_t i = 0; i < lists->n_local; i++) {
        const float *score = lists->score + i * lists->k;
        bool is_equal = true;
        for (int64_t e = 1; e < lists->k && is_equal; e++)
            is_equal = score[e] == score[0];
        rows += is_equal;
    }
    return rows;
}

static ikt_status weigh(ikt_context *ctx, const ikt_affinity_job *job, ikt_neighbours *lists,
                        int64_t *zero_similarity) {
    const int64_t equal = ikt_sum_one(ctx, count_equal(lists));
    ikt_gaussian_weights(ctx, lists, job->settings->gaussian.perplexity, lists->score);
    *zero_similarity = 0;
    if (equal > 0)
        ikt_log_numbers(ctx, IKT_LOG_STAGE, (ikt_log_number[]){IKT_LOG_INT("rows", equal), {0}},
                        "fisher: %lld rows are equally far from all of their neighbours, whose "
                        "weights are equal then",
                        (long long)equal);
    return IKT_OK;
}

static int64_t neighbours(const ikt_affinity_settings *settings) {
    return ikt_affinity_gaussian.neighbours(settings);
}

static ikt_status check(ikt_context *ctx, const ikt_affinity_settings *settings, int64_t weighed) {
    if (settings->support != IKT_SUPPORT_SPARSE)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.kind=fisher gives weights to the nearest rows of a row and to no "
                        "others: leave affinity.support at sparse");
    IKT_TRY(ikt_fisher_check(ctx, &settings->fisher));
    return ikt_affinity_gaussian.check(ctx, settings, weighed);
}

const ikt_affinity ikt_affinity_fisher = {.name = "fisher",
                                          .scores = IKT_SCORES_FISHER,
                                          .section = &ikt_fisher_section,
                                          .keys = offsetof(ikt_affinity_settings, fisher),
                                          .neighbours = neighbours,
                                          .check = check,
                                          .has_bandwidth_search = true,
                                          .weigh = weigh};
