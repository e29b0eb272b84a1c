/* The objectives that there are: formulas, and the table of them. */
#include "objective/objective.h"

#include <assert.h>
#include <math.h>

#include "base/comm.h"
#include "objective/divergence.h"
#include "objective/regulariser.h"

/* --- KL(P || Q) ------------------------------------------------------------------------------- */

/* t-SNE: KL(P || Q), Q of the Student kernel (van der Maaten & Hinton 2008).
 *
 * f = p log(p / q), so g = -p / q and G = -1. With phi(y) = sum_j w(y - y_j), the repulsive sum
 * sum_j w_ij^2 (y_i - y_j) is -1/2 grad phi(y_i) (methods, section 3), and
 *     gradient_i = 4 sum_j p_ij w_ij (y_i - y_j) + (2 / Z) grad phi(y_i).
 * With alpha degrees of freedom w = v^alpha, v = 1 / (1 + r^2 / alpha) (Kobak, Linderman,
 * Steinerberger, Kluger & Berens 2019): w' = -w v, so that p v takes the place of p w and nothing
 * else changes. alpha = 1 is the above; the limit of a large alpha is SNE. */
static ikt_divergence_terms kl_combine(const ikt_divergence_sums *sums) {
    const double z = sums->total[0];
    return (ikt_divergence_terms){4, {2 / z, 0}, sums->value + log(z)};
}

static const ikt_divergence tsne = {.has_degrees = true,
                                    .n_kernels = 1,
                                    .kernel = {IKT_KERNEL_STUDENT},
                                    .pair = IKT_PAIR_TSNE,
                                    .combine = kl_combine};

static ikt_status create_tsne(ikt_context *ctx, const ikt_objective_inputs *inputs,
                              ikt_objective *out);

const ikt_objective_kind ikt_objective_tsne = {IKT_DIVERGENCE_KIND,
                                               .name = "tsne",
                                               .value_name = "KL",
                                               .divergence = &tsne,
                                               .has_one_pass = true,
                                               .takes_parts = true,
                                               .places = IKT_PLACES_BY_KERNEL,
                                               .create = create_tsne,
                                               .state = ikt_regulariser_state,
                                               .state_array = ikt_divergence_state_array};

/* LaptSNE: t-SNE and lambda times its regulariser (laplacian.h), whose value is not KL alone. */
static const ikt_objective_kind regularised = {IKT_DIVERGENCE_KIND,
                                               .name = "tsne",
                                               .value_name = "cost",
                                               .divergence = &tsne,
                                               .places = IKT_PLACES_BY_KERNEL,
                                               .create = ikt_divergence_create,
                                               .state = ikt_regulariser_state,
                                               .state_array = ikt_divergence_state_array};

/* A dense P with exact sums takes one pass for everything. */
static ikt_status create_tsne(ikt_context *ctx, const ikt_objective_inputs *inputs,
                              ikt_objective *out) {
    const bool is_regularised = ikt_regulariser_pulls(&inputs->options);
    const ikt_objective_kind *kind = out->kind;
    if (is_regularised) out->kind = &regularised;
    if (!ikt_objective_is_one_pass(kind, &inputs->options, inputs->dense != NULL))
        return ikt_divergence_create(ctx, inputs, out);
    out->kind = is_regularised ? &ikt_objective_dense_regularised : &ikt_objective_dense_tsne;
    return out->kind->create(ctx, inputs, out);
}

/* Symmetric SNE: KL(P || Q), Q of the Gaussian kernel w = exp(-r^2) (Hinton & Roweis 2003; Cook,
 * Sutskever, Mnih & Hinton 2007).
 *
 * w' = -w, so gradient_i = 4 sum_j p_ij (y_i - y_j) + (2 / Z) grad phi(y_i): attraction that does
 * not weaken with distance, repulsion that does not reach far. For the record, and to see what the
 * heavy tail of t-SNE is for: clusters crowd together. */
static const ikt_divergence sne = {
    .n_kernels = 1, .kernel = {IKT_KERNEL_GAUSSIAN}, .pair = IKT_PAIR_SNE, .combine = kl_combine};

static const ikt_rule rules_of_sne[] = {
    {{IKT_FACT_OTHER_DEGREES},
     "layout.degrees_of_freedom = {layout.degrees_of_freedom}, but layout.objective=sne has the "
     "Gaussian kernel; leave it at 1, or take objective=tsne, whose kernel with "
     "degrees_of_freedom=inf is that of sne",
     IKT_ERR_USAGE},
    {{0}, NULL, IKT_OK}};

