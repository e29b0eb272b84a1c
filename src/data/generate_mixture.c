/* Clusters in general position, and no clusters at all.
 *
 * gaussian-mixture: spherical normal clusters of equal weight and standard deviation 1; each row
 * draws its cluster. The centres are normal with variance separation^2 / (2 d) a coordinate, so
 * that the mean square distance of two centres is separation^2 in any number of dimensions. The
 * centres are computed once: they would double the cost of a row. */
#include <math.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/generate_sets.h"

static ikt_status prepare_mixture(ikt_generation *g) {
    const ikt_generate_settings *s = &g->settings;
    float *centres = NULL;
    g->columns = s->dimensions;
    IKT_TRY(ikt_agree(g->ctx, ikt_alloc(g->ctx, &centres, s->clusters * s->dimensions,
                                        sizeof *centres, "generation")));
    g->state = centres;
    double sd = s->separation / sqrt(2.0 * (double)s->dimensions);
    for (int64_t k = 0; k < s->clusters; k++)
        for (int64_t c = 0; c < s->dimensions; c++)
            centres[k * s->dimensions + c] =
                (float)(sd * ikt_rng_normal(g->seed, IKT_RNG_SHAPE, k, (uint64_t)c));
    return IKT_OK;
}

static void row_mixture(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    const float *centres = g->state;
    float *x = out;
    int64_t d = g->columns;
    int64_t k = ikt_rng_below(g->seed, IKT_RNG_GENERATE, row, 0, g->settings.clusters);
    for (int64_t c = 0; c < d; c++)
        x[c] = centres[k * d + c] + (float)ikt_generate_normal(g, row, 1 + (uint64_t)c);
    *label = (int32_t)k + 1;
}

static ikt_status prepare_uniform(ikt_generation *g) {
    g->columns = 2;
    return IKT_OK;
}

static void row_uniform(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    float *x = out;
    for (int c = 0; c < 2; c++) /* 24 bits: rounding to float must not reach 1 */
        x[c] = (float)(ikt_rng_u64(g->seed, IKT_RNG_GENERATE, row, (uint64_t)c) >> 40) * 0x1p-24f;
    *label = 0;
}

const ikt_generator ikt_generator_gaussian_mixture = {
    .name = "gaussian-mixture",
    .help = "spherical normal clusters of standard deviation 1; the label is the cluster",
    .uses = {{"points", "10000"}, {"dimensions", "50"}, {"clusters", "10"}, {"separation", "20"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare_mixture,
    .row = row_mixture};

const ikt_generator ikt_generator_uniform_2d = {
    .name = "uniform-2d",
    .help = "uniform in the unit square (paper, run times of figure 3); no labels",
    .uses = {{"points", "10000"}},
    .type = IKT_TYPE_F32,
    .labels = false,
    .prepare = prepare_uniform,
    .row = row_uniform};
