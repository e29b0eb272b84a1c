/* Kernel discriminant analysis. See kernel_map.h. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/rng.h"
#include "base/sort.h"
#include "linalg/column_stats.h"
#include "linalg/eigen.h"
#include "similarity/kernel_map.h"

/* Powers of the square root of ten that are tried. */
enum { PERMUTATIONS = 8, LEAST_POWER = -8, MOST_POWER = 6 };

/* Standard errors below chance from which permuted labels are told too well. */
static const double leaking_errors = 3;

/* Distances that differ by less are equal, in units of what rounding_of makes of them: the solver
 * errs by up to 4 of these on rows that come twice (docs/notebook/2026-11-27-ties.md). */
static const double rounding_units = 64;

static const char purpose[] = "kernel map";

/* The true labels, and after them the permuted ones. */
typedef struct {
    int64_t m, classes, responses; /* responses = classes - 1, of each labelling */
    int32_t *class_of;             /* [(1 + PERMUTATIONS) * m] */
    int64_t *size;                 /* [classes] */
    double *response;              /* [(1 + PERMUTATIONS) * responses * m] as rows, */
    double *solution;              /* and A, */
    double *coordinate;            /* and H K H A */
    double *wrong;                 /* [m] share of the nearest rows with another label */
    double diagonal;               /* mean of that of H K H */
} labellings;

static void labellings_destroy(labellings *l) {
    ikt_free_all(&l->class_of, &l->size, &l->response, &l->solution, &l->coordinate, &l->wrong);
}

/* Numbers the classes in the order of their labels. */
static ikt_status number_classes(ikt_context *ctx, const int64_t *label, labellings *l) {
    int64_t *sorted IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc(ctx, &sorted, l->m, sizeof *sorted, purpose));
    memcpy(sorted, label, (size_t)l->m * sizeof *sorted);
    const int64_t count = ikt_sort_distinct_i64(sorted, l->m);
    l->classes = count;
    l->responses = count - 1;
    IKT_TRY(ikt_alloc(ctx, &l->size, count, sizeof *l->size, purpose));
    for (int64_t i = 0; i < l->m; i++) {
        l->class_of[i] = (int32_t)ikt_find_i64(sorted, count, label[i]);
        l->size[l->class_of[i]]++;
    }
    if (count < 2)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "kernel discriminant analysis needs two classes, and all rows that the map "
                        "is made of have the label %lld",
                        (long long)label[0]);
    for (int64_t c = 0; c < count; c++)
        if (l->size[c] < 2)
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "kernel discriminant analysis needs two rows of each class among those "
                            "that the map is made of, and there is one of label %lld; leave the "
                            "class out, or take more kernel.landmarks",
                            (long long)sorted[c]);
    return IKT_OK;
}

/* What Gram and Schmidt make of 1 and the indicators of the classes in their order: with N rows in
 * class c and M in those after it, sqrt(M / (N (N + M))) in class c, -sqrt(N / (M (N + M))) after
 * it, 0 before. */
static void respond(const labellings *l, const int32_t *class_of, double *response) {
    int64_t after = l->m;
    for (int64_t c = 0; c < l->responses; c++) {
        const double n = (double)l->size[c], all = (double)after, rest = all - n;
        after -= l->size[c];
        for (int64_t i = 0; i < l->m; i++)
            response[c * l->m + i] = class_of[i] == c  ? sqrt(rest / (n * all))
                                     : class_of[i] > c ? -sqrt(n / (rest * all))
                                                       : 0;
    }
}

/* Fisher and Yates. */
static void permute(uint64_t seed, int64_t which, int64_t m, int32_t *class_of) {
    for (int64_t i = m - 1; i > 0; i--) {
        const int64_t j = ikt_rng_below(seed, IKT_RNG_SHUFFLED, which, (uint64_t)i, i + 1);
        const int32_t other = class_of[j];
        class_of[j] = class_of[i];
        class_of[i] = other;
    }
}

static ikt_status labellings_make(ikt_context *ctx, int64_t m, const int64_t *label, uint64_t seed,
                                  labellings *l) {
    const int64_t sets = 1 + PERMUTATIONS;
    *l = (labellings){.m = m};
    IKT_TRY(ikt_alloc(ctx, &l->class_of, sets * m, sizeof *l->class_of, purpose));
    IKT_TRY(number_classes(ctx, label, l));
    const int64_t count = sets * l->responses * m;
    IKT_ARRAYS(held, ctx, purpose);
    l->response = ikt_claim_kept(&held, count, sizeof *l->response);
    l->solution = ikt_claim_kept(&held, count, sizeof *l->solution);
    l->coordinate = ikt_claim_kept(&held, count, sizeof *l->coordinate);
    l->wrong = ikt_claim_kept(&held, m, sizeof *l->wrong);
    IKT_TRY(held.status);
    for (int64_t p = 0; p < sets; p++) {
        int32_t *class_of = l->class_of + p * m;
        if (p > 0) {
            memcpy(class_of, l->class_of, (size_t)m * sizeof *class_of);
            permute(seed, p - 1, m, class_of);
        }
        respond(l, class_of, l->response + p * l->responses * m);
    }
    return IKT_OK;
}

