/* Gaussian kernel with a bandwidth for each row that gives it the wanted perplexity.
 *
 * Method: bisection on log(beta), started from the bracket that doubling and halving finds.
 * The entropy falls monotonically with beta, so the bracket always closes. */
#include <math.h>

#include "affinity/affinity.h"

enum { BISECTIONS = 64 };
static const double entropy_tolerance = 1e-6;

/* Entropy of p_j proportional to exp(-beta (d_j - least)); the sum of exponentials in *total. */
static double entropy(const float *squared, int64_t count, int64_t skip, double least, double beta,
                      double *total) {
    double sum = 0, moment = 0;
    for (int64_t j = 0; j < count; j++) {
        if (j == skip) continue;
        double distance = (double)squared[j] - least;
        double weight = exp(-beta * distance);
        sum += weight;
        moment += weight * distance;
    }
    *total = sum;
    return log(sum) + beta * moment / sum;
}

static double mean_above(const float *squared, int64_t count, int64_t skip, double least) {
    double sum = 0;
    for (int64_t j = 0; j < count; j++)
        if (j != skip) sum += (double)squared[j] - least;
    return sum / (double)count;
}

double ikt_gaussian_beta(const float *squared, int64_t count, int64_t skip, double perplexity,
                         double *least, double *total) {
    *least = INFINITY;
    for (int64_t j = 0; j < count; j++)
        if (j != skip && (double)squared[j] < *least) *least = (double)squared[j];
    double scale = mean_above(squared, count, skip, *least), target = log(perplexity);
    if (!(scale > 0)) { /* all equally far: any bandwidth gives the uniform distribution */
        entropy(squared, count, skip, *least, 0, total);
        return 0;
    }
    double beta = 1 / scale, low = 0, high = INFINITY;
    for (int step = 0; step < BISECTIONS; step++) {
        double difference = entropy(squared, count, skip, *least, beta, total) - target;
        if (fabs(difference) < entropy_tolerance) break;
        if (difference > 0)
            low = beta;
        else
            high = beta;
        beta = isinf(high) ? 2 * beta : low == 0 ? beta / 2 : sqrt(low * high);
    }
    return beta;
}

void ikt_gaussian_weights(ikt_context *ctx, const ikt_neighbours *lists, double perplexity,
                          float *weight) {
    int64_t k = lists->k;
#pragma omp parallel for schedule(dynamic, 256) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < lists->n_local; i++) {
        const float *squared = lists->score + i * k;
        double least, total, beta = ikt_gaussian_beta(squared, k, -1, perplexity, &least, &total);
        for (int64_t e = 0; e < k; e++)
            weight[i * k + e] = (float)(exp(-beta * ((double)squared[e] - least)) / total);
    }
}
