/* Gaussian kernel with a bandwidth for each row that gives it the wanted perplexity.
 *
 * Method: Newton's steps on the entropy as a function of log(beta), kept inside the bracket that
 * doubling and halving finds. The entropy falls monotonically with beta, so the bracket always
 * closes; a handful of steps do where bisection takes twenty. */
#include <math.h>

#include "affinity/affinity.h"

enum { STEPS = 64 };
static const double entropy_tolerance = 1e-6, step_most = 1.5;

/* Entropy of p_j proportional to exp(-beta (d_j - least)); the sum of exponentials in *total, and
 * the derivative of the entropy by log(beta) in *slope. */
static double entropy(const float *squared, int64_t count, int64_t skip, double least, double beta,
                      double *total, double *slope) {
    double sum = 0, first = 0, second = 0;
    for (int64_t j = 0; j < count; j++) {
        if (j == skip) continue;
        double distance = (double)squared[j] - least;
        double weight = exp(-beta * distance);
        sum += weight;
        first += weight * distance;
        second += weight * distance * distance;
    }
    double mean = first / sum;
    *total = sum;
    *slope = -beta * beta * (second / sum - mean * mean);
    return log(sum) + beta * mean;
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
    double scale = mean_above(squared, count, skip, *least), target = log(perplexity), slope;
    if (!(scale > 0)) { /* all equally far: any bandwidth gives the uniform distribution */
        entropy(squared, count, skip, *least, 0, total, &slope);
        return 0;
    }
    double at = -log(scale), low = -INFINITY, high = INFINITY; /* of log(beta) */
    for (int step = 0; step < STEPS; step++) {
        double difference = entropy(squared, count, skip, *least, exp(at), total, &slope) - target;
        if (fabs(difference) < entropy_tolerance) break;
        if (difference > 0)
            low = at;
        else
            high = at;
        double move = slope < 0 ? -difference / slope : INFINITY;
        double next = at + fmax(-step_most, fmin(step_most, move));
        if (slope == 0) next = at + (difference > 0 ? step_most : -step_most);
        at = next > low && next < high ? next : (low + high) / 2;
    }
    return exp(at);
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
