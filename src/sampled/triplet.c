/* The loss of a triplet and its gradient. See triplet.h. */
#include "sampled/triplet.h"

#include <math.h>
#include <stddef.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "dist/shuffle.h"

double ikt_log_t(double t, double log_of) {
    return t == 1 ? log_of : expm1((1 - t) * log_of) / (1 - t);
}

double ikt_log_exp_t(double t_prime, double square) {
    const double a = t_prime - 1;
    return a == 0 ? -square : -log1p(a * square) / a;
}

static ikt_triplet_terms usual(double u_square, double v_square) {
    const double a = 1 + u_square, b = 1 + v_square, both = a + b;
    return (ikt_triplet_terms){a / both, 2 * (b / both) / both, 2 * (a / both) / both};
}

ikt_triplet_terms ikt_triplet(const ikt_triplet_rule *rule, double u_square, double v_square) {
    const double t = rule->t, a = rule->t_prime - 1;
    if (t == 2 && a == 1) return usual(u_square, v_square);
    const double l =
        ikt_log_exp_t(rule->t_prime, v_square) - ikt_log_exp_t(rule->t_prime, u_square);
    const double e = exp(-fabs(l)), rest = log1p(e); /* log(1 + r) = max(l, 0) + rest */
    const double h = exp((l > 0 ? (1 - t) * l : l) - t * rest);
    return (ikt_triplet_terms){ikt_log_t(t, fmax(l, 0) + rest), 2 * h / (1 + a * u_square),
                               2 * h / (1 + a * v_square)};
}

double ikt_triplet_weight(ikt_triplet_weighing weighing, double near, double l, double most) {
    if (!(l > 0)) return 0;
    if (weighing == IKT_TRIPLET_UNIT) return 1;
    if (weighing == IKT_TRIPLET_RATIO) return exp(fmin(l - most, 0)) + IKT_TRIPLET_RATIO_LEAST;
    return near * 2 * (sqrt(1 + l) - 1);
}

/* --- scales of distances ---------------------------------------------------------------------- */

static const char purpose[] = "triplets";

double ikt_scale_of(const float *square, int64_t k, int64_t from, int64_t to) {
    double sum = 0, last = 0;
    int64_t rank = 0, taken = 0;
    for (int64_t e = 0; e < k && rank < to; e++) {
        if (!(square[e] > 0)) continue;
        last = sqrt((double)square[e]);
        if (++rank < from) continue;
        sum += last;
        taken++;
    }
    return taken > 0 ? sum / (double)taken : last;
}

ikt_status ikt_scales_bound(ikt_context *ctx, const ikt_rows *rows, ikt_exact_sum *sum,
                            const char *whom, float *scale) {
    ikt_exact_sum_reduce(ctx, sum, 1);
    const double mean = ikt_exact_sum_value(sum) / (double)rows->n;
    if (!(mean > 0))
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "every row is equal to %s: there are no triplets of rows to lay out; "
                        "remove copies, or take fewer of them",
                        whom);
    const float least = (float)(IKT_SCALE_LEAST * mean);
    for (int64_t i = 0; i < rows->count; i++)
        scale[i] = fmaxf(scale[i], least);
    return IKT_OK;
}

ikt_status ikt_scales_fetch(ikt_context *ctx, const ikt_rows *rows, const uint32_t *row,
                            int64_t count, const float *scale, ikt_row_set *set, float **others) {
    const int64_t first = rows->first, end = first + rows->count;
    IKT_TRY(ikt_agree(ctx, ikt_row_set_create(ctx, rows->n, set)));
    for (int64_t e = 0; e < count; e++)
        if (row[e] < first || row[e] >= end) ikt_row_set_add(set, row[e]);
    ikt_row_set_number(set);
    IKT_ARRAYS(held, ctx, purpose);
    *others = ikt_claim_kept(&held, set->count, sizeof **others);
    uint32_t *ghost = ikt_claim(&held, set->count, sizeof *ghost);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_row_set_list(set, ghost);
    return ikt_gather_rows(ctx, rows, ghost, set->count, scale, sizeof *scale, *others);
}

/* --- keys of the section `trimap`, and what "auto" means -------------------------------------- */

#define KEY(...) IKT_KEY_OF(ikt_triplet_settings, __VA_ARGS__)
#define COUNT(name, usual, low, unit, help)                                                        \
    KEY(name, IKT_KEY_INT, usual, low, 1e6, 0, NULL, unit, help)