const ikt_objective_kind ikt_objective_sne = {IKT_DIVERGENCE_KIND,
                                              .name = "sne",
                                              .value_name = "KL",
                                              .rules = rules_of_sne,
                                              .divergence = &sne,
                                              .takes_parts = true,
                                              .create = ikt_divergence_create};

/* --- mixtures of KL(P || Q) and KL(Q || P) ---------------------------------------------------- */

/* clang-format off */
/* NeRV, the type 1 mixture: E = (1 - k) KL(P || Q) + k KL(Q || P~) (Venna, Peltonen, Nybo, Aidos &
 * Kaski 2010; on joint probabilities with the Student kernel, as their t-NeRV).
 *
 * The second term punishes false neighbours, near in the map and far in the data. It needs p > 0:
 * P~ = max(P, e) with the floor e = 0.01 / (n (n - 1)) (ikt_nerv_floor). With l = log(p~ / e),
 * which is 0 off the support,
 *     g = -(1 - k) p / q + k (log(q / p~) + 1),   log(q / p~) = log w - log(Z e) - l,
 *     G = -(1 - k) + k (C + 1),   C = KL(Q || P~) = (S2 - L) / Z - log(Z e),
 * where S2 = sum of w log w over all pairs and L = sum of l w over the support. The floor cancels:
 *     gradient_i = 4 sum_support [(1 - k) p w + (k / Z) l w^2] (y_i - y_j)
 *                  + (2 / Z) [(1 - k) - k - (k / Z)(S2 - L)] grad phi + (2 k / Z) grad phi2,
 * phi2 being the sum of w log w, whose gradient is -2 (log w + 1) w^2 (y_i - y_j).
 * Advantage: two kernels over all pairs, both of which a grid can sum. Disadvantage: twice the cost
 * of repulsion. k -> 0 is t-SNE. */
/* clang-format on */

double ikt_nerv_floor(int64_t n) {
    return 0.01 / ((double)n * (double)(n - 1));
}

static ikt_pair_weight nerv_weight(const ikt_divergence_sums *sums) {
    const double k = sums->trade_off;
    return (ikt_pair_weight){IKT_PAIR_NERV, (float)(1 - k), (float)(k / sums->total[0]),
                             (float)(1 / ikt_nerv_floor(sums->n))};
}

static ikt_divergence_terms nerv_combine(const ikt_divergence_sums *sums) {
    const double k = sums->trade_off, z = sums->total[0];
    const double mean = (sums->total[1] - sums->balance) / z;
    const double dual = mean - log(z * ikt_nerv_floor(sums->n));
    return (ikt_divergence_terms){4,
                                  {2 / z * (1 - k - k - k * mean), 2 * k / z},
                                  (1 - k) * (sums->value + log(z)) + k * dual};
}

static const ikt_divergence nerv = {.has_trade_off = true,
                                    .has_balance = true,
                                    .n_kernels = 2,
                                    .kernel = {IKT_KERNEL_STUDENT, IKT_KERNEL_STUDENT_LOG},
                                    .weight = nerv_weight,
                                    .combine = nerv_combine};

const ikt_objective_kind ikt_objective_nerv = {IKT_DIVERGENCE_KIND,
                                               .name = "nerv",
                                               .value_name = "cost",
                                               .divergence = &nerv,
                                               .begins_with_tsne = true,
                                               .places = IKT_PLACES_BY_KERNEL,
                                               .create = ikt_divergence_create};

/* clang-format off */
/* JSE, the type 2 mixture, a generalised Jensen-Shannon divergence (Lee, Renard, Bernard, Dupont &
 * Verleysen 2013; on joint probabilities): with Z' = k P + (1 - k) Q,
 *     E = KL(P || Z') / (1 - k) + KL(Q || Z') / k.
 * k -> 0 is KL(P || Q), t-SNE; k -> 1 is KL(Q || P); k = 1/2 is four times the Jensen-Shannon
 * divergence.
 *
 * g = log(q / z') / k. Off the support of P it is the constant g0 = -log(1 - k) / k; on it, with
 * r = k p / ((1 - k) q) and l = log(1 + r), g - g0 = -l / k. So with B = sum of l w over the
 * support g0 - G = B / (k Z),
 *     gradient_i = (4 / (k Z)) sum_support l w^2 (y_i - y_j) + (2 / Z) B / (k Z) grad phi.
 * Advantage: p need not be positive, and any way of summing the Student kernel over all pairs will
 * do: exact for a sparse P, at the price of t-SNE. Disadvantage: a sum over all ranks more an
 * evaluation, and a logarithm an entry of P. */
