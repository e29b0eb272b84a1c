/* Windows as piecewise polynomials. See window.h. */
#include "kernelsum/window.h"

enum { CHI_TERMS = 4 };

/* chi(t) = sum_m chi[m] (1 - t^2)^m for t in [-1, 1]; the support of chi is order - boxes cells.
 * The coefficients minimise the pair error at a spacing of 0.40 (order 4) and 0.24 (order 6). */
typedef struct {
    int order, boxes, terms;
    double chi[CHI_TERMS];
} recipe;

static const recipe recipes[] = {{4, 2, 3, {1, -0.749, 2.888, 0}},
                                 {6, 3, 4, {1, 3.582, 2.774, 11.845}}};

/* Pieces on cells of length 1: piece j is sum_d term[j][d] u^d, u in [0, 1]. */
typedef struct {
    int pieces, terms;
    double term[IKT_WINDOW_LANES][IKT_WINDOW_TERMS];
} piecewise;

/* p(u) <- p(u) * (a + b u + c u^2) */
static void multiply(double *p, int terms, double a, double b, double c) {
    for (int d = terms - 1; d >= 0; d--)
        p[d] = a * p[d] + (d > 0 ? b * p[d - 1] : 0) + (d > 1 ? c * p[d - 2] : 0);
}

static piecewise make_chi(const recipe *r) {
    piecewise f = {.pieces = r->order - r->boxes, .terms = 2 * r->terms - 1, .term = {{0}}};
    double half = 0.5 * f.pieces;
    for (int j = 0; j < f.pieces; j++) {
        /* 1 - t^2 with t = (u + j - half) / half, by Horner's rule in 1 - t^2 */
        double from = (j - half) / half, step = 1 / half;
        for (int m = r->terms - 1; m >= 0; m--) {
            multiply(f.term[j], f.terms, 1 - from * from, -2 * from * step, -step * step);
            f.term[j][0] += r->chi[m];
        }
    }
    return f;
}

/* Antiderivative of piece j that is 0 at u = 0; zero outside the pieces. Returns its value at 1. */
static double integrate(const piecewise *f, int j, double *out) {
    double whole = 0;
    for (int d = 0; d < IKT_WINDOW_TERMS; d++)
        out[d] = 0;
    for (int d = 0; j >= 0 && j < f->pieces && d < f->terms; d++) {
        out[d + 1] = f->term[j][d] / (d + 1);
        whole += out[d + 1];
    }
    return whole;
}

/* Mean over a box of one cell. New knots lie half a cell off the old: the new piece j at u takes
 * the old piece j - 1 from u to 1 and the old piece j from 0 to u. */
static piecewise convolve_box(const piecewise *f) {
    piecewise g = {.pieces = f->pieces + 1, .terms = f->terms + 1, .term = {{0}}};
    for (int j = 0; j < g.pieces; j++) {
        double left[IKT_WINDOW_TERMS], right[IKT_WINDOW_TERMS];
        double whole = integrate(f, j - 1, left);
        integrate(f, j, right);
        for (int d = 0; d < g.terms; d++)
            g.term[j][d] = right[d] - left[d];
        g.term[j][0] += whole;
    }
    return g;
}

ikt_window ikt_window_make(int order) {
    const recipe *r = order == 4 ? &recipes[0] : &recipes[1];
    piecewise f = make_chi(r);
    double total = 0, ignored[IKT_WINDOW_TERMS];
    for (int j = 0; j < f.pieces; j++)
        total += integrate(&f, j, ignored);
    for (int j = 0; j < f.pieces; j++)
        for (int d = 0; d < f.terms; d++)
            f.term[j][d] /= total;
    for (int b = 0; b < r->boxes; b++)
        f = convolve_box(&f);
    ikt_window w = {.order = order, .terms = f.terms, .value = {{0}}, .slope = {{0}}};
    for (int k = 0; k < order; k++) {
        double *piece = f.term[order - 1 - k]; /* node k is the further left the larger the piece */
        /* A polynomial in u becomes one in v = u - 1/2, which costs the fewest digits. */
        for (int first = 0; first < f.terms; first++)
            for (int d = f.terms - 2; d >= first; d--)
                piece[d] += 0.5 * piece[d + 1];
        for (int d = 0; d < f.terms; d++) {
            w.value[d][k] = piece[d];
            if (d > 0) w.slope[d - 1][k] = d * piece[d];
        }
    }
    return w;
}

void ikt_window_at(const ikt_window *window, double u, double *weight, double *slope) {
    double v = u - 0.5;
    for (int k = 0; k < window->order; k++) {
        weight[k] = slope[k] = 0;
        for (int d = window->terms - 1; d >= 0; d--) {
            weight[k] = weight[k] * v + window->value[d][k];
            slope[k] = slope[k] * v + window->slope[d][k];
        }
    }
}