static const ikt_key keys[] = {
    KEY(triplets, IKT_KEY_CHOICE, "auto", 0, 0, 0, "auto|fixed|pool", "",
        "Where triplets come from: fixed draws them once, before the first iteration, as the "
        "published program does; pool draws far rows anew all the time from a pool of rows that "
        "all ranks hold, which is faster and keeps more of the global structure. auto is pool"),
    COUNT(neighbours, "12", 1, "rows",
          "The number m of nearest rows that each row makes triplets with"),
    COUNT(outliers, "4", 1, "rows",
          "The number of farther rows in triplets with each of these neighbours"),
    COUNT(random, "3", 0, "triplets",
          "The number of random triplets of each row; the similarities of their rows count a tenth "
          "as much"),
    KEY(weights, IKT_KEY_CHOICE, "near", 0, 0, 0, "log|ratio|unit|near", "",
        "The weight of a triplet by L, the logarithm of the ratio of its two similarities; steps "
        "are those of weights of mean 1: log is 2 sqrt(1 + L) - 2; near is that times the "
        "similarity of the near pair, which shows rows that are far from all others; ratio is the "
        "paper's, the ratio itself divided by the largest one, plus 0.001; unit is 1"),
    KEY(t, IKT_KEY_REAL, "2", 0, 10, 0, NULL, "",
        "The bend of the loss log_t(1 + r): above 1 it is bounded, and a triplet that cannot be "
        "satisfied is given up. t = 1 with weights=unit is t-STE with alpha degrees of freedom for "
        "t_prime = (3 + alpha) / (1 + alpha), and STE for t_prime = 1 (docs/trimap.md)"),
    KEY(t_prime, IKT_KEY_REAL, "2", 1, 10, 0, NULL, "",
        "The tail of the similarity in the map: 1 is a Gaussian, 2 the kernel of t-SNE, and larger "
        "ones have heavier tails"),
    COUNT(scale_from, "3", 1, "rows",
          "The scale of distances at a row is its mean distance to its nearest rows from this one "
          "on (kernels of distances; the paper has 10 to 20, the published program 3 to 5)"),
    COUNT(scale_to, "5", 1, "rows", "The last of these rows"),
    KEY(pool_rows, IKT_KEY_INT, "auto", 2, 1e6, 1, NULL, "rows",
        "The rows of the pool that far rows come from; auto is 1,024, or all rows where there are "
        "no more"),
    COUNT(redraw, "1", 1, "iterations",
          "The iterations that a pool lasts until the next one is drawn"),
    COUNT(far_rows, "4", 1, "rows",
          "The rows of the pool that 16 neighbouring rows look at in an iteration; more make the "
          "gradient less noisy and cost time in proportion")};

const ikt_section ikt_triplet_section = {
    "trimap", "Triplets, and how they are drawn (layout.objective: trimap)", keys,
    sizeof keys / sizeof *keys};

enum {
    USUAL_POOL = 1024, /* rows */
    LEAST_OF_CODES = 30
};

int64_t ikt_triplet_lists(const ikt_triplet_settings *s, bool has_distances) {
    const int64_t least = s->neighbours > LEAST_OF_CODES ? s->neighbours : LEAST_OF_CODES;
    const int64_t scaled = 2 * s->neighbours; /* scales may bring half of them among the first */
    if (!has_distances) return least;
    return scaled > s->scale_to ? scaled : s->scale_to;
}

ikt_status ikt_triplet_resolve(ikt_context *ctx, ikt_triplet_settings *s, int64_t n) {
    const long long m = s->neighbours;
    if (n < 4)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.objective=trimap needs at least 4 rows, the data has %lld",
                        (long long)n);
    if (n <= m + 1)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "trimap.neighbours = %lld leaves none of the %lld rows to be farther away; "
                        "choose at most %lld",
                        m, (long long)n, (long long)(n - 2));
    if (s->scale_from > s->scale_to || s->scale_to >= n)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "trimap.scale_from = %lld and scale_to = %lld name no rows: the first must "
                        "not be above the second, nor that above the %lld other rows",
                        (long long)s->scale_from, (long long)s->scale_to, (long long)(n - 1));
    if (s->triplets == IKT_TRIPLETS_AUTO) s->triplets = IKT_TRIPLETS_POOL;
    if (s->pool_rows == IKT_AUTO_INT) s->pool_rows = n < USUAL_POOL ? n : USUAL_POOL;
    if (s->triplets == IKT_TRIPLETS_FIXED) return IKT_OK;
    if (s->pool_rows > n)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "trimap.pool_rows = %lld, but there are %lld rows to draw from; choose at "
                        "most that",
                        (long long)s->pool_rows, (long long)n);
    if (s->far_rows > s->pool_rows)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "trimap.far_rows = %lld, but the pool has %lld rows; choose at most that",
                        (long long)s->far_rows, (long long)s->pool_rows);
    if (s->random > 0 && s->far_rows < 2)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "trimap.random = %lld needs pairs of far rows: set trimap.far_rows to 2 or "
                        "more, or trimap.random to 0",
                        (long long)s->random);
    return IKT_OK;
}
