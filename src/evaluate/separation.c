/* Whether the DATA are gamma-spherical and gamma-well-separated (Arora, Hu and Kothari 2018;
 * definition 3 of the lecture on t-SNE by Zhong and Verma), which makes t-SNE's early phase a full
 * visualisation of them.
 *
 * With b_1 .. b_k > 0: every class has at least n / (10 k) rows; two rows of class l are at squared
 * distance b_l / (1 + gamma) or more; within squared distance b_l of each row of class l are at
 * least .51 |C_l| others of it; rows of classes l and m are at (1 + gamma log n) max(b_l, b_m) or
 * more. Smaller b_l make the first and the last condition easier, so each b_l is the least that the
 * second allows. The first then holds from gamma = max_l b_l / (least squared distance in l) - 1 on
 * ("gamma spherical"), the last up to gamma = min (least squared distance between l and m /
 * max(b_l, b_m) - 1) / log n ("gamma separated"). The largest gamma of the definition is the
 * latter, if it is positive and not below the former. From a sample of queries minima are too large
 * and b too small: both numbers flatter the data.
 * Disadvantage: one pair of near duplicates in a class settles "gamma spherical". */
#include <math.h>
#include <stdio.h>

#include "base/comm.h"
#include "base/sort.h"
#include "evaluate/family.h"

enum { CLASSES_MOST = 1000, CLASSES_LISTED = 64 };

/* Squared distances that one thread has seen; in the end the first part holds those of all. The
 * arrays are one, of minima, so that half is kept with the opposite sign until then. */
typedef struct {
    double *least;  /* [classes] between two rows of a class */
    double *half;   /* [classes] the most that a row needs to reach .51 of its class */
    double *across; /* [classes * classes] the least from a row of class l to one of class m */
    float *own;     /* [rows of the largest class] scratch */
} part;

typedef struct {
    const ikt_measure_view *view;
    int64_t count; /* classes */
    int threads;
    part *parts; /* [threads] */
} work;

static void see(void *self, const ikt_query *query) {
    const work *k = self;
    const ikt_measure_view *view = k->view;
    part *p = &k->parts[query->thread];
    const int64_t own = view->class_of[query->row];
    int64_t others = 0;
    if (own < 0) return;
    /* Others of its class that a row must have within b_l: .51 |C_l|, rounded up. */
    const int64_t needed = (51 * view->size[own] + 99) / 100;
    double *across = p->across + own * k->count;
    for (int64_t j = 0; j < view->n; j++) {
        int64_t c = view->class_of[j];
        if (c < 0) continue;
        if (c == own && j != query->row) p->own[others++] = query->distance[j];
        if (c != own && (double)query->distance[j] < across[c])
            across[c] = (double)query->distance[j];
    }
    for (int64_t e = 0; e < others; e++)
        if ((double)p->own[e] < p->least[own]) p->least[own] = (double)p->own[e];
    double half =
        needed <= others ? (double)ikt_order_statistic(p->own, others, needed - 1) : INFINITY;
    p->half[own] = fmin(p->half[own], -half);
}

static ikt_status begin(const ikt_measure_view *view, ikt_query_observer *observer) {
    ikt_arrays *held = &observer->held;
    const int threads = ikt_threads(held->ctx);
    const int64_t count = view->classes.count, entries = (2 + count) * count;
    int64_t largest = 0;
    for (int64_t c = 0; c < count; c++)
        largest = ikt_larger(largest, view->size[c]);
    work *k = ikt_claim(held, 1, sizeof *k);
    part *parts = ikt_claim(held, threads, sizeof *parts);
    IKT_TRY(held->status);
    for (int t = 0; t < threads; t++) {
        part *p = &parts[t];
        p->least = ikt_claim(held, entries, sizeof *p->least);
        p->own = ikt_claim(held, largest, sizeof *p->own);
        IKT_TRY(held->status);
        p->half = p->least + count;
        p->across = p->half + count;
        for (int64_t e = 0; e < entries; e++)
            p->least[e] = e >= count && e < 2 * count ? 0 : INFINITY;
    }
    *k = (work){.view = view, .count = count, .threads = threads, .parts = parts};
    observer->self = k;
    observer->see = see;
    return IKT_OK;
}

/* The least and the largest gamma that the conditions allow, and what decides them. */
typedef struct {
    double spherical, separated;
    int64_t bent;    /* the class that decides the former, */
    int64_t near[2]; /* and those that decide the latter, the lower first */
    int64_t small;   /* the first class of too few rows; -1: there is none */
} limits;

