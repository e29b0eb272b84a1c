/* Sets that formulas give: clusters in subspaces, clusters in general position, surfaces. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/generate.h"

/* --- clusters in subspaces -------------------------------------------------------------------- */

/* Clusters in subspaces: the sets of the Isolation-kernel paper (tables 1, 2 and 9).
 *
 * A cluster is normal in its own dimensions and zero in all others, so clusters centred at zero
 * meet at the origin and nowhere else. The row at the origin is row 0, is marked, and bears the
 * label of a cluster, because it belongs to several: cluster 1, as the paper's text has it for
 * five-subspace, or cluster 3 of shared-subspace, as its table 9 has it. Clusters are numbered from
 * 1 and follow one another in the file. */

typedef struct {
    int64_t from, past; /* its dimensions: from <= dimension < past */
    double mean, sd;
} subspace;

/* Fills the row with normal values in the subspace, or with zeros alone. */
static void fill_subspace(const ikt_generation *g, int64_t row, const subspace *s, float *x) {
    memset(x, 0, (size_t)g->columns * sizeof *x);
    if (row == g->origin) return;
    for (int64_t c = s->from; c < s->past; c++)
        x[c] = (float)(s->mean + s->sd * ikt_generate_normal(g, row, (uint64_t)c));
}

static ikt_status prepare_subspaces(ikt_generation *g, int64_t clusters, int64_t least_points) {
    const ikt_generate_settings *s = &g->settings;
    g->columns = s->dimensions;
    g->origin = 0;
    if (s->points < least_points)
        return ikt_fail(g->ctx, IKT_ERR_USAGE, "%s needs at least %lld points, not %lld",
                        g->generator->name, (long long)least_points, (long long)s->points);
    if (s->dimensions % clusters == 0) return IKT_OK;
    return ikt_fail(g->ctx, IKT_ERR_USAGE,
                    "%s divides its dimensions among %lld clusters: %lld is not a multiple",
                    g->generator->name, (long long)clusters, (long long)s->dimensions);
}

static ikt_status prepare_five(ikt_generation *g) {
    return prepare_subspaces(g, 5, 5);
}

/* The first point of cluster 1 is moved to the origin: 1250 points are 5 clusters of 250. */
static void row_five(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    static const double mean[] = {0, 0, 0, 400, 500}, sd[] = {1, 16, 81, 256, 625};
    int64_t own = g->columns / 5, k = row * 5 / g->settings.points;
    bool is_sd = g->settings.scale == IKT_SCALE_SD;
    subspace s = {k * own, (k + 1) * own, mean[k], is_sd ? sd[k] : sqrt(sd[k])};
    fill_subspace(g, row, &s, out);
    *label = (int32_t)k + 1;
}

static ikt_status prepare_two(ikt_generation *g) {
    return prepare_subspaces(g, 2, 3);
}

/* The origin is a point of its own: 1001 points are 2 clusters of 500 and the origin. */
static void row_two(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    int64_t own = g->columns / 2, k = row == 0 ? 0 : (row - 1) * 2 / (g->settings.points - 1);
    subspace s = {k * own, (k + 1) * own, 0, 1};
    fill_subspace(g, row, &s, out);
    *label = (int32_t)k + 1;
}

static ikt_status prepare_shared(ikt_generation *g) {
    g->settings.dimensions = 100;
    return prepare_subspaces(g, 1, 52);
}

/* Clusters of 500, 500 and 20 points, or in this proportion, and the origin. */
static void row_shared(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    static const subspace clusters[] = {{0, 51, 0, 1}, {49, 100, 0, 1}, {49, 51, 0, 1}};
    int64_t share = row == 0 ? 50 : (row - 1) * 51 / (g->settings.points - 1);
    int k = share < 25 ? 0 : share < 50 ? 1 : 2;
    fill_subspace(g, row, &clusters[k], out);
    *label = k + 1;
}

