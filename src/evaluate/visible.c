/* How far the map is from a visualisation of the classes in the sense of Arora, Hu and Kothari
 * (2018): definitions 1 and 2 of the lecture on t-SNE by Zhong and Verma.
 *
 * Definition 2: the rows are parted into P_1 .. P_k and P_err, where every P_l differs from its
 * class C_l by at most epsilon |C_l| rows, P_err has at most epsilon n, and |y_i - y_i'| <=
 * |y_i - y_j| / 2 for i, i' in P_l and j in another P_m. Dropping from every P_l what is not of C_l
 * breaks none of this, so P_l may be taken within C_l, and P_err follows: the least epsilon is the
 * least possible worst share of a class that has to be dropped. Finding it is a problem over
 * subsets. What is computed is the least over one family of subsets, hence an upper bound: P_l is
 * what lies of C_l in a ball round its median c_l (axis by axis) of radius r_l, every class keeping
 * the same share, and the condition is asked for in the form |y_j - c_l| >= 5 r_l for every j of
 * another P_m. That suffices, as |y_i - y_i'| <= 2 r_l and |y_i - y_j| >= 5 r_l - r_l; and where
 * P_l fills a ball, it is needed.
 *
 * Definition 1 alone does not bound P_err, so every class is fully visible by it (P = C_l, P_err =
 * all others). For one class we take P_err at most epsilon n rows, as in definition 2, and report
 * the least epsilon over the balls, an upper bound again.
 *
 * Advantage: n k distances (and a search in a sorted class each), any number of axes. Disadvantage:
 * the bound is loose for classes that are long or bent, whose balls take in much else. */
#include <math.h>
#include <stdio.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"
#include "evaluate/family.h"

enum { CLASSES_MOST = 1000, CLASSES_LISTED = 64, SHELL = 25 /* = 5^2 */ };

typedef struct {
    const ikt_measure_view *view;
    int64_t count;    /* classes */
    int64_t *begin;   /* [count + 1] first place of each class in what is laid out by class */
    int32_t *order;   /* [n] the rows by class */
    double *centre;   /* [count * q] */
    double *square;   /* [n] squared distances of the rows of a class to its centre, ascending */
    int64_t *entered; /* [n] rows that enter the shell with the i-th row of the class */
    double *limit;    /* [count] squared radius of the ball; negative: nothing is kept */
    float *values;    /* [n] scratch */
} work;

static double squared_to(const work *w, int64_t row, int64_t c) {
    const int64_t q = w->view->q;
    double sum = 0;
    for (int64_t axis = 0; axis < q; axis++) {
        double apart = (double)w->view->y[q * row + axis] - w->centre[c * q + axis];
        sum += apart * apart;
    }
    return sum;
}

/* COLLECTIVE. The classes' medians, the distances of their rows to them, and how many rows of any
 * class enter the shell as the ball of each class grows; the same on every rank. */
static void prepare(ikt_context *ctx, work *w) {
    const ikt_measure_view *view = w->view;
    for (int64_t axis = 0; axis < view->q; axis++) {
        for (int64_t at = 0; at < view->n; at++)
            w->values[at] = view->y[view->q * w->order[at] + axis];
        for (int64_t c = 0; c < w->count; c++)
            w->centre[c * view->q + axis] = ikt_median(w->values + w->begin[c], view->size[c]);
    }
    for (int64_t at = 0; at < view->n; at++)
        w->square[at] = squared_to(w, w->order[at], view->class_of[w->order[at]]);
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
    for (int64_t c = 0; c < w->count; c++)
        ikt_sort_f64(w->square + w->begin[c], view->size[c]);
    const ikt_rows *rows = &view->what->rows;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
    for (int64_t c = 0; c < w->count; c++)
        for (int64_t i = rows->first; i < rows->first + rows->count; i++) {
            /* The first row of the class whose shell holds row i. */
            const double *square = w->square + w->begin[c], away = squared_to(w, i, c);
            int64_t at;
            IKT_FIND_FIRST(at, 0, view->size[c], SHELL * square[at] > away);
            if (at < view->size[c]) w->entered[w->begin[c] + at]++;
        }
    ikt_sum_i64(ctx, w->entered, view->n);
}

/* --- definition 1: one class ------------------------------------------------------------------ */

/* Least over the balls of max(share of the class outside, rows in the shell / n). */
static double visible_epsilon(const work *w, int64_t c) {
    const double *square = w->square + w->begin[c];
    const int64_t *entered = w->entered + w->begin[c], size = w->view->size[c];
    double best = 1;
    int64_t within = 0;
    for (int64_t m = 1; m <= size; m++) {
        within += entered[m - 1];
        if (m < size && square[m] == square[m - 1]) continue; /* a ball takes all at its rim */
        int64_t others = within > m ? within - m : 0;
        double epsilon =
            fmax((double)(size - m) / (double)size, (double)others / (double)w->view->n);
        best = fmin(best, epsilon);
    }
    return best;
}

/* --- definition 2: all classes ---------------------------------------------------------------- */