/* What rounding makes of distances between coordinates R - delta A. A solution by Cholesky leaves a
 * residual in every row of about epsilon times a diagonal entry of H K H + delta I times the sum of
 * |A|, and no residual moves a coordinate by more than its own length. */
static double rounding_of(const labellings *l, const double *solution, double ridge) {
    double square = 0;
    for (int64_t c = 0; c < l->responses; c++) {
        double sum = 0;
        for (int64_t i = 0; i < l->m; i++)
            sum += fabs(solution[c * l->m + i]);
        square += sum * sum;
    }
    return rounding_units * DBL_EPSILON * (fabs(l->diagonal) + ridge) * sqrt(square);
}

static double square_between(const labellings *l, const double *y, int64_t i, int64_t j) {
    double square = 0;
    for (int64_t c = 0; c < l->responses; c++) {
        const double gap = y[c * l->m + i] - y[c * l->m + j];
        square += gap * gap;
    }
    return square;
}

/* The share of a row's nearest other rows that have another class. Those within rounding of the
 * nearest are ties with it, so that neither the solver's last bits, in which equal rows of one
 * label differ from those of another, nor the order of the rows chooses among them. */
static double share_of_errors(const labellings *l, const int32_t *class_of, const double *y,
                              double rounding, int64_t i) {
    double least = INFINITY;
    int64_t ties = 0, wrong = 0;
    for (int64_t j = 0; j < l->m; j++)
        if (j != i) least = fmin(least, square_between(l, y, i, j));
    const double reach = sqrt(least) + rounding, tied = fmax(least, reach * reach);
    for (int64_t j = 0; j < l->m; j++) {
        const bool is_tied = j != i && square_between(l, y, i, j) <= tied;
        ties += is_tied;
        wrong += is_tied && class_of[j] != class_of[i];
    }
    return (double)wrong / (double)ties;
}

/* COLLECTIVE. The leave-one-out error of the nearest row, by the coordinates of a labelling. */
static double error_of(ikt_context *ctx, const labellings *l, int64_t set, double ridge) {
    const ikt_rows share = ikt_rows_make(l->m, ikt_size(ctx), ikt_rank(ctx));
    const int32_t *class_of = l->class_of + set * l->m;
    const int64_t first = set * l->responses * l->m;
    const double rounding = rounding_of(l, l->solution + first, ridge);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < share.count; i++)
        l->wrong[i] =
            share_of_errors(l, class_of, l->coordinate + first, rounding, share.first + i);
    return ikt_exact_total(ctx, l->wrong, share.count) / (double)l->m;
}

/* COLLECTIVE. Solves for one delta, and counts what comes of it: (H K H + delta I) A = R gives
 * H K H A = R - delta A.
 *   shifted   [own rows * m] work space */
static ikt_status try_ridge(ikt_context *ctx, const labellings *l, const double *centred,
                            double ridge, int64_t alone_max, double *shifted, bool *is_definite,
                            ikt_discriminant_facts *facts) {
    const ikt_rows share = ikt_rows_make(l->m, ikt_size(ctx), ikt_rank(ctx));
    const int64_t sides = (1 + PERMUTATIONS) * l->responses, m = l->m;
    for (int64_t i = 0; i < share.count; i++) {
        memcpy(shifted + i * m, centred + i * m, (size_t)m * sizeof *shifted);
        shifted[i * m + share.first + i] += ridge;
    }
    IKT_TRY(ikt_cholesky_solve(ctx, &share, shifted, l->response, sides, alone_max, l->solution,
                               is_definite));
    if (!*is_definite) return IKT_OK;
    for (int64_t e = 0; e < sides * m; e++)
        l->coordinate[e] = l->response[e] - ridge * l->solution[e];
    facts->ridge = ridge;
    facts->error = error_of(ctx, l, 0, ridge);
    facts->baseline = 0;
    for (int64_t p = 1; p <= PERMUTATIONS; p++)
        facts->baseline += error_of(ctx, l, p, ridge) / PERMUTATIONS;
    const double deviation = sqrt(facts->chance * (1 - facts->chance) / (double)m);
    facts->leaks = facts->baseline < facts->chance - leaking_errors * deviation;
    return IKT_OK;
}

/* COLLECTIVE. From the largest delta down to the last that is definite and does not leak; at least
 * the largest. The one that is taken is solved for once more where a smaller one was tried. */
static ikt_status choose(ikt_context *ctx, const labellings *l, const double *centred,
                         int64_t alone_max, double *shifted, bool *is_definite,
                         ikt_discriminant_facts *facts) {
    int power = MOST_POWER;
    double taken = l->diagonal * pow(10, power / 2.0);
    IKT_TRY(try_ridge(ctx, l, centred, taken, alone_max, shifted, is_definite, facts));
    bool goes_on = *is_definite && !facts->leaks;
    while (goes_on && power > LEAST_POWER) {
        const double smaller = l->diagonal * pow(10, --power / 2.0);
        IKT_TRY(try_ridge(ctx, l, centred, smaller, alone_max, shifted, is_definite, facts));
        goes_on = *is_definite && !facts->leaks;
        if (goes_on) taken = smaller;
    }
    if (goes_on || power == MOST_POWER) return IKT_OK;
    return try_ridge(ctx, l, centred, taken, alone_max, shifted, is_definite, facts);
}