static limits find_limits(const work *k, const part *all) {
    const ikt_measure_view *view = k->view;
    const int64_t count = k->count;
    limits found = {.separated = INFINITY, .near = {0, 1}, .small = -1};
    for (int64_t c = 0; c < count; c++) {
        const bool few = 10 * count * view->size[c] < view->labelled || isinf(all->half[c]);
        if (few && found.small < 0) found.small = c;
        /* Not spherical: .51 of the class are more than all others, or duplicates, where b > 0 is
         * asked for. */
        const bool is_none = isinf(all->half[c]) || !(all->least[c] > 0);
        const double gamma = is_none ? INFINITY : fmax(0, all->half[c] / all->least[c] - 1);
        if (gamma > found.spherical) {
            found.spherical = gamma;
            found.bent = c;
        }
    }
    for (int64_t e = 0; e < count * count; e++) {
        const int64_t a = e / count, b = e % count;
        const double widest = fmax(all->half[a], all->half[b]);
        if (a == b || isinf(all->across[e]) || !(widest > 0)) continue;
        const double gamma = (all->across[e] / widest - 1) / log((double)view->labelled);
        if (gamma < found.separated) {
            found.separated = gamma;
            found.near[0] = ikt_smaller(a, b);
            found.near[1] = ikt_larger(a, b);
        }
    }
    return found;
}

/* Appends them, and the b of the classes. */
static ikt_status report(ikt_context *ctx, const work *k, const part *all, int64_t sample,
                         ikt_measures *out) {
    const int64_t *label = k->view->classes.label, count = k->count;
    const limits l = find_limits(k, all);
    const bool is_met = l.small < 0 && l.separated > 0 && l.separated >= l.spherical;
    const long long bent = label[l.bent], one = label[l.near[0]], other = label[l.near[1]];
    char text[160];
    if (is_met)
        snprintf(text, sizeof text, "the largest gamma for which the data satisfy the definition");
    else if (l.small >= 0)
        snprintf(text, sizeof text, "none: class %lld has fewer than 3 or n / (10 k) rows",
                 (long long)label[l.small]);
    else if (!(l.separated > 0))
        snprintf(text, sizeof text, "none: classes %lld and %lld are not separated", one, other);
    else
        snprintf(text, sizeof text,
                 "none: class %lld is not as spherical as the classes are separated", bent);
    IKT_TRY(ikt_measures_add(ctx, out, "gamma", is_met ? l.separated : NAN, sample, text));
    snprintf(text, sizeof text, "the data are gamma-spherical from this on; class %lld settles it",
             bent);
    IKT_TRY(ikt_measures_add(ctx, out, "gamma spherical", l.spherical, sample, text));
    snprintf(text, sizeof text,
             "the data are gamma-well-separated up to this; classes %lld and %lld settle it", one,
             other);
    IKT_TRY(ikt_measures_add(ctx, out, "gamma separated", l.separated, sample, text));
    for (int64_t c = 0; c < count && c < CLASSES_LISTED; c++) {
        snprintf(text, 48, "b, class %lld", (long long)label[c]);
        IKT_TRY(ikt_measures_add(ctx, out, text, all->half[c], sample,
                                 "squared distance that takes in .51 of the class from each row"));
    }
    return IKT_OK;
}

static ikt_status finish(ikt_context *ctx, const ikt_measure_view *view, void *self,
                         ikt_measures *out) {
    const work *k = self;
    const int64_t queries = ikt_queries_count(view->settings, view->n);
    const int64_t count = k->count, entries = (2 + count) * count;
    const part *all = &k->parts[0]; /* in the end it has the minima of all threads and ranks */
    for (int t = 1; t < k->threads; t++)
        for (int64_t e = 0; e < entries; e++)
            all->least[e] = fmin(all->least[e], k->parts[t].least[e]);
    ikt_min_f64(ctx, all->least, entries);
    for (int64_t c = 0; c < count; c++)
        all->half[c] = 0 - all->half[c];
    return report(ctx, k, all, queries < view->n ? queries : 0, out);
}

static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    (void)settings;
    int64_t k = extent->classes;
    if (k > CLASSES_MOST) return 0;
    return extent->threads * ((int64_t)sizeof(part) + (2 * k + k * k) * (int64_t)sizeof(double) +
                              extent->n / k * (int64_t)sizeof(float));
}

const ikt_measure_family ikt_family_separation = {
    .name = "separation",
    .help = "the largest gamma for which the data are gamma-spherical and gamma-well-separated",
    .needs = IKT_MEASURE_NEEDS_LABELS | IKT_MEASURE_NEEDS_INPUT,
    .classes_most = CLASSES_MOST,
    .classes_for = "well-separated data",
    .begin = begin,
    .finish = finish,
    .memory = memory};
