/* What objectives share that are attracted along P and repelled by rows drawn at random
 * (negative_sampling.c). One of this form is a struct of facts, its keys, and an
 * ikt_objective_kind.
 */
#ifndef IKT_OBJECTIVE_NEGATIVE_SAMPLING_H
#define IKT_OBJECTIVE_NEGATIVE_SAMPLING_H

#include "objective/objective.h"

struct ikt_negative_kind {
    bool has_curve;    /* w = 1 / (1 + a d^(2 b)), which takes logarithms; else t-SNE's kernel */
    double soft;       /* added to squared distances of what repels, as the programs do */
    double clip;       /* the most that a row goes along an axis at rate 1 */
    double share;      /* m / M */
    int64_t usual_far; /* what far_rows = auto stands for */
};

/* LOCAL, pure. The settings of an objective of this form. */
const ikt_negative_settings *ikt_negatives_of(const ikt_objective_kind *kind,
                                              const ikt_objective_own *own);

/* Their keys, of which `repulsion` is the weight gamma. */
#define IKT_NEGATIVE_KEY(name, type, usual, low, high, is_auto, unit, help)                        \
    IKT_KEY_OF(ikt_negative_settings, name, type, usual, low, high, is_auto, NULL, unit, help)
#define IKT_NEGATIVE_KEYS                                                                          \
    IKT_NEGATIVE_KEY(negatives, IKT_KEY_INT, "5", 1, 10000, 0, "rows",                             \
                     "The negative samples of an edge, M: how many rows drawn at random a row is " \
                     "repelled by for each row that it is attracted to"),                          \
        IKT_NEGATIVE_KEY(pool, IKT_KEY_INT, "auto", 1, 1e9, 1, "rows",                             \
                         "The rows of the pool that negative samples are taken from. All ranks "   \
                         "hold their positions; auto is 4096, or all rows where there are fewer"), \
        IKT_NEGATIVE_KEY(far_rows, IKT_KEY_INT, "auto", 1, 65536, 1, "rows",                       \
                         "The rows of the pool that each sixteen consecutive rows meet in an "     \
                         "iteration. Their force stands for that of all negative samples: more "   \
                         "rows make it less noisy and take longer. auto is 32 for umap and 64 "    \
                         "for largevis, whose repulsion is stronger, or all of a smaller pool"),   \
        IKT_NEGATIVE_KEY(redraw, IKT_KEY_INT, "1", 1, 1e7, 0, "iterations",                        \
                         "The iterations after which the pool is drawn anew. A pool that is kept " \
                         "for long shapes the map")

/* The functions of ikt_objective_kind, and what such objectives share. */
ikt_status ikt_negatives_resolve(ikt_context *ctx, const ikt_objective_kind *kind, int64_t n, int q,
                                 ikt_objective_options *options);
void ikt_negatives_shrink(void *settings, int64_t n);
ikt_status ikt_negatives_create(ikt_context *ctx, const ikt_objective_inputs *inputs,
                                ikt_objective *out);
void ikt_negatives_destroy(ikt_objective *objective);
ikt_status ikt_negatives_evaluate(ikt_objective *objective, int64_t iteration, bool want_value,
                                  ikt_gradient *gradient, ikt_objective_terms *terms);
void ikt_negatives_describe(const ikt_objective *objective, char *text, size_t size);
int64_t ikt_negatives_memory(const ikt_objective_kind *kind, const ikt_objective_shape *shape);
extern const ikt_rule ikt_negatives_rules[];

#define IKT_NEGATIVE_SAMPLING_KIND                                                                 \
    .value_name = "cost", .needs = IKT_NEEDS_P, .rules = ikt_negatives_rules, .learning_rate = 1,  \
    .start_deviation = 2.5, .is_annealed = true, .optimiser = &ikt_optimiser_descent,              \
    .shrink = ikt_negatives_shrink, .create = ikt_negatives_create,                                \
    .destroy = ikt_negatives_destroy, .evaluate = ikt_negatives_evaluate,                          \
    .describe = ikt_negatives_describe, .memory = ikt_negatives_memory

#endif
