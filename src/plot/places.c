/* Where classes stand on a map. See colouring.h. */

#include <math.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "plot/colouring.h"

enum { BITS_LEAST = 3, BITS_MOST = 6, BITS_MANY = 5, CLASSES_MANY = 256, STEPS_BITS = 24 };
enum { SPREAD_LEAST = 13, SPREAD_MOST = 256, ROUNDS_MOST = 24 };

#define NEAR  0.06 /* of the map's side: classes nearer than this count as equally near */
#define ALIKE 18.0 /* CIE-Lab distance at which colours are half alike */

static const char purpose[] = "places of classes";

/* --- the densest place ------------------------------------------------------------------------ */

typedef struct {
    double corner[2], side;
    int64_t cells;     /* a side */
    int64_t *count;    /* [n_classes * cells * cells] */
    int64_t *best;     /* [n_classes] densest cell; -1: none */
    int64_t (*sum)[3]; /* [n_classes] points round it, their steps along x and y */
} grid;

static void measure(ikt_context *ctx, const ikt_rows_points *points, grid *g) {
    double limits[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (int64_t i = 0; i < points->rows->count; i++)
        for (int a = 0; a < 2 && a < points->q; a++) {
            const double at = (double)points->y[i * points->q + a];
            limits[a] = fmin(limits[a], at);
            limits[2 + a] = fmin(limits[2 + a], -at);
        }
    ikt_min_f64(ctx, limits, 4);
    for (int a = 0; a < 2; a++) {
        if (!isfinite(limits[a])) limits[a] = limits[2 + a] = 0;
        g->side = fmax(g->side, -limits[2 + a] - limits[a]);
        g->corner[a] = limits[a];
    }
    if (g->side <= 0) g->side = 1;
}

/* Step 0 .. 2^24 - 1 of a point along an axis. */
static int64_t step_of(const grid *g, const ikt_rows_points *points, int64_t i, int axis) {
    if (axis >= points->q) return 0;
    const double at = ((double)points->y[i * points->q + axis] - g->corner[axis]) / g->side;
    const double most = (1 << STEPS_BITS) - 1;
    return (int64_t)fmin(fmax(at * (1 << STEPS_BITS), 0), most);
}

static int64_t cell_of(const grid *g, int64_t x, int64_t y) {
    return (y * g->cells >> STEPS_BITS) * g->cells + (x * g->cells >> STEPS_BITS);
}

/* The count of a cell and those round it, by weights 1 2 1 along both axes. */
static int64_t smooth(const grid *g, const int64_t *count, int64_t cell) {
    const int64_t x = cell % g->cells, y = cell / g->cells;
    int64_t sum = 0;
    for (int64_t v = y > 0 ? y - 1 : y; v <= y + 1 && v < g->cells; v++)
        for (int64_t u = x > 0 ? x - 1 : x; u <= x + 1 && u < g->cells; u++)
            sum += count[v * g->cells + u] * (v == y ? 2 : 1) * (u == x ? 2 : 1);
    return sum;
}

/* The densest cell of each class that has points; the lowest of equal ones. */
static void find_best(grid *g, int64_t n_classes) {
    const int64_t cells = g->cells * g->cells;
    for (int64_t c = 0; c < n_classes; c++) {
        int64_t most = 0;
        g->best[c] = -1;
        for (int64_t cell = 0; cell < cells; cell++) {
            if (g->count[c * cells + cell] == 0) continue;
            const int64_t sum = smooth(g, g->count + c * cells, cell);
            if (sum <= most) continue;
            most = sum;
            g->best[c] = cell;
        }
    }
}

/* Cells a side: as many as the square root of the points that a class has, 8 to 64. */
static int64_t cells_for(int64_t n, int64_t n_classes) {
    int bits = BITS_LEAST;
    const int most = n_classes > CLASSES_MANY ? BITS_MANY : BITS_MOST;
    while (bits < most && n / n_classes >> (2 * (bits + 1)) > 0)
        bits++;
    return (int64_t)1 << bits;
}

ikt_status ikt_class_places(ikt_context *ctx, const ikt_rows_points *points, const uint16_t *index,
                            int64_t n_classes, double *place) {
    const int64_t count = points->rows->count;
    grid g = {.side = 0};
    if (n_classes == 0) return IKT_OK;
    g.cells = cells_for(points->rows->n, n_classes);
    IKT_ARRAYS(held, ctx, purpose);
    g.count = ikt_claim(&held, n_classes * g.cells * g.cells, sizeof *g.count);
    g.best = ikt_claim(&held, n_classes, sizeof *g.best);
    g.sum = ikt_claim(&held, n_classes, sizeof *g.sum);
    IKT_TRY(ikt_arrays_agree(&held));
    measure(ctx, points, &g);
    for (int64_t i = 0; i < count; i++) {
        const int64_t x = step_of(&g, points, i, 0), y = step_of(&g, points, i, 1);
        g.count[index[i] * g.cells * g.cells + cell_of(&g, x, y)]++;
    }
    ikt_sum_i64(ctx, g.count, n_classes * g.cells * g.cells);
    find_best(&g, n_classes);
    for (int64_t i = 0; i < count; i++) {
        const int64_t x = step_of(&g, points, i, 0), y = step_of(&g, points, i, 1);
        const int64_t cell = cell_of(&g, x, y), best = g.best[index[i]];
        const int64_t dx = cell % g.cells - best % g.cells;
        const int64_t dy = cell / g.cells - best / g.cells;
        if (best < 0 || dx < -1 || dx > 1 || dy < -1 || dy > 1) continue;
        g.sum[index[i]][0]++;
        g.sum[index[i]][1] += x;
        g.sum[index[i]][2] += y;
    }
    ikt_sum_i64(ctx, &g.sum[0][0], 3 * n_classes);
    for (int64_t c = 0; c < n_classes; c++)
        for (int a = 0; a < 2; a++) {
            const double mean = (double)g.sum[c][1 + a] / (double)g.sum[c][0];
            const double at = g.corner[a] + (mean + 0.5) / (1 << STEPS_BITS) * g.side;
            place[2 * c + a] = g.sum[c][0] == 0 ? NAN : a < points->q ? at : 0;
        }
    return IKT_OK;
}

/* --- colours that tell near classes apart ----------------------------------------------------- */

/* CIE-Lab of a colour, D65. */
static void lab_of(ikt_rgb colour, double lab[3]) {
    const ikt_linear l = ikt_linear_of(colour);
    const double r = l.r / 65535.0, g = l.g / 65535.0, b = l.b / 65535.0;
    const double xyz[3] = {(0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047,
                           0.2126729 * r + 0.7151522 * g + 0.0721750 * b,
                           (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883};
    double f[3];
    for (int k = 0; k < 3; k++)
        f[k] = xyz[k] > 0.008856 ? cbrt(xyz[k]) : 7.787 * xyz[k] + 16.0 / 116;
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

/* likeness[n * n] of colours, 1 for equal ones; near[n * n] of classes, 0 for those without points.
 */
static void fill_tables(const double *place, int64_t n, double *likeness, double *near) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int64_t c = 0; c < 2 * n; c++) {
        low[c % 2] = fmin(low[c % 2], place[c]);
        high[c % 2] = fmax(high[c % 2], place[c]);
    }
    const double side = fmax(fmax(high[0] - low[0], high[1] - low[1]), 1e-300);
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++) {
            double p[3], q[3];
            lab_of(ikt_palette_class(a, n, false), p);
            lab_of(ikt_palette_class(b, n, false), q);
            const double apart = hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]) / ALIKE;
            const double x = (place[2 * a] - place[2 * b]) / side;
            const double y = (place[2 * a + 1] - place[2 * b + 1]) / side;
            const double square = x * x + y * y + NEAR * NEAR;
            likeness[a * n + b] = 1 / (1 + apart * apart);
            near[a * n + b] = a == b || !isfinite(square) ? 0 : 1 / square;
        }
}

