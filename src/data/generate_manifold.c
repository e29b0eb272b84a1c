/* Surfaces in three dimensions whose unrolled shape is known.
 *
 * A row draws two uniform parameters, u along the surface and v across it. There are no classes;
 * so that a picture can show the order of the points, the label is floor(10 u): one of ten bands,
 * 0 to 9, in each of which lie equally many points. */
#include <math.h>

#include "data/generate_sets.h"

static const double pi = 3.14159265358979323846;

static ikt_status prepare(ikt_generation *g) {
    g->columns = 3;
    return IKT_OK;
}

/* Adds the noise to the point, and the label of u. */
static void finish(const ikt_generation *g, int64_t row, double u, const double point[3], void *out,
                   int32_t *label) {
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
    finish(g, row, u, point, out, label);
}

/* Two arcs of three quarters of a unit circle that form an S, drawn out from 0 to 2. */
static void row_s_curve(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    double u = ikt_generate_uniform(g, row, 0), t = 3 * pi * (u - 0.5);
    double point[3] = {sin(t), 2 * ikt_generate_uniform(g, row, 1), copysign(1, t) * (cos(t) - 1)};
    finish(g, row, u, point, out, label);
}

/* Uniform on the unit sphere: the height is uniform, by Archimedes. */
static void row_sphere(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    double u = ikt_generate_uniform(g, row, 0), z = 2 * u - 1, r = sqrt(1 - z * z);
    double angle = 2 * pi * ikt_generate_uniform(g, row, 1);
    double point[3] = {r * cos(angle), r * sin(angle), z};
    finish(g, row, u, point, out, label);
}

const ikt_generator ikt_generator_swiss_roll = {
    .name = "swiss-roll",
    .help = "a rolled-up rectangle in three dimensions; the label is the tenth along the spiral",
    .uses = {{"points", "2000"}, {"noise", "0"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare,
    .row = row_swiss_roll};

const ikt_generator ikt_generator_s_curve = {
    .name = "s-curve",
    .help = "a rectangle bent to an S in three dimensions; the label is the tenth along the S",
    .uses = {{"points", "2000"}, {"noise", "0"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare,
    .row = row_s_curve};

const ikt_generator ikt_generator_sphere = {
    .name = "sphere",
    .help = "uniform on the unit sphere in three dimensions; the label is the tenth of the height",
    .uses = {{"points", "2000"}, {"noise", "0"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare,
    .row = row_sphere};
