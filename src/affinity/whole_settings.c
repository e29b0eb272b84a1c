/* Keys of the section `whole`, and what "auto" means. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "affinity/whole.h"
#include "base/sort.h"

#define KEY(name, low, unit, help)                                                                 \
    IKT_KEY_OF(ikt_whole_settings, name, IKT_KEY_INT, "auto", low, 1e9, 1, NULL, unit, help)

static const ikt_key keys[] = {
    KEY(partitionings, 1, "partitionings",
        "The number of partitionings that each iteration draws its attraction from. Every one of "
        "them is used equally often. More make the gradient less noisy and cost time in "
        "proportion; auto is 8, and all of them where rows times isolation.partitionings are "
        "1,048,576 at most"),
    KEY(block, 2, "rows",
        "The largest number of rows of a cell whose pairs are looked at together. A larger cell is "
        "cut at random into blocks of nearly equal size, anew in each iteration, and what is found "
        "within them stands for all of its pairs; auto is 32, and where all partitionings are "
        "taken 67,108,864 divided by rows and partitionings"),
    KEY(last_iterations, 0, "iterations",
        "The number of iterations at the end of the run that draw from more partitionings, so that "
        "the noise of the draws dies away; auto is 50"),
    KEY(last_partitionings, 1, "partitionings",
        "The number of partitionings that each of the last iterations draws from; auto is 16, or "
        "whole.partitionings where that is more"),
    {"step", IKT_KEY_REAL, offsetof(ikt_whole_settings, step), "auto", 0.01, 1e3, 1, NULL, "",
     "The factor on the step length after the exaggeration. Over the last two fifths of the "
     "iterations it falls, to a twentieth where 8 partitionings are drawn, so that the map comes "
     "to rest although its gradients are noisy; auto is psi sqrt(n) / 8000, but from 1 to 12, and "
     "1 where nothing is drawn"}};

const ikt_section ikt_whole_section = {
    "whole", "How iterations sample the whole Isolation kernel (affinity.support: whole)", keys,
    sizeof keys / sizeof *keys};

enum {
    USUAL = 8,
    USUAL_BLOCK = 32,
    USUAL_LAST = 50,
    USUAL_LAST_PARTITIONINGS = 16,
    FEW = 1048576,       /* rows times partitionings up to which an iteration takes all of these, */
    FEW_PAIRS = 67108864 /* and the pairs that it looks at then, at most */
};

double ikt_whole_noise(const ikt_whole_settings *s, int64_t t, double others) {
    const double cut = fmax(1, others / (double)(s->block - 1));
    return USUAL * (cut / (double)s->partitionings - 1 / (double)t);
}

double ikt_whole_step_auto(int64_t psi, int64_t n, double noise) {
    const double longest = fmin(12, fmax(1, (double)psi * sqrt((double)n) / 8000));
    return noise > IKT_WHOLE_LITTLE_NOISE ? longest : 1;
}

/* SAME-ARGS. Refuses more partitionings than there are. */
static ikt_status check(ikt_context *ctx, const char *key, int64_t value, int64_t t) {
    if (value <= t) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "whole.%s = %lld, but isolation.partitionings = %lld are all that there are; "
                    "choose at most that",
                    key, (long long)value, (long long)t);
}

ikt_status ikt_whole_resolve(ikt_context *ctx, ikt_whole_settings *s, int64_t n, int64_t t,
                             int64_t iterations) {
    const int64_t cells = n * t; /* that rows are in, over all partitionings */
    const bool is_all = cells <= FEW;
    if (s->partitionings == IKT_AUTO_INT) s->partitionings = is_all ? t : ikt_smaller(USUAL, t);
    if (s->block == IKT_AUTO_INT)
        s->block = is_all && s->partitionings == t ? ikt_larger(USUAL_BLOCK, FEW_PAIRS / cells)
                                                   : USUAL_BLOCK;
    if (s->last_iterations == IKT_AUTO_INT)
        s->last_iterations = ikt_smaller(USUAL_LAST, iterations);
    if (s->last_partitionings == IKT_AUTO_INT)
        s->last_partitionings =
            ikt_smaller(ikt_larger(USUAL_LAST_PARTITIONINGS, s->partitionings), t);
    IKT_TRY(check(ctx, "partitionings", s->partitionings, t));
    if (s->last_iterations > iterations)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "whole.last_iterations = %lld, but layout.iterations = %lld are all that "
                        "there are; choose at most that",
                        (long long)s->last_iterations, (long long)iterations);
    if (s->last_partitionings < s->partitionings)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "whole.last_partitionings = %lld, but the iterations before draw from "
                        "whole.partitionings = %lld: the last ones draw from as many or more",
                        (long long)s->last_partitionings, (long long)s->partitionings);
    return check(ctx, "last_partitionings", s->last_partitionings, t);
}