/* clang-format on */

static ikt_pair_weight jse_weight(const ikt_divergence_sums *sums) {
    const double k = sums->trade_off, z = sums->total[0];
    return (ikt_pair_weight){IKT_PAIR_JSE, (float)(k * z / (1 - k)), 0, (float)z};
}

static ikt_divergence_terms jse_combine(const ikt_divergence_sums *sums) {
    const double k = sums->trade_off, z = sums->total[0], balance = sums->balance / z;
    const double rest = log1p(-k);
    return (ikt_divergence_terms){4 / (k * z),
                                  {2 / z * balance / k, 0},
                                  (sums->value - rest) / (1 - k) - (rest + balance) / k};
}

static const ikt_divergence jse = {.has_trade_off = true,
                                   .has_balance = true,
                                   .n_kernels = 1,
                                   .kernel = {IKT_KERNEL_STUDENT},
                                   .weight = jse_weight,
                                   .combine = jse_combine};

const ikt_objective_kind ikt_objective_jse = {IKT_DIVERGENCE_KIND,
                                              .name = "jse",
                                              .value_name = "cost",
                                              .divergence = &jse,
                                              .begins_with_tsne = true,
                                              .places = IKT_PLACES_BY_KERNEL,
                                              .create = ikt_divergence_create};

/* --- the table -------------------------------------------------------------------------------- */

#define KIND(name, NAME, help) [IKT_OBJECTIVE_##NAME] = &ikt_objective_##name,
static const ikt_objective_kind *const table[IKT_OBJECTIVES] = {IKT_OBJECTIVE_TABLE(KIND)};

const ikt_objective_kind *ikt_objective_kind_of(ikt_objective_name name) {
    return table[name];
}

void ikt_objective_parts(ikt_objective_own *own, ikt_config_part parts[IKT_OBJECTIVE_PARTS]) {
    int count = 0;
    for (int k = 0; k < IKT_OBJECTIVES; k++)
        if (table[k]->section)
            parts[count++] = (ikt_config_part){table[k]->section, (char *)own + table[k]->keys};
    assert(count == IKT_OBJECTIVE_PARTS);
    (void)count;
}

bool ikt_objective_is_one_pass(const ikt_objective_kind *kind, const ikt_objective_options *options,
                               bool is_dense) {
    const bool is_student = options->degrees == 0 || options->degrees == 1;
    return kind->has_one_pass && is_dense && options->repulsion == IKT_REPULSION_EXACT &&
           is_student;
}

void ikt_objective_shrink(ikt_objective_own *own, int64_t n) {
    for (int k = 0; k < IKT_OBJECTIVES; k++)
        if (table[k]->shrink) table[k]->shrink((char *)own + table[k]->keys, n);
}

ikt_status ikt_objective_check_rows(ikt_context *ctx, int64_t rows, int q) {
    if (q * rows <= INT32_MAX) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "%lld own and boundary rows in %d dimensions are too many for a rank: use more "
                    "ranks",
                    (long long)rows, q);
}

ikt_status ikt_objective_create(ikt_context *ctx, const ikt_objective_kind *kind,
                                const ikt_objective_inputs *inputs, ikt_objective *out) {
    *out = (ikt_objective){.kind = kind, .q = inputs->q};
    const ikt_status st = kind->create(ctx, inputs, out);
    if (st != IKT_OK) ikt_objective_destroy(out);
    return st;
}

void ikt_objective_destroy(ikt_objective *objective) {
    if (objective->kind) objective->kind->destroy(objective);
    *objective = (ikt_objective){.kind = NULL};
}

double ikt_map_width(ikt_context *ctx, const float *y, int64_t q, int64_t n_local) {
    double most[2 * IKT_DIMENSIONS_MOST]; /* of each axis, and minus the least */
    double width = 0;
    for (int64_t c = 0; c < 2 * q; c++)
        most[c] = -INFINITY;
    for (int64_t e = 0; e < q * n_local; e++) {
        const double at = (double)y[e];
        most[2 * (e % q)] = fmax(most[2 * (e % q)], at);
        most[2 * (e % q) + 1] = fmax(most[2 * (e % q) + 1], -at);
    }
    ikt_max_f64(ctx, most, 2 * q);
    for (int64_t c = 0; c < q; c++)
        width = fmax(width, most[2 * c] + most[2 * c + 1]);
    return width;
}
