/* Plain reference of the measures: O(n^2) and O(n^3) loops in double precision, straight from the
 * definitions, sharing nothing with src/evaluate. Exact where squared distances are small integers.
 */
#ifndef IKT_TEST_MEASURE_REF_H
#define IKT_TEST_MEASURE_REF_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    int64_t n, d;
    const float *x; /* [n*d] */
    const float *y; /* [n*2] */
    const int64_t *labels;
} ikt_ref_set;

static inline double ref_squared(const float *rows, int64_t d, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t c = 0; c < d; c++) {
        double apart = (double)rows[i * d + c] - (double)rows[j * d + c];
        sum += apart * apart;
    }
    return sum;
}

/* Rank of j among the others of i, from 1: how many come before it by (distance, row). */
static inline int64_t ref_rank(const float *rows, int64_t n, int64_t d, int64_t i, int64_t j) {
    int64_t rank = 1;
    double own = ref_squared(rows, d, i, j);
    for (int64_t l = 0; l < n; l++) {
        double other = ref_squared(rows, d, i, l);
        rank += l != i && l != j && (other < own || (other == own && l < j));
    }
    return rank;
}

/* Ranks of all rows from all rows, [n*n]; 0 on the diagonal. */
static inline int64_t *ref_ranks(const float *rows, int64_t n, int64_t d) {
    int64_t *ranks = calloc((size_t)(n * n), sizeof *ranks);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (i != j) ranks[i * n + j] = ref_rank(rows, n, d, i, j);
    return ranks;
}

typedef struct {
    double auc, auc_paper, trust, continuity;
} ikt_ref_ranks;

static inline double ref_r(const int64_t *high, const int64_t *low, int64_t n, int64_t k) {
    double common = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            common += i != j && high[i * n + j] <= k && low[i * n + j] <= k;
    double q = common / (double)(n * k);
    return ((double)(n - 1) * q - (double)k) / (double)(n - 1 - k);
}

static inline int ref_paper_takes(int64_t n, int64_t k) {
    for (int64_t percent = 1; percent < 100; percent += 2)
        if (floor((double)(percent * n) / 100.0 + 0.5) == (double)k) return 1;
    return 0;
}

static inline double ref_trust(const int64_t *high, const int64_t *low, int64_t n, int64_t k) {
    double sum = 0;
    for (int64_t e = 0; e < n * n; e++)
        if (low[e] >= 1 && low[e] <= k && high[e] > k) sum += (double)(high[e] - k);
    return 1 - 2 * sum / ((double)n * (double)k * (double)(2 * n - 3 * k - 1));
}

static inline ikt_ref_ranks ref_rank_measures(const ikt_ref_set *set, int64_t trust_k) {
    int64_t n = set->n, *high = ref_ranks(set->x, n, set->d), *low = ref_ranks(set->y, n, 2);
    double sum[2] = {0, 0}, weight[2] = {0, 0};
    for (int64_t k = 1; k <= n - 2; k++) {
        double value = ref_r(high, low, n, k) / (double)k;
        int paper = ref_paper_takes(n, k);
        sum[0] += value;
        weight[0] += 1 / (double)k;
        sum[1] += paper ? value : 0;
        weight[1] += paper ? 1 / (double)k : 0;
    }
    ikt_ref_ranks result = {sum[0] / weight[0], sum[1] / weight[1],
                            ref_trust(high, low, n, trust_k), ref_trust(low, high, n, trust_k)};
    free(high);
    free(low);
    return result;
}

/* The label that most of the k nearest rows in the map have; the smallest of several. */
static inline int64_t ref_vote(const ikt_ref_set *set, int64_t i, int64_t k) {
    int64_t best = 0, most = 0;
    for (int64_t a = 0; a < set->n; a++) {
        int64_t votes = 0;
        for (int64_t j = 0; j < set->n; j++)
            votes += j != i && set->labels[j] == set->labels[a] &&
                     ref_rank(set->y, set->n, 2, i, j) <= k;
        if (votes > most || (votes == most && votes > 0 && set->labels[a] < best)) {
            most = votes;
            best = set->labels[a];
        }
    }
    return best;
}

static inline double ref_accuracy(const ikt_ref_set *set, int64_t k) {
    int64_t right = 0;
    for (int64_t i = 0; i < set->n; i++)
        right += ref_vote(set, i, k) == set->labels[i];
    return (double)right / (double)set->n;
}

/* Scaled map [n*2] in double precision. */
static inline double *ref_scaled(const ikt_ref_set *set) {
    double *scaled = calloc((size_t)(2 * set->n), sizeof *scaled);
    for (int64_t axis = 0; axis < 2; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < set->n; i++) {
            low = fmin(low, (double)set->y[2 * i + axis]);
            high = fmax(high, (double)set->y[2 * i + axis]);
        }
        for (int64_t i = 0; i < set->n; i++)
            scaled[2 * i + axis] =
                high > low ? ((double)set->y[2 * i + axis] - low) / (high - low) : 0;
    }
    return scaled;
}

typedef struct {
    double size, x, y, spread, squares;
} ref_cluster;

static inline ref_cluster ref_cluster_of(const ikt_ref_set *set, const double *at, int64_t label) {
    ref_cluster c = {0, 0, 0, 0, 0};
    for (int64_t i = 0; i < set->n; i++)
        if (set->labels[i] == label) {
            c.size++;
            c.x += at[2 * i];
            c.y += at[2 * i + 1];
        }
    c.x /= c.size;
    c.y /= c.size;
    for (int64_t i = 0; i < set->n; i++)
        if (set->labels[i] == label) {
            double away = hypot(at[2 * i] - c.x, at[2 * i + 1] - c.y);
            c.spread += away / c.size;
            c.squares += away * away;
        }
    return c;
}

/* Davies-Bouldin and Calinski-Harabasz; labels are 0 .. count - 1, each with a row. */
static inline void ref_clusters(const ikt_ref_set *set, int64_t count, double *db, double *ch) {
    double *at = ref_scaled(set), between = 0, within = 0, mean[2] = {0, 0};
    double n = (double)set->n;
    ref_cluster *c = calloc((size_t)count, sizeof *c);
    for (int64_t i = 0; i < 2 * set->n; i++)
        mean[i % 2] += at[i] / n;
    *db = 0;
    for (int64_t a = 0; a < count; a++)
        c[a] = ref_cluster_of(set, at, a);
    for (int64_t a = 0; a < count; a++) {
        double worst = 0;
        for (int64_t b = 0; b < count; b++) {
            double apart = hypot(c[a].x - c[b].x, c[a].y - c[b].y);
            if (b != a && apart > 0) worst = fmax(worst, (c[a].spread + c[b].spread) / apart);
        }
        *db += worst / (double)count;
        between += c[a].size * (pow(c[a].x - mean[0], 2) + pow(c[a].y - mean[1], 2));
        within += c[a].squares;
    }
    *ch = within > 0 ? between / ((double)count - 1) / (within / (n - (double)count)) : 1;
    free(at);
    free(c);
}

#endif
