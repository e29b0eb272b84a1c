/* Configuration of the affinities, and what "auto" means for a given number of rows. */
#include <math.h>

#include "affinity/affinity.h"

static const ikt_key affinity_keys[] = {
    {"kind", IKT_KEY_CHOICE, offsetof(ikt_affinity_settings, kind), "isolation", 0, 0, 0,
     "isolation|gaussian", "",
     "Kernel that measures how similar two rows are: the Isolation kernel, or the Gaussian kernel "
     "of plain t-SNE"},
    {"neighbours", IKT_KEY_INT, offsetof(ikt_affinity_settings, neighbours), "auto", 1, 1e9, 1,
     NULL, "rows",
     "Most similar rows that each row is attracted to (k); auto is 30 for isolation and three "
     "times "
     "the perplexity for gaussian"},
    {"support", IKT_KEY_CHOICE, offsetof(ikt_affinity_settings, support), "sparse", 0, 0, 0,
     "sparse|dense", "",
     "sparse keeps the most similar rows only; dense keeps every pair, in 4 n^2 bytes over all "
     "ranks"},
    {"search", IKT_KEY_CHOICE, offsetof(ikt_affinity_settings, search), "auto", 0, 0, 0,
     "auto|exact|approximate", "",
     "How the most similar rows are found: exact compares all pairs; approximate compares a row "
     "with those of near cells only, and measures on 1,000 rows what that misses; auto is exact up "
     "to 16,384 rows"},
    {"candidates", IKT_KEY_INT, offsetof(ikt_affinity_settings, candidates), "auto", 2, 1e9, 1,
     NULL, "rows",
     "Rows of near cells that each row is compared with in approximate search: more finds more and "
     "takes longer; auto is 900 log2(n / 2048), for gaussian four times that, and at least 40 "
     "times the neighbours"},
    {"refinements", IKT_KEY_INT, offsetof(ikt_affinity_settings, refinements), "0", 0, 100, 0, NULL,
     "rounds",
     "Rounds in which, after approximate search, each row is compared with the neighbours of its "
     "neighbours"}};

const ikt_section ikt_affinity_section = {"affinity", "How similar two rows are", affinity_keys,
                                          sizeof affinity_keys / sizeof *affinity_keys};

static const ikt_key gaussian_keys[] = {
    {"perplexity", IKT_KEY_REAL, offsetof(ikt_gaussian_settings, perplexity), "30", 1, 1e6, 0, NULL,
     "rows", "Effective number of neighbours of a row under the Gaussian kernel"}};

const ikt_section ikt_gaussian_section = {
    "gaussian", "The Gaussian kernel (affinity.kind: gaussian)", gaussian_keys,
    sizeof gaussian_keys / sizeof *gaussian_keys};

/* Candidates for each doubling of the rows, so that about as much is found at any number of them:
 * codes are sought by similarity, of which many rows have the same, distances for the rows. */
enum { EXACT_ROWS = 16384, DOUBLINGS_FROM = 2048, CODES = 900, DISTANCES = 3600 };

bool ikt_affinity_is_approximate(const ikt_affinity_settings *settings, int64_t n) {
    if (settings->search != IKT_SEARCH_AUTO) return settings->search == IKT_SEARCH_APPROXIMATE;
    return n > EXACT_ROWS;
}

int64_t ikt_affinity_candidates(const ikt_affinity_settings *settings, int64_t n, int64_t k) {
    if (settings->candidates != IKT_AUTO_INT)
        return settings->candidates > k ? settings->candidates : k + 1;
    const int64_t least_per_neighbour = 40;
    double doublings = fmax(log2((double)n / DOUBLINGS_FROM), 1);
    int64_t each = settings->kind == IKT_AFFINITY_GAUSSIAN ? DISTANCES : CODES;
    int64_t wanted = (int64_t)((double)each * doublings);
    return wanted > k * least_per_neighbour ? wanted : k * least_per_neighbour;
}

static int64_t at_most(int64_t value, int64_t limit) {
    return value < limit ? value : limit;
}

ikt_status ikt_affinity_resolve(ikt_context *ctx, const ikt_affinity_settings *settings,
                                const ikt_gaussian_settings *gaussian, int64_t n, int64_t *k) {
    int is_gaussian = settings->kind == IKT_AFFINITY_GAUSSIAN;
    if (n < 2)
        return ikt_fail(ctx, IKT_ERR_DATA, "an embedding needs at least 2 rows, the data has %lld",
                        (long long)n);
    if (settings->neighbours != IKT_AUTO_INT)
        *k = settings->neighbours;
    else
        *k = at_most(is_gaussian ? (int64_t)ceil(3 * gaussian->perplexity) : 30, n - 1);
    if (settings->support == IKT_SUPPORT_DENSE) *k = n - 1;
    if (*k >= n)
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "affinity.neighbours = %lld, but a row has only %lld others; choose at most "
            "%lld",
            (long long)*k, (long long)(n - 1), (long long)(n - 1));
    if (is_gaussian && gaussian->perplexity > (double)*k)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "gaussian.perplexity = %g needs more than the %lld neighbours of a row; "
                        "choose a smaller perplexity or more affinity.neighbours",
                        gaussian->perplexity, (long long)*k);
    return IKT_OK;
}
