/* Weights of the edges of a graph. See affinity.h.
 *
 * Sums are of doubles in the order of the columns. Distances are divided by the largest of the row
 * before they are squared: their Gaussian weights do not depend on the unit, and no square is too
 * large or too small for a float. */
#include "affinity/affinity.h"

#include <math.h>

/* What takes the place of weights that would become 0, which symmetrisation takes for none. */
static const float weight_least = 1e-30F;

void ikt_edge_weights(const ikt_edge_rule *rule, const double *value, int64_t count, float *squared,
                      float *weight) {
    double largest = 0, sum = 0, least, total;
    for (int64_t e = 0; e < count; e++)
        largest = fmax(largest, value[e]);
    if (rule->values == IKT_EDGES_SIMILARITIES) {
        for (int64_t e = 0; e < count; e++)
            sum += value[e] / largest; /* no sum overflows */
        for (int64_t e = 0; e < count; e++)
            weight[e] = (float)(value[e] / largest / sum);
    } else if (rule->values == IKT_EDGES_DISTANCES && rule->kernel == IKT_WEIGHTS_GAUSSIAN) {
        for (int64_t e = 0; e < count; e++) {
            const double part = largest > 0 ? value[e] / largest : 0;
            squared[e] = (float)(part * part);
        }
        const double beta = ikt_gaussian_beta(squared, count, -1, rule->perplexity, &least, &total);
        for (int64_t e = 0; e < count; e++)
            weight[e] = (float)(exp(-beta * ((double)squared[e] - least)) / total);
    } else if (rule->values == IKT_EDGES_DISTANCES || rule->values == IKT_EDGES_NONE) {
        for (int64_t e = 0; e < count; e++)
            weight[e] = (float)(1 / (double)count);
    } else {
        for (int64_t e = 0; e < count; e++)
            weight[e] = (float)(value[e] * rule->scale);
    }
    for (int64_t e = 0; e < count; e++)
        weight[e] = fmaxf(weight[e], weight_least);
}

/* --- the kind --------------------------------------------------------------------------------- */

static const ikt_key keys[] = {
    {"values", IKT_KEY_CHOICE, offsetof(ikt_graph_settings, values), "auto", 0, 0, 0,
     "auto|similarities|distances|probabilities|none", "",
     "What the numbers of input.graph are: similarities of any scale, made p_j|i by the sum of the "
     "row; distances; probabilities, a symmetric P, only scaled to the sum 1; none, every entry "
     "counts the same; auto asks the file: an attribute 'values' of the group, or a name with "
     "distances, connectivities or similarities in it"},
    {"weights", IKT_KEY_CHOICE, offsetof(ikt_graph_settings, weights), "gaussian", 0, 0, 0,
     "gaussian|knn", "",
     "Kernel that makes weights of distances: gaussian with gaussian.perplexity, or knn, the same "
     "weight for every entry of a row"}};

const ikt_section ikt_graph_section = {"graph",
                                       "A neighbour graph in place of a kernel (input.graph)", keys,
                                       sizeof keys / sizeof *keys};

static ikt_status check(ikt_context *ctx, const ikt_affinity_settings *settings, int64_t weighed) {
    (void)weighed;
    if (settings->support == IKT_SUPPORT_SPARSE) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "affinity.support = dense needs a kernel that knows every pair; a graph "
                    "(input.graph) is sparse");
}

/* There are no scores: graph/load.h makes the weights. Rows that the graph leaves alone get as many
 * neighbours as the Isolation kernel gives. */
const ikt_affinity ikt_affinity_graph = {
    .name = "graph",
    .scores = IKT_SCORES_DISTANCES,
    .section = &ikt_graph_section,
    .keys = offsetof(ikt_affinity_settings, graph),
    .check = check,
    .zero_similarity_because =
        "have no entry in the graph; they are tied to their nearest rows by input "
        "distance"};
