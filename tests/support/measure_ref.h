/* Plain reference of the measures: O(n^2) and O(n^3) loops in double precision, straight from the
 * definitions, sharing nothing with src/evaluate. Exact where squared distances are small integers.
 */
#ifndef IKT_TEST_MEASURE_REF_H
#define IKT_TEST_MEASURE_REF_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    int64_t n, d, q;
    const float *x; /* [n*d] */
    const float *y; /* [n*q] */
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
    int64_t n = set->n, *high = ref_ranks(set->x, n, set->d), *low = ref_ranks(set->y, n, set->q);
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
                     ref_rank(set->y, set->n, set->q, i, j) <= k;
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

/* The same where each row is the first of its own k nearest. */
static inline double ref_accuracy_with_self(const ikt_ref_set *set, int64_t k) {
    int64_t right = 0;
    for (int64_t i = 0; i < set->n; i++) {
        int64_t best = 0, most = 0;
        for (int64_t a = 0; a < set->n; a++) {
            int64_t votes = set->labels[i] == set->labels[a];
            for (int64_t j = 0; j < set->n; j++)
                votes += j != i && set->labels[j] == set->labels[a] &&
                         ref_rank(set->y, set->n, set->q, i, j) <= k - 1;
            if (votes > most || (votes == most && votes > 0 && set->labels[a] < best)) {
                most = votes;
                best = set->labels[a];
            }
        }
        right += best == set->labels[i];
    }
    return (double)right / (double)set->n;
}

/* Scaled map [n*q] in double precision. */
static inline double *ref_scaled(const ikt_ref_set *set) {
    int64_t q = set->q;
    double *scaled = calloc((size_t)(q * set->n), sizeof *scaled);
    for (int64_t axis = 0; axis < q; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < set->n; i++) {
            low = fmin(low, (double)set->y[q * i + axis]);
            high = fmax(high, (double)set->y[q * i + axis]);
        }
        for (int64_t i = 0; i < set->n; i++)
            scaled[q * i + axis] =
                high > low ? ((double)set->y[q * i + axis] - low) / (high - low) : 0;
    }
    return scaled;
}

/* Distance of two places of up to three axes. */
static inline double ref_apart(const double *a, const double *b, int64_t q) {
    double sum = 0;
    for (int64_t c = 0; c < q; c++)
        sum += pow(a[c] - b[c], 2);
    return sqrt(sum);
}

typedef struct {
    double size, at[3], spread, squares;
} ref_cluster;

static inline ref_cluster ref_cluster_of(const ikt_ref_set *set, const double *at, int64_t label) {
    ref_cluster c = {0, {0}, 0, 0};
    for (int64_t i = 0; i < set->n; i++)
        if (set->labels[i] == label) {
            c.size++;
            for (int64_t axis = 0; axis < set->q; axis++)
                c.at[axis] += at[set->q * i + axis];
        }
    for (int64_t axis = 0; axis < set->q; axis++)
        c.at[axis] /= c.size;
    for (int64_t i = 0; i < set->n; i++)
        if (set->labels[i] == label) {
            double away = ref_apart(at + set->q * i, c.at, set->q);
            c.spread += away / c.size;
            c.squares += away * away;
        }
    return c;
}

/* Davies-Bouldin and Calinski-Harabasz of places at[n*q]; labels are 0 .. count - 1, each with a
 * row. */
static inline void ref_clusters_at(const ikt_ref_set *set, const double *at, int64_t count,
                                   double *db, double *ch) {
    double between = 0, within = 0, mean[3] = {0, 0, 0};
    double n = (double)set->n;
    ref_cluster *c = calloc((size_t)count, sizeof *c);
    for (int64_t i = 0; i < set->q * set->n; i++)
        mean[i % set->q] += at[i] / n;
    *db = 0;
    for (int64_t a = 0; a < count; a++)
        c[a] = ref_cluster_of(set, at, a);
    for (int64_t a = 0; a < count; a++) {
        double worst = 0;
        for (int64_t b = 0; b < count; b++) {
            double apart = ref_apart(c[a].at, c[b].at, set->q);
            if (b != a && apart > 0) worst = fmax(worst, (c[a].spread + c[b].spread) / apart);
        }
        *db += worst / (double)count;
        between += c[a].size * pow(ref_apart(c[a].at, mean, set->q), 2);
        within += c[a].squares;
    }
    *ch = within > 0 ? between / ((double)count - 1) / (within / (n - (double)count)) : 1;
    free(c);
}

/* Those of the scaled map. */
static inline void ref_clusters(const ikt_ref_set *set, int64_t count, double *db, double *ch) {
    double *at = ref_scaled(set);
    ref_clusters_at(set, at, count, db, ch);
    free(at);
}

/* Silhouette of one row of a map scaled by ref_scaled. */
static inline double ref_silhouette(const ikt_ref_set *set, const double *at, int64_t count,
                                    int64_t i) {
    double own = 0, other = INFINITY;
    for (int64_t c = 0; c < count; c++) {
        double sum = 0, size = 0;
        for (int64_t j = 0; j < set->n; j++)
            if (set->labels[j] == c && j != i) {
                sum += ref_apart(at + set->q * i, at + set->q * j, set->q);
                size++;
            }
        if (c != set->labels[i])
            other = fmin(other, sum / size);
        else if (size == 0)
            return 0;
        else
            own = sum / size;
    }
    return fmax(own, other) > 0 ? (other - own) / fmax(own, other) : 0;
}

