/* The least value of a function of one point. See point_search.h. */
#include "objective/point_search.h"

#include <math.h>
#include <string.h>

enum { MOST = IKT_POINT_MOST };

static const double step_most = 5;       /* units of the map */
static const double armijo = 1e-4;       /* of the fall that the slope promises */
static const double curved_least = 1e-9; /* cosine of step and change of gradient for an update */

static void reset_inverse(ikt_point_search *m, int q, double curvature) {
    const double inverse = curvature > 0 ? 1 / (2 * curvature) : 1;
    for (int a = 0; a < q; a++)
        for (int b = 0; b < q; b++)
            m->inverse[a][b] = a == b ? inverse : 0;
}

static double dot(const double *a, const double *b, int q) {
    double sum = 0;
    for (int c = 0; c < q; c++)
        sum += a[c] * b[c];
    return sum;
}

static void multiply(const ikt_point_search *m, int q, const double *vector, double *out) {
    for (int a = 0; a < q; a++)
        out[a] = dot(m->inverse[a], vector, q);
}

/* The next direction; a point whose fall would not be worth a trial has settled. */
static void set_direction(ikt_point_search *m, int q, double curvature) {
    for (int attempt = 0; attempt < 2; attempt++) {
        multiply(m, q, m->gradient, m->direction);
        for (int a = 0; a < q; a++)
            m->direction[a] = -m->direction[a];
        m->slope = dot(m->direction, m->gradient, q);
        if (m->slope < 0) break;
        reset_inverse(m, q, curvature);
    }
    m->length = -m->slope > m->fall_least ? 1 : 0; /* NaN settles, too */
    double size = sqrt(dot(m->direction, m->direction, q));
    if (size <= step_most) return;
    for (int a = 0; a < q; a++)
        m->direction[a] *= step_most / size;
    m->slope *= step_most / size;
}

/* BFGS: the inverse learns from a step and what it did to the gradient. */
static void update_inverse(ikt_point_search *m, int q, const double *step, const double *change) {
    const double along = dot(step, change, q);
    double turned[MOST];
    if (!(along > curved_least * sqrt(dot(step, step, q) * dot(change, change, q)))) return;
    multiply(m, q, change, turned);
    const double scale = (1 + dot(change, turned, q) / along) / along;
    for (int a = 0; a < q; a++)
        for (int b = 0; b < q; b++)
            m->inverse[a][b] +=
                scale * step[a] * step[b] - (turned[a] * step[b] + step[a] * turned[b]) / along;
}

static void set_place(ikt_point_search *m, int q, const float *y, double value,
                      const double *gradient) {
    memcpy(m->y, y, (size_t)q * sizeof *y);
    memcpy(m->gradient, gradient, (size_t)q * sizeof *gradient);
    m->value = value;
}

void ikt_point_begin(ikt_point_search *m, int q, const float *y, double value,
                     const double *gradient, double curvature, double fall_least) {
    m->fall_least = fall_least;
    set_place(m, q, y, value, gradient);
    reset_inverse(m, q, curvature);
    set_direction(m, q, curvature);
}

void ikt_point_trial(const ikt_point_search *m, int q, float *trial) {
    for (int a = 0; a < q; a++)
        trial[a] = (float)((double)m->y[a] + m->length * m->direction[a]);
}

void ikt_point_take(ikt_point_search *m, int q, const float *trial, double value,
                    const double *gradient, double curvature) {
    if (!(value <= m->value + armijo * m->length * m->slope)) {
        double size = m->length * sqrt(dot(m->direction, m->direction, q)), at = 1;
        for (int a = 0; a < q; a++)
            at = fmax(at, fabs((double)m->y[a]));
        m->length = size > 1e-6 * at ? m->length / 2 : 0; /* below the steps of a float */
        return;
    }
    double step[MOST], change[MOST];
    for (int a = 0; a < q; a++) {
        step[a] = (double)trial[a] - (double)m->y[a];
        change[a] = gradient[a] - m->gradient[a];
    }
    update_inverse(m, q, step, change);
    set_place(m, q, trial, value, gradient);
    set_direction(m, q, curvature);
}