const ikt_generator ikt_generator_five_subspace = {
    .name = "five-subspace",
    .help = "5 clusters in 10 dimensions each, 3 of which meet at the origin (paper, table 1); the "
            "label is the cluster",
    .uses = {{"points", "1250"}, {"dimensions", "50"}, {"scale", "sd"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare_five,
    .row = row_five};

const ikt_generator ikt_generator_two_subspace = {
    .name = "two-subspace",
    .help = "2 clusters in 100 dimensions each, and the origin (paper, table 2); the label is the "
            "cluster",
    .uses = {{"points", "1001"}, {"dimensions", "200"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare_two,
    .row = row_two};

const ikt_generator ikt_generator_shared_subspace = {
    .name = "shared-subspace",
    .help = "3 clusters that share dimensions 50 and 51 of 100, and the origin (paper, table 9); "
            "the label is the cluster",
    .uses = {{"points", "1021"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare_shared,
    .row = row_shared};

/* --- clusters in general position ------------------------------------------------------------- */

/* Clusters in general position, and no clusters at all.
 *
 * gaussian-mixture: spherical normal clusters of equal weight and standard deviation 1; each row
 * draws its cluster. The centres are normal with variance separation^2 / (2 d) a coordinate, so
 * that the mean square distance of two centres is separation^2 in any number of dimensions. The
 * centres are computed once: they would double the cost of a row. */

static ikt_status prepare_mixture(ikt_generation *g) {
    const ikt_generate_settings *s = &g->settings;
    float *centres = NULL;
    g->columns = s->dimensions;
    IKT_TRY(ikt_alloc_all(g->ctx, &centres, s->clusters * s->dimensions, sizeof *centres,
                          "generation"));
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
    .columns = 2,
    .labels = false,
    .row = row_uniform};

/* --- surfaces --------------------------------------------------------------------------------- */

/* Surfaces in three dimensions whose unrolled shape is known.
 *
 * A row draws two uniform parameters, u along the surface and v across it. There are no classes;
 * so that a picture can show the order of the points, the label is floor(10 u): one of ten bands,
 * 0 to 9, in each of which lie equally many points. */

static const double pi = 3.14159265358979323846;

/* Adds the noise to the point, and the label of u. */
static void finish_surface(const ikt_generation *g, int64_t row, double u, const double point[3],
                           void *out, int32_t *label) {
    float *x = out;
    for (int c = 0; c < 3; c++) {
        double noise = g->settings.noise;
        if (noise > 0) noise *= ikt_generate_normal(g, row, 2 + (uint64_t)c);
        x[c] = (float)(point[c] + noise);
    }
    *label = (int32_t)(10 * u);
}

/* The spiral r = t, t from 1.5 pi to 4.5 pi, drawn out along the second axis from 0 to 21. */
static void row_swiss_roll(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    double u = ikt_generate_uniform(g, row, 0), t = 1.5 * pi * (1 + 2 * u);
    double point[3] = {t * cos(t), 21 * ikt_generate_uniform(g, row, 1), t * sin(t)};
    finish_surface(g, row, u, point, out, label);
}

/* Two arcs of three quarters of a unit circle that form an S, drawn out from 0 to 2. */
static void row_s_curve(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    double u = ikt_generate_uniform(g, row, 0), t = 3 * pi * (u - 0.5);
    double point[3] = {sin(t), 2 * ikt_generate_uniform(g, row, 1), copysign(1, t) * (cos(t) - 1)};
    finish_surface(g, row, u, point, out, label);
}

/* Uniform on the unit sphere: the height is uniform, by Archimedes. */
static void row_sphere(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    double u = ikt_generate_uniform(g, row, 0), z = 2 * u - 1, r = sqrt(1 - z * z);
    double angle = 2 * pi * ikt_generate_uniform(g, row, 1);
    double point[3] = {r * cos(angle), r * sin(angle), z};
    finish_surface(g, row, u, point, out, label);
}

const ikt_generator ikt_generator_swiss_roll = {
    .name = "swiss-roll",
    .help = "a rolled-up rectangle in three dimensions; the label is the tenth along the spiral",
    .uses = {{"points", "2000"}, {"noise", "0"}},
    .type = IKT_TYPE_F32,
    .columns = 3,
    .labels = true,
    .row = row_swiss_roll};

const ikt_generator ikt_generator_s_curve = {
    .name = "s-curve",
    .help = "a rectangle bent to an S in three dimensions; the label is the tenth along the S",
    .uses = {{"points", "2000"}, {"noise", "0"}},
    .type = IKT_TYPE_F32,
    .columns = 3,
    .labels = true,
    .row = row_s_curve};

const ikt_generator ikt_generator_sphere = {
    .name = "sphere",
    .help = "uniform on the unit sphere in three dimensions; the label is the tenth of the height",
    .uses = {{"points", "2000"}, {"noise", "0"}},
    .type = IKT_TYPE_F32,
    .columns = 3,
    .labels = true,
    .row = row_sphere};