/* By how much the sum grows where classes a and b exchange their colours. */
static double growth(const double *likeness, const double *near, const int64_t *colour, int64_t n,
                     int64_t a, int64_t b) {
    const double *of_a = likeness + colour[a] * n, *of_b = likeness + colour[b] * n;
    double sum = 0;
    for (int64_t c = 0; c < n; c++)
        if (c != a && c != b)
            sum += (near[a * n + c] - near[b * n + c]) * (of_b[colour[c]] - of_a[colour[c]]);
    return sum;
}

ikt_status ikt_palette_spread(ikt_context *ctx, const double *place, int64_t n_classes,
                              int64_t *colour) {
    const int64_t n = n_classes;
    for (int64_t c = 0; c < n; c++)
        colour[c] = c;
    if (n < SPREAD_LEAST || n > SPREAD_MOST) return IKT_OK;
    IKT_ARRAYS(held, ctx, purpose);
    double *likeness = ikt_claim(&held, n * n, sizeof *likeness);
    double *near = ikt_claim(&held, n * n, sizeof *near);
    IKT_TRY(held.status);
    fill_tables(place, n, likeness, near);
    bool changed = true;
    for (int round = 0; round < ROUNDS_MOST && changed; round++) {
        changed = false;
        for (int64_t a = 0; a < n; a++)
            for (int64_t b = a + 1; b < n; b++) {
                if (!(growth(likeness, near, colour, n, a, b) < -1e-9)) continue;
                const int64_t own = colour[a];
                colour[a] = colour[b];
                colour[b] = own;
                changed = true;
            }
    }
    return IKT_OK;
}
