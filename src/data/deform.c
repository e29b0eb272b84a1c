/* Deformed copies of given images, as MNIST8M was made from MNIST (Loosli, Canu, Bottou 2007).
 *
 * Method: row i is the source's image i mod n_source seen through a random smooth displacement
 * field, rotation, scaling and shift about the middle, with bilinear interpolation; with
 * keep-originals the rows below n_source are the images themselves. Every rank holds all source
 * images. Advantage: real images in any number. Disadvantage: the source must fit into each rank's
 * memory; the displacements have one correlation length. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "data/deform_field.h"
#include "data/generate.h"

enum { SIDE_MAX = 1024, KNOTS = IKT_FIELD_KNOTS };

/* Draw numbers of a row, of purpose IKT_RNG_DEFORM. */
enum { DRAW_TURN, DRAW_SCALE, DRAW_SHIFT_X, DRAW_SHIFT_Y, DRAW_FIELD };

/* Standard deviations at strength 1; lengths are pixels of a 28 x 28 image. */
static const double turn_sd = 0.08, scale_sd = 0.05, shift_sd = 0.5, field_sd = 0.7;

typedef struct {
    int64_t n; /* images */
    int side;
    void *pixels;              /* uint8 [n * side * side] */
    int32_t *labels;           /* [n], or NULL */
    float (*weight)[SIDE_MAX]; /* [KNOTS]: of the field's knots at each pixel of a side */
} images;

/* From pixels of the result to pixels of the source, before the displacement. */
typedef struct {
    float xx, xy, x0, yx, yy, y0;
} linear_map;

static void release(void *state) {
    images *im = state;
    ikt_free_all(&im->pixels, &im->labels, &im->weight);
}

static ikt_status prepare(ikt_generation *g) {
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    IKT_TRY(ikt_source_open(g->ctx, g->settings.source, "X", 0, &source));
    const int64_t d = g->columns = ikt_source_columns(source), side = lround(sqrt((double)d));
    IKT_ARRAYS(held, g->ctx, "source images");
    if (ikt_source_type(source) != IKT_TYPE_U8)
        held.status = ikt_fail(g->ctx, IKT_ERR_DATA, "%s is %s; images to deform must be uint8",
                               ikt_source_name(source), ikt_type_name(ikt_source_type(source)));
    else if (side * side != d || side > SIDE_MAX)
        held.status =
            ikt_fail(g->ctx, IKT_ERR_DATA,
                     "%s has %" PRId64 " columns; images to deform must be square, of at most "
                     "%d x %d pixels",
                     ikt_source_name(source), d, SIDE_MAX, SIDE_MAX);
    images *im = g->state = ikt_claim_kept(&held, 1, sizeof *im);
    if (im) {
        *im = (images){.n = ikt_source_rows(source), .side = (int)side};
        im->weight = ikt_claim_kept(&held, KNOTS, sizeof *im->weight);
    }
    IKT_TRY(ikt_arrays_agree(&held));
    for (int p = 0; p < im->side; p++) {
        float weight[KNOTS];
        ikt_deform_field_weights(((float)p + 0.5f) / (float)im->side, weight);
        for (int k = 0; k < KNOTS; k++)
            im->weight[k][p] = weight[k];
    }
    IKT_TRY(ikt_generate_load(g, source, IKT_TYPE_U8, &im->pixels, &im->labels));
    g->has_labels = im->labels != NULL;
    return IKT_OK;
}

/* Rotation and scaling about the image's middle, and a shift. */
static linear_map choose_map(const ikt_generation *g, int64_t row, int side) {
    double normal[DRAW_FIELD], s = g->settings.strength, middle = 0.5 * (side - 1);
    for (int i = 0; i < DRAW_FIELD; i++)
        normal[i] = s * ikt_rng_normal(g->seed, IKT_RNG_DEFORM, row, (uint64_t)i);
    double turn = turn_sd * normal[DRAW_TURN], scale = exp(scale_sd * normal[DRAW_SCALE]);
    double c = scale * cos(turn), n = scale * sin(turn), shift = shift_sd * side / 28.0;
    return (linear_map){.xx = (float)c,
                        .xy = (float)-n,
                        .x0 = (float)(middle * (1 - c + n) + shift * normal[DRAW_SHIFT_X]),
                        .yx = (float)n,
                        .yy = (float)c,
                        .y0 = (float)(middle * (1 - n - c) + shift * normal[DRAW_SHIFT_Y])};
}

/* The displacement along row y of the image: the field's knots weighted down, then across. */
static void displacements(const images *im, float knots[KNOTS][KNOTS], int y, float *out) {
    for (int x = 0; x < im->side; x++)
        out[x] = 0;
    for (int j = 0; j < KNOTS; j++) {
        const float *weight = im->weight[j];
        float line = 0;
        for (int i = 0; i < KNOTS; i++)
            line += im->weight[i][y] * knots[i][j];
        for (int x = 0; x < im->side; x++)
            out[x] += weight[x] * line;
    }
}

static float pixel(const uint8_t *image, int side, int x, int y) {
    return x >= 0 && x < side && y >= 0 && y < side ? image[y * side + x] : 0;
}

