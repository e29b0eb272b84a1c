/* Weights of the edges of a graph. See affinity.h.
 *
 * Sums are of doubles in the order of the columns. Distances are divided by the largest of the row
 * before they are squared: their Gaussian weights do not depend on the unit, and no square is too
 * large or too small for a float. */
#include "affinity/affinity.h"

#include <math.h>

#include "base/exact_sum.h"
#include "base/memory.h"

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
     "What the numbers of input.graph are: similarities, of any scale, which are divided by the "
     "sum of their row to give p_j|i; distances; probabilities, a symmetric P, which is only "
     "scaled to the sum 1; or none, in which case every entry counts the same. auto asks the file "
     "for an attribute 'values' of the group, or a name with distances, connectivities or "
     "similarities in it"},
    {"weights", IKT_KEY_CHOICE, offsetof(ikt_graph_settings, weights), "gaussian", 0, 0, 0,
     "gaussian|knn", "",
     "The kernel that makes weights of distances: gaussian uses gaussian.perplexity, and knn gives "
     "every entry of a row the same weight"}};

const ikt_section ikt_graph_section = {"graph",
                                       "A neighbour graph in place of a kernel (input.graph)", keys,
                                       sizeof keys / sizeof *keys};

/* p_j|i = w_ij / sum over the list of w_i., where scores are -w (affinity/matrix.h). */
static ikt_status weigh(ikt_context *ctx, const ikt_affinity_job *job, ikt_neighbours *lists,
                        int64_t *zero_similarity) {
    const int64_t k = lists->k;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < lists->n_local; i++) {
        float *score = lists->score + i * k;
        double sum = 0;
        for (int64_t e = 0; e < k; e++)
            sum -= (double)score[e];
        for (int64_t e = 0; e < k; e++)
            score[e] = sum > 0 ? (float)(-(double)score[e] / sum) : 0;
    }
    return ikt_affinity_adopt_zero_similarity(ctx, job->data, job->rows, job->order, lists,
                                              zero_similarity);
}

static double sum_similarities(const ikt_affinity_job *job, const ikt_dense *dense, int64_t i) {
    float *row = dense->value + i * dense->stride;
    double sum = 0;
    (void)job;
    for (int64_t j = 0; j < dense->rows.n; j++) {
        row[j] = 0 - row[j]; /* -row[j] of 0 would be -0 */
        sum += (double)row[j];
    }
    return sum;
}

static ikt_status dense(ikt_context *ctx, const ikt_affinity_job *job, ikt_dense *dense,
                        int64_t *zero_similarity) {
    *zero_similarity = 0;
    if (job->settings->graph.values != IKT_EDGES_PROBABILITIES)
        return ikt_similarities_dense(ctx, job, sum_similarities, dense, zero_similarity);
    /* A symmetric P up to a factor, as -P: scaled to the sum 1. */
    ikt_exact_sum total = {{0}, 0, 0};
    const int64_t entries = dense->rows.count * dense->stride;
    for (int64_t e = 0; e < entries; e++)
        ikt_exact_sum_add(&total, -(double)dense->value[e]);
    ikt_exact_sum_reduce(ctx, &total, 1);
    const double sum = ikt_exact_sum_value(&total);
    if (!(sum > 0))
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "all probabilities of different rows in input.graph are 0");
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < entries; e++)
        dense->value[e] = (float)((0 - (double)dense->value[e]) / sum);
    return IKT_OK;
}

/* Weights of sparse graphs are made while they are read (graph/load.c); those of lists and of all
 * pairs come from a matrix. Rows that a graph leaves alone get as many neighbours as the Isolation
 * kernel gives. */
const ikt_affinity ikt_affinity_graph = {
    .name = "graph",
    .scores = IKT_SCORES_DISTANCES,
    .section = &ikt_graph_section,
    .keys = offsetof(ikt_affinity_settings, graph),
    .weigh = weigh,
    .dense = dense,
    .zero_similarity_because =
        "have no entry in the graph; they are tied to their nearest rows by input "
        "distance"};