/* Area under the mean precision - mean recall curve by trapezoids. */
static inline double ref_retrieval(const ikt_ref_set *set, int64_t relevant, int64_t retrieved) {
    int64_t n = set->n, *high = ref_ranks(set->x, n, set->d), *low = ref_ranks(set->y, n, set->q);
    double area = 0, precision[2] = {0, 0}, recall[2] = {0, 0};
    if (relevant > n - 1) relevant = n - 1;
    if (retrieved > n - 1) retrieved = n - 1;
    for (int64_t k = 1; k <= retrieved; k++) {
        precision[1] = recall[1] = 0;
        for (int64_t i = 0; i < n; i++) {
            double found = 0;
            for (int64_t j = 0; j < n; j++)
                found += j != i && high[i * n + j] <= relevant && low[i * n + j] <= k;
            precision[1] += found / (double)k / (double)n;
            recall[1] += found / (double)relevant / (double)n;
        }
        if (k == 1) precision[0] = precision[1];
        area += (recall[1] - recall[0]) * (precision[1] + precision[0]) / 2;
        precision[0] = precision[1];
        recall[0] = recall[1];
    }
    free(high);
    free(low);
    return area;
}

static inline int ref_larger_first(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Outlier ratio of rows [n * d]: mean distance from the centre of the twentieth of the rows,
 * rounded but at least one, that is farthest from it, over that of the others. */
static inline double ref_outlier_ratio(const float *rows, int64_t n, int64_t d) {
    const int64_t tenths = (10 * n) / 20, far = tenths < 5 ? 1 : tenths / 10 + (tenths % 10 >= 5);
    double *away = calloc((size_t)n, sizeof *away), sum[2] = {0, 0};
    for (int64_t c = 0; c < d; c++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++)
            mean += (double)rows[i * d + c] / (double)n;
        for (int64_t i = 0; i < n; i++)
            away[i] += pow((double)rows[i * d + c] - mean, 2);
    }
    qsort(away, (size_t)n, sizeof *away, ref_larger_first);
    for (int64_t i = 0; i < n; i++)
        sum[i < far] += sqrt(away[i]);
    free(away);
    return sum[1] / (double)far / (sum[0] / (double)(n - far));
}

/* Normalised mutual information of two labellings below `count`, by the arithmetic mean. */
static inline double ref_nmi(const int64_t *a, const int32_t *b, int64_t n, int64_t count) {
    double shared = 0, entropy[2] = {0, 0};
    for (int64_t u = 0; u < count; u++)
        for (int64_t v = 0; v < count; v++) {
            double both = 0, first = 0, second = 0;
            for (int64_t i = 0; i < n; i++) {
                both += a[i] == u && b[i] == v;
                first += a[i] == u;
                second += b[i] == v;
            }
            if (both > 0) shared += both / (double)n * log(both * (double)n / (first * second));
            if (v == 0 && first > 0) entropy[0] -= first / (double)n * log(first / (double)n);
            if (u == 0 && second > 0) entropy[1] -= second / (double)n * log(second / (double)n);
        }
    return shared > 0 ? 2 * shared / (entropy[0] + entropy[1]) : 0;
}

/* Sum of squared residuals of the rows of x after the best linear map from y, plus constant: by
 * orthonormal columns of the centred y (Gram-Schmidt, twice). */
static inline double ref_reconstruction(const ikt_ref_set *set, const double *y, int64_t q) {
    int64_t n = set->n;
    double *basis = calloc((size_t)(q * n), sizeof *basis), error = 0;
    for (int64_t a = 0; a < q; a++) {
        double mean = 0, norm = 0;
        for (int64_t i = 0; i < n; i++)
            mean += y[q * i + a] / (double)n;
        for (int64_t i = 0; i < n; i++)
            basis[a * n + i] = y[q * i + a] - mean;
        for (int64_t b = 0; b < 2 * a; b++) {
            double dot = 0;
            for (int64_t i = 0; i < n; i++)
                dot += basis[a * n + i] * basis[b % a * n + i];
            for (int64_t i = 0; i < n; i++)
                basis[a * n + i] -= dot * basis[b % a * n + i];
        }
        for (int64_t i = 0; i < n; i++)
            norm += basis[a * n + i] * basis[a * n + i];
        for (int64_t i = 0; i < n; i++)
            basis[a * n + i] = norm > 1e-20 ? basis[a * n + i] / sqrt(norm) : 0;
    }
    for (int64_t c = 0; c < set->d; c++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++)
            mean += (double)set->x[i * set->d + c] / (double)n;
        for (int64_t i = 0; i < n; i++)
            error += pow((double)set->x[i * set->d + c] - mean, 2);
        for (int64_t a = 0; a < q; a++) {
            double dot = 0;
            for (int64_t i = 0; i < n; i++)
                dot += ((double)set->x[i * set->d + c] - mean) * basis[a * n + i];
            error -= dot * dot;
        }
    }
    free(basis);
    return error;
}

#endif
