/* The Fisher distance as its formulas say, in double precision and without any haste: what segment,
 * class model and search are compared with. */
#ifndef IKT_TEST_FISHER_REF_H
#define IKT_TEST_FISHER_REF_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "metric/segment.h"

enum { REF_SUPPORT_MOST = 512, REF_CLASSES_MOST = 32 };

/* Two rows by the logarithms of their weights, up to a summand of each. */
typedef struct {
    int64_t m;
    int classes;
    const int32_t *of;        /* [m] */
    const double *low, *high; /* [m] a_il, a_jl, natural logarithms */
    int64_t one, another;     /* entries that are left out, or -1 */
} ref_pair;

static inline double ref_weight(const ref_pair *r, double t, int64_t l) {
    if (l == r->one || l == r->another) return 0;
    double most = -INFINITY;
    for (int64_t e = 0; e < r->m; e++)
        if (e != r->one && e != r->another) most = fmax(most, (1 - t) * r->low[e] + t * r->high[e]);
    return exp((1 - t) * r->low[l] + t * r->high[l] - most);
}

/* p_c(t), and the square of the speed. */
static inline double ref_point(const ref_pair *r, double t, double p[REF_CLASSES_MOST]) {
    double sum[REF_CLASSES_MOST] = {0}, rise[REF_CLASSES_MOST] = {0}, total = 0, mean = 0, v = 0;
    double most = -INFINITY;
    for (int64_t l = 0; l < r->m; l++)
        if (l != r->one && l != r->another) most = fmax(most, (1 - t) * r->low[l] + t * r->high[l]);
    for (int64_t l = 0; l < r->m; l++) {
        if (l == r->one || l == r->another) continue;
        const double w = exp((1 - t) * r->low[l] + t * r->high[l] - most);
        sum[r->of[l]] += w;
        rise[r->of[l]] += w * (r->high[l] - r->low[l]);
        total += w;
        mean += w * (r->high[l] - r->low[l]);
    }
    mean /= total;
    for (int c = 0; c < r->classes; c++) {
        p[c] = sum[c] / total;
        if (sum[c] > 0) v += p[c] * (rise[c] / sum[c] - mean) * (rise[c] / sum[c] - mean);
    }
    return v;
}

static inline double ref_distance(const ref_pair *r, ikt_segment_rule rule, int points) {
    const int pieces = points + 1;
    double before[REF_CLASSES_MOST], here[REF_CLASSES_MOST], length = 0;
    for (int q = 0; q <= pieces; q++) {
        const double v = sqrt(ref_point(r, (double)q / pieces, here));
        const bool is_end = q == 0 || q == pieces;
        if (rule == IKT_RULE_ARC && q > 0) {
            double chord = 0;
            for (int c = 0; c < r->classes; c++)
                chord += pow(sqrt(here[c]) - sqrt(before[c]), 2);
            length += 4 * asin(sqrt(fmin(chord, 2)) / 2);
        } else if (rule == IKT_RULE_TRAPEZOID) {
            length += (is_end ? v / 2 : v) / pieces;
        } else if (rule == IKT_RULE_OUTER && 2 * q != pieces) {
            length += v / pieces;
        }
        for (int c = 0; c < r->classes; c++)
            before[c] = here[c];
    }
    return length;
}

#endif
