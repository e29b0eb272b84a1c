/* Keys of the section `fisher`. */
#include "metric/fisher_settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALL_MOST = 131072,
    AMONG_LEAST = 1000,
    AMONG_EACH = 40,
    NEAR_LEAST = 2000,
    NEAR_DOUBLINGS_FROM = 16384
};

#define KEY(name) offsetof(ikt_fisher_settings, name)

static const ikt_key keys[] = {
    {"support", IKT_KEY_INT, KEY(support), "auto", 3, IKT_SUPPORT_MOST, 1, NULL, "rows",
     "The labelled rows by which the probabilities of the classes are estimated, shared among the "
     "classes by their sizes, at least two of each; auto is all labelled rows, at most 1,000"},
    {"sigma", IKT_KEY_STRING, KEY(sigma), "likelihood", 0, 0, 0, NULL, "",
     "The bandwidth of the estimate: likelihood takes, from a grid about that of perplexity, the "
     "one with which the support rows tell each other's labels best; perplexity is the mean of the "
     "bandwidths of t-SNE on the support; or a number"},
    {"rule", IKT_KEY_CHOICE, KEY(rule), "arc", 0, 0, 0, "arc|outer|trapezoid", "",
     "How the distance of two rows is summed up along the line between them: arc adds the great "
     "circles between its points; outer (the sum of the paper) and trapezoid add speeds at the "
     "points, and serve comparisons with the paper only"},
    {"points", IKT_KEY_INT, KEY(points), "5", 0, IKT_POINTS_MOST, 0, NULL, "points",
     "The points T between the two rows at which the probabilities are computed. More points cost "
     "time in proportion; 0 takes the probabilities of the two rows alone"},
    {"own", IKT_KEY_CHOICE, KEY(own), "left_out", 0, 0, 0, "left_out|kept", "",
     "Whether a row of the support has its own label among those that tell its class. left_out "
     "does not let a row repeat its label; kept, as in the paper, does, so that even labels "
     "without any meaning seem to part the rows of the support"},
    {"euclidean", IKT_KEY_REAL, KEY(euclidean), "auto", 0, 1e6, 1, NULL, "",
     "The share of the plain distance of two rows, which is added in squares: 1 makes the median "
     "plain distance count as much as the distance of two rows of certain, different classes. It "
     "keeps the order within a class. auto is 0.3, and 0 for a matrix of all pairs, which has no "
     "rows; 0 is the paper's"},
    {"candidates", IKT_KEY_CHOICE, KEY(candidates), "auto", 0, 0, 0,
     "auto|all|posterior|euclidean|near", "",
     "The rows among which the nearest ones are found: all; posterior, those with the most similar "
     "probabilities of the classes; euclidean, those at the least plain distance, which is another "
     "method; near, those of near cells by what posterior compares, which takes time in proportion "
     "to the rows and says how many of the true neighbours it found on some rows. For the others "
     "the log says for how many rows the lists are proved to be those of all. auto is all up to "
     "131,072 rows, then near"},
    {"among", IKT_KEY_INT, KEY(among), "auto", 2, 1e9, 1, NULL, "rows",
     "The candidates of a row; auto is forty times the neighbours, at least 1,000; of near cells "
     "at least 2,000, and so many more for each doubling of the rows from 32,768 on"},
    {"train", IKT_KEY_STRING, KEY(train), "", 0, 0, 0, NULL, "",
     "The rows whose labels may be used, as FILE.h5:DATASET, FILE.csv or FILE.npy with their "
     "numbers, from 0 on; the labels of all others serve figures only. Empty: all rows that have a "
     "label"},
    {"permute", IKT_KEY_BOOL, KEY(permute), "no", 0, 0, 0, NULL, "",
     "Give the labelled rows each other's labels at random before anything else: a baseline, whose "
     "map must not show these labels. The figures then count the permuted labels"}};

const ikt_section ikt_fisher_section = {
    "fisher", "Distances that follow given labels (affinity.kind: fisher; docs/fisher.md)", keys,
    sizeof keys / sizeof *keys};

bool ikt_fisher_sigma(const ikt_fisher_settings *settings, ikt_sigma_rule *rule, double *given) {
    char *end;
    *given = 0;
    *rule = IKT_SIGMA_LIKELIHOOD;
    if (strcmp(settings->sigma, "likelihood") == 0) return true;
    *rule = IKT_SIGMA_PERPLEXITY;
    if (strcmp(settings->sigma, "perplexity") == 0) return true;
    *rule = IKT_SIGMA_GIVEN;
    *given = strtod(settings->sigma, &end);
    return end != settings->sigma && *end == '\0' && *given > 0 && isfinite(*given);
}

ikt_status ikt_fisher_check(ikt_context *ctx, const ikt_fisher_settings *settings) {
    ikt_sigma_rule rule;
    double given;
    if (!ikt_fisher_sigma(settings, &rule, &given))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "fisher.sigma = %.80s is neither likelihood nor perplexity nor a number "
                        "above 0",
                        settings->sigma);
    if (settings->rule == IKT_RULE_OUTER && settings->points % 2 == 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "fisher.rule=outer leaves out the middle of the line, which needs an odd "
                        "number of points between its ends: fisher.points = %lld",
                        (long long)settings->points);
    if (settings->among != IKT_AUTO_INT && settings->candidates == IKT_CANDIDATES_ALL)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "fisher.among = %lld, but fisher.candidates is all; take posterior or "
                        "euclidean",
                        (long long)settings->among);
    return IKT_OK;
}

double ikt_fisher_euclidean(const ikt_fisher_settings *settings, bool has_rows) {
    const double usual = 0.3;
    if (settings->euclidean != IKT_AUTO_REAL) return settings->euclidean;
    return has_rows ? usual : 0;
}

int64_t ikt_fisher_support(const ikt_fisher_settings *settings, int64_t labelled) {
    if (settings->support != IKT_AUTO_INT) return settings->support;
    return labelled < IKT_SUPPORT_USUAL ? labelled : IKT_SUPPORT_USUAL;
}

ikt_fisher_candidates ikt_fisher_candidates_of(const ikt_fisher_settings *settings, int64_t n) {
    if (settings->candidates != IKT_CANDIDATES_AUTO)
        return (ikt_fisher_candidates)settings->candidates;
    return n <= ALL_MOST ? IKT_CANDIDATES_ALL : IKT_CANDIDATES_NEAR;
}

int64_t ikt_fisher_among(const ikt_fisher_settings *settings, int64_t n, int64_t k) {
    if (settings->among != IKT_AUTO_INT) return settings->among > k ? settings->among : k + 1;
    const int64_t each = AMONG_EACH * k;
    if (ikt_fisher_candidates_of(settings, n) != IKT_CANDIDATES_NEAR)
        return each > AMONG_LEAST ? each : AMONG_LEAST;
    const double doublings = fmax(log2((double)n / NEAR_DOUBLINGS_FROM), 1);
    return (int64_t)((double)(each > NEAR_LEAST ? each : NEAR_LEAST) * doublings);
}