/* Sets the balls that every class keeps all but the share epsilon of its rows in. */
static void set_balls(work *w, double epsilon) {
    for (int64_t c = 0; c < w->count; c++) {
        int64_t size = w->view->size[c], kept = size - (int64_t)floor(epsilon * (double)size);
        w->limit[c] = kept > 0 ? w->square[w->begin[c] + kept - 1] : -1;
    }
}

/* Whether a kept row lies in the shell of another class' ball. */
static bool disturbs(const work *w, int64_t row) {
    const int64_t own = w->view->class_of[row];
    if (squared_to(w, row, own) > w->limit[own]) return false;
    for (int64_t c = 0; c < w->count; c++)
        if (c != own && w->limit[c] > 0 && squared_to(w, row, c) < SHELL * w->limit[c]) return true;
    return false;
}

/* COLLECTIVE. Whether what every class keeps at epsilon is far enough from all others. */
static bool is_apart(ikt_context *ctx, work *w, double epsilon) {
    const ikt_rows *rows = &w->view->what->rows;
    int64_t disturbing = 0;
    set_balls(w, epsilon);
#pragma omp parallel for schedule(static) reduction(+ : disturbing) num_threads(ikt_threads(ctx))
    for (int64_t i = rows->first; i < rows->first + rows->count; i++)
        disturbing += disturbs(w, i);
    return ikt_sum_one(ctx, disturbing) == 0;
}

/* Whether two values of epsilon drop different numbers of rows from some class. */
static bool differ(const work *w, double low, double high) {
    for (int64_t c = 0; c < w->count; c++) {
        double size = (double)w->view->size[c];
        if (floor(low * size) != floor(high * size)) return true;
    }
    return false;
}

/* COLLECTIVE. By bisection: what is kept shrinks as epsilon grows, and distances with it. With
 * epsilon 1 nothing is kept. Returns the largest share that a class drops: a ball takes all rows at
 * its rim, so that may be less than what was asked for. */
static double visualisation_epsilon(ikt_context *ctx, work *w) {
    double low = 0, high = 1;
    if (is_apart(ctx, w, 0)) return 0;
    while (differ(w, low, high)) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) break;
        if (is_apart(ctx, w, middle))
            high = middle;
        else
            low = middle;
    }
    set_balls(w, high);
    double worst = 0;
    for (int64_t c = 0; c < w->count; c++) {
        const double *square = w->square + w->begin[c];
        int64_t kept = 0, size = w->view->size[c];
        while (kept < size && square[kept] <= w->limit[c])
            kept++;
        worst = fmax(worst, (double)(size - kept) / (double)size);
    }
    return worst;
}

/* --- the family ------------------------------------------------------------------------------- */

static ikt_status report(ikt_context *ctx, const work *w, double all, ikt_measures *out) {
    IKT_TRY(ikt_measures_add(ctx, out, "visualisation epsilon", all, 0,
                             "the map is a (1 - epsilon)-visualisation of the classes (an upper "
                             "bound by balls); 0 is full, 1 none"));
    for (int64_t c = 0; c < w->count && c < CLASSES_LISTED; c++) {
        char name[48];
        snprintf(name, sizeof name, "visible epsilon, class %lld",
                 (long long)w->view->classes.label[c]);
        IKT_TRY(ikt_measures_add(ctx, out, name, visible_epsilon(w, c), 0,
                                 "the class is (1 - epsilon)-visible (an upper bound by balls)"));
    }
    return IKT_OK;
}

static ikt_status compute(ikt_context *ctx, const ikt_measure_view *view, ikt_measures *out) {
    const int64_t n = view->n, count = view->classes.count;
    work w = {.view = view, .count = count};
    IKT_ARRAYS(held, ctx, "measures");
    ikt_measure_by_class(&held, view, &w.begin, &w.order);
    w.centre = ikt_claim(&held, count * view->q, sizeof *w.centre);
    w.square = ikt_claim(&held, n, sizeof *w.square);
    w.entered = ikt_claim(&held, n, sizeof *w.entered);
    w.limit = ikt_claim(&held, count, sizeof *w.limit);
    w.values = ikt_claim(&held, n, sizeof *w.values);
    IKT_TRY(ikt_arrays_agree(&held));
    prepare(ctx, &w);
    const double all = visualisation_epsilon(ctx, &w);
    return report(ctx, &w, all, out);
}

static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    (void)settings;
    int64_t per_row = (int64_t)(sizeof(double) + sizeof(int64_t) + sizeof(float) + sizeof(int32_t));
    int64_t per_class = (int64_t)((size_t)extent->q * sizeof(double) + 2 * sizeof(int64_t));
    return extent->n * per_row + extent->classes * per_class;
}

const ikt_measure_family ikt_family_visible = {
    .name = "visible",
    .help = "how far the map is from a visualisation of the classes, and each class from visible",
    .needs = IKT_MEASURE_NEEDS_LABELS,
    .classes_most = CLASSES_MOST,
    .classes_for = "visible clusters",
    .compute = compute,
    .memory = memory};