/* COLLECTIVE. A for the delta that was given, or for the one that is chosen. */
static ikt_status solve(ikt_context *ctx, const labellings *l, const double *centred, double ridge,
                        int64_t alone_max, ikt_discriminant_facts *facts) {
    const ikt_rows share = ikt_rows_make(l->m, ikt_size(ctx), ikt_rank(ctx));
    double *shifted IKT_AT_END(ikt_free) = NULL;
    bool is_definite = false;
    IKT_TRY(ikt_alloc_all(ctx, &shifted, share.count * l->m, sizeof *shifted, purpose));
    if (ridge > 0)
        IKT_TRY(try_ridge(ctx, l, centred, ridge, alone_max, shifted, &is_definite, facts));
    if (!(ridge > 0)) IKT_TRY(choose(ctx, l, centred, alone_max, shifted, &is_definite, facts));
    if (!is_definite)
        return ikt_fail(
            ctx, IKT_ERR_DATA,
            "kernel discriminant analysis: the similarities have an eigenvalue of "
            "-kernel.ridge or below: take input.spectrum=clip, or a larger kernel.ridge");
    return IKT_OK;
}

/* COLLECTIVE. The discriminants as they are, or the leading principal axes of them. */
static ikt_status make_weights(ikt_context *ctx, const labellings *l, int q, int64_t alone_max,
                               ikt_kernel_map *out) {
    const int64_t m = l->m, r = l->responses;
    double values[3];
    for (int64_t e = 0; r <= q && e < r * m; e++)
        out->weight[e] = l->solution[e];
    if (r <= q) return IKT_OK;
    IKT_ARRAYS(held, ctx, purpose);
    double *upper = ikt_claim(&held, r * (r + 1) / 2, sizeof *upper);
    double *vectors = ikt_claim(&held, q * r, sizeof *vectors);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t a = 0; a < r; a++)
        for (int64_t b = a; b < r; b++) {
            double sum = 0;
            for (int64_t i = 0; i < m; i++)
                sum += l->coordinate[a * m + i] * l->coordinate[b * m + i];
            upper[ikt_upper_index(r, a, b)] = sum;
        }
    IKT_TRY(ikt_eigen_leading(ctx, upper, r, q, alone_max, values, vectors));
    for (int64_t c = 0; c < q; c++) {
        double largest = 0;
        for (int64_t i = 0; i < m; i++) {
            double y = 0;
            for (int64_t a = 0; a < r; a++) {
                y += vectors[c * r + a] * l->coordinate[a * m + i];
                out->weight[c * m + i] += vectors[c * r + a] * l->solution[a * m + i];
            }
            if (fabs(y) > fabs(largest)) largest = y;
        }
        for (int64_t i = 0; largest < 0 && i < m; i++)
            out->weight[c * m + i] = -out->weight[c * m + i];
    }
    return IKT_OK;
}

ikt_status ikt_discriminant_fit(ikt_context *ctx, ikt_similarities *s, int64_t m,
                                const int64_t *label, int q, double ridge, uint64_t seed,
                                int64_t alone_max, ikt_kernel_map *out,
                                ikt_discriminant_facts *facts) {
    labellings l IKT_AT_END(labellings_destroy) = {.m = 0};
    double *centred IKT_AT_END(ikt_free) = NULL;
    ikt_kernel_map made IKT_AT_END(ikt_kernel_map_destroy) = {.q = q};
    *out = (ikt_kernel_map){0};
    *facts = (ikt_discriminant_facts){.chance = 1};
    ikt_status st = ikt_alloc(ctx, &made.weight, q * m, sizeof(double), purpose);
    if (st == IKT_OK) st = labellings_make(ctx, m, label, seed, &l);
    st = ikt_agree(ctx, st);
    facts->classes = l.classes;
    IKT_TRY(st);
    for (int64_t c = 0; c < l.classes; c++)
        facts->chance -= pow((double)l.size[c] / (double)m, 2);
    IKT_TRY(ikt_kernel_map_centre(ctx, s, m, &made, &centred));
    IKT_TRY(ikt_kernel_map_mean_eigenvalue(ctx, m, centred, &l.diagonal));
    IKT_TRY(!(ridge > 0) && !(l.diagonal > 0)
                ? ikt_fail(ctx, IKT_ERR_DATA,
                           "kernel discriminant analysis: the mean eigenvalue of the centred "
                           "similarities is %g, which gives no unit for kernel.ridge: give it, or "
                           "take input.spectrum=clip",
                           l.diagonal)
                : solve(ctx, &l, centred, ridge, alone_max, facts));
    IKT_TRY(make_weights(ctx, &l, q, alone_max, &made));
    return ikt_give(out, made);
}