/* Bilinear interpolation; black outside the image. */
static float sample(const uint8_t *image, int side, float x, float y) {
    float last = (float)side;
    if (!(x > -1 && x < last && y > -1 && y < last)) return 0;
    int ix = (int)(x + 1) - 1, iy = (int)(y + 1) - 1;
    float fx = x - (float)ix, fy = y - (float)iy, a, b, c, d;
    if (ix >= 0 && ix + 1 < side && iy >= 0 && iy + 1 < side) {
        const uint8_t *at = image + iy * side + ix;
        a = at[0], b = at[1], c = at[side], d = at[side + 1];
    } else {
        a = pixel(image, side, ix, iy), b = pixel(image, side, ix + 1, iy);
        c = pixel(image, side, ix, iy + 1), d = pixel(image, side, ix + 1, iy + 1);
    }
    float above = a + fx * (b - a), below = c + fx * (d - c);
    return above + fy * (below - above);
}

static void deform(const ikt_generation *g, int64_t row, const uint8_t *image, uint8_t *out) {
    const images *im = g->state;
    int side = im->side;
    double sd = g->settings.strength * field_sd * side / 28.0;
    linear_map m = choose_map(g, row, side);
    ikt_deform_field field;
    float dx[SIDE_MAX], dy[SIDE_MAX];
    ikt_deform_field_draw(&field, sd, g->seed, IKT_RNG_DEFORM, row, DRAW_FIELD);
    for (int y = 0; y < side; y++) {
        displacements(im, field.x, y, dx);
        displacements(im, field.y, y, dy);
        for (int x = 0; x < side; x++) {
            float px = (float)x, py = (float)y;
            float sx = m.xx * px + m.xy * py + m.x0 + dx[x];
            float sy = m.yx * px + m.yy * py + m.y0 + dy[x];
            *out++ = (uint8_t)(int)(sample(image, side, sx, sy) + 0.5f);
        }
    }
}

static void row_deform(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    const images *im = g->state;
    int64_t from = row % im->n, d = g->columns;
    const uint8_t *image = (const uint8_t *)im->pixels + from * d;
    if (im->labels) *label = im->labels[from];
    if (row < im->n && g->settings.keep_originals == IKT_ORIGINALS_YES)
        memcpy(out, image, (size_t)d);
    else
        deform(g, row, image, out);
}

const ikt_generator ikt_generator_deform = {
    .name = "deform",
    .help = "copies of the images of a file under random smooth deformations, as MNIST8M is made "
            "from MNIST; the labels are those of the images",
    .uses = {{"source", ""}, {"points", ""}, {"strength", "1"}, {"keep-originals", "yes"}},
    .type = IKT_TYPE_U8,
    .labels = true,
    .prepare = prepare,
    .release = release,
    .row = row_deform};

/* --- the field -------------------------------------------------------------------------------- */

void ikt_deform_field_draw(ikt_deform_field *field, double sd, uint64_t seed,
                           ikt_rng_purpose purpose, int64_t row, uint64_t first_draw) {
    /* The mean over positions of the sum of squared weights along one side is 151/315. */
    double knot_sd = sd * 315.0 / 151.0;
    uint64_t draw = first_draw;
    for (int i = 0; i < IKT_FIELD_KNOTS; i++)
        for (int j = 0; j < IKT_FIELD_KNOTS; j++) {
            field->x[i][j] = (float)(knot_sd * ikt_rng_normal(seed, purpose, row, draw++));
            field->y[i][j] = (float)(knot_sd * ikt_rng_normal(seed, purpose, row, draw++));
        }
}

/* The cell that holds the position, and the weights of the four knots from there on. */
static int locate(float position, float w[4]) {
    float at = position * IKT_FIELD_CELLS;
    at = at < 0 ? 0 : at > IKT_FIELD_CELLS ? IKT_FIELD_CELLS : at;
    int cell = at < IKT_FIELD_CELLS ? (int)at : IKT_FIELD_CELLS - 1;
    float f = at - (float)cell, f2 = f * f, f3 = f2 * f, g = 1 - f;
    w[0] = g * g * g * (1.f / 6);
    w[1] = (3 * f3 - 6 * f2 + 4) * (1.f / 6);
    w[2] = (-3 * f3 + 3 * f2 + 3 * f + 1) * (1.f / 6);
    w[3] = f3 * (1.f / 6);
    return cell;
}

void ikt_deform_field_weights(float position, float weight[IKT_FIELD_KNOTS]) {
    float w[4];
    int cell = locate(position, w);
    memset(weight, 0, IKT_FIELD_KNOTS * sizeof *weight);
    memcpy(weight + cell, w, sizeof w);
}

void ikt_deform_field_at(const ikt_deform_field *field, float px, float py, float *dx, float *dy) {
    float wx[4], wy[4];
    int cx = locate(px, wx), cy = locate(py, wy);
    *dx = *dy = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            *dx += wy[i] * wx[j] * field->x[cy + i][cx + j];
            *dy += wy[i] * wx[j] * field->y[cy + i][cx + j];
        }
}
