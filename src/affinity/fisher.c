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
        ikt_log_numbers(ctx, IKT_LOG_STAGE, IKT_LOG_NUMBERS(IKT_LOG_INT("rows", equal)),
                        "fisher: %lld rows are equally far from all of their neighbours, whose "
                        "weights are equal then",
                        (long long)equal);
    return IKT_OK;
}

static ikt_status check_rows(ikt_context *ctx, const ikt_affinity_settings *settings, int64_t n) {
    const ikt_fisher_settings *fisher = &settings->fisher;
    IKT_TRY(ikt_fisher_check(ctx, fisher));
    if (fisher->support == IKT_AUTO_INT || fisher->support <= n) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE, "fisher.support = %lld, but there are only %lld rows",
                    (long long)fisher->support, (long long)n);
}

static void find_facts(const ikt_affinity_settings *settings, bool *has) {
    const ikt_fisher_settings *fisher = &settings->fisher;
    has[IKT_FACT_TRAIN] = fisher->train[0];
    has[IKT_FACT_CLASS_CANDIDATES] = fisher->candidates == IKT_CANDIDATES_EUCLIDEAN;
    has[IKT_FACT_CLASS_DISTANCES] = fisher->euclidean > 0;
}

/* Distances that follow labels are of rows, which are compared with a support; and a model of the
 * classes of some rows is not that of all. */
static const ikt_rule rules[] = {
    {{IKT_FACT_GRAPH},
     "affinity.kind=fisher compares rows, which input.graph does not hold: give input.file alone",
     IKT_ERR_USAGE},
    {{IKT_FACT_CLASS_LINEAR, IKT_FACT_MATRIX},
     "affinity.kind=fisher needs inner products of rows, which preprocess.metric=precomputed does "
     "not have: take kernel.kind=gaussian or kernel.kind=isolation",
     IKT_ERR_USAGE},
    {{IKT_FACT_CLASS_LINEAR, IKT_FACT_MANHATTAN},
     "affinity.kind=fisher needs inner products of rows, which preprocess.metric=manhattan does "
     "not have: take euclidean, cosine, correlation, or kernel.kind=isolation",
     IKT_ERR_USAGE},
    {{IKT_FACT_CLASS_GAUSSIAN, IKT_FACT_MANHATTAN},
     "kernel.kind = gaussian is of Euclidean distances, which preprocess.metric=manhattan does not "
     "go with: take kernel.kind=isolation",
     IKT_ERR_USAGE},
    {{IKT_FACT_MATRIX, IKT_FACT_CLASS_DISTANCES},
     "fisher.euclidean takes plain distances of rows, which a matrix of all pairs has no rows for: "
     "leave it out",
     IKT_ERR_USAGE},
    {{IKT_FACT_MATRIX, IKT_FACT_CLASS_CANDIDATES},
     "fisher.candidates=euclidean takes plain distances of rows, which a matrix of all pairs has "
     "no rows for: leave it out",
     IKT_ERR_USAGE},
    {{IKT_FACT_TAKES_FEATURES},
     "affinity.kind=fisher gives neighbours and weights, but layout.objective={layout.objective} "
     "compares rows by itself: take an objective that works on P",
     IKT_ERR_USAGE},
    {{IKT_FACT_TAKES_CODES},
     "affinity.kind=fisher gives neighbours and weights, but layout.objective={layout.objective} "
     "compares rows by itself: take an objective that works on P",
     IKT_ERR_USAGE},
    {{IKT_FACT_START_LANDMARKS},
     "layout.init=landmark does not go with affinity.kind=fisher: landmarks would have a model of "
     "the classes of their own; take pca, spectral or random",
     IKT_ERR_USAGE},
    {{IKT_FACT_DROPPED, IKT_FACT_TRAIN},
     "fisher.train numbers the rows of the file, of which preprocess.missing=drop leaves some out: "
     "take mean or median",
     IKT_ERR_USAGE},
    {{IKT_FACT_UNLABELLED},
     "affinity.kind=fisher needs labels, and the input has none; name them by input.labels",
     IKT_ERR_DATA},
    {{IKT_FACT_MODEL, IKT_FACT_CLASS_GAUSSIAN},
     "output.model of affinity.kind = fisher holds the rows of the support, or needs a matrix of "
     "similarities (input.similarities): kernel.kind = gaussian does not go with it; embed new "
     "rows together with the old ones, without a label or outside fisher.train",
     IKT_ERR_USAGE},
    {{IKT_FACT_MODEL, IKT_FACT_CLASS_CODES},
     "output.model of affinity.kind = fisher holds the rows of the support, or needs a matrix of "
     "similarities (input.similarities): kernel.kind = isolation does not go with it; embed new "
     "rows together with the old ones, without a label or outside fisher.train",
     IKT_ERR_USAGE},
    {{0}, NULL, IKT_OK}};

const ikt_affinity ikt_affinity_fisher = {.name = "fisher",
                                          .scores = IKT_SCORES_CLASSES,
                                          .section = &ikt_fisher_section,
                                          .keys = offsetof(ikt_affinity_settings, fisher),
                                          .neighbours = ikt_perplexity_neighbours,
                                          .also = &ikt_gaussian_section,
                                          .rules = rules,
                                          .facts = find_facts,
                                          .file_key = "fisher.train",
                                          .file = offsetof(ikt_affinity_settings, fisher.train),
                                          .lighter_search = "a smaller fisher.support",
                                          .check = ikt_perplexity_check,
                                          .check_rows = check_rows,
                                          .has_bandwidth_search = true,
                                          .weigh = weigh};
