/* Random-triplet accuracy: how often a random triplet has its distances in the same order in the
 * input and in the map (Wang et al. 2021 use it to look at global structure; the random triplets
 * are those of TriMap).
 *
 * For each query i and each of its triplets, j and l are drawn uniformly among the other rows, all
 * distinct, by the query's row alone. A triplet counts 1 where d(i, j) - d(i, l) has the same sign
 * in both spaces, 1/2 where exactly one of the two signs is zero: a map in one place has 1/2, like
 * a random one, and the input itself 1. Counted in halves, in integers. */
#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "evaluate/family.h"

typedef struct {
    const ikt_measure_view *view;
    int threads;
    int64_t *halves; /* [threads * APART] */
} counter;

enum { APART = 8 }; /* counts of two threads are not in one line of the cache */

static int sign_of(float a, float b) {
    return (a > b) - (a < b);
}

/* Two distinct rows other than `row`: the second is drawn from what the first left. */
static void draw(const ikt_measure_view *view, int64_t row, int64_t triplet, int64_t *j,
                 int64_t *l) {
    const uint64_t seed = view->settings->seed, at = 2 * (uint64_t)triplet;
    int64_t first = ikt_rng_below(seed, IKT_RNG_TRIPLET, row, at, view->n - 1);
    int64_t second = ikt_rng_below(seed, IKT_RNG_TRIPLET, row, at + 1, view->n - 2);
    second += second >= first;
    *j = first + (first >= row);
    *l = second + (second >= row);
}

static void see(void *self, const ikt_query *query) {
    const counter *c = self;
    const ikt_measure_view *view = c->view;
    const int64_t q = view->q;
    const float *own = view->y + q * query->row;
    for (int64_t t = 0; t < view->settings->triplets; t++) {
        int64_t j, l;
        draw(view, query->row, t, &j, &l);
        int high = sign_of(query->distance[j], query->distance[l]);
        int low = sign_of(ikt_embedding_distance(view->y + q * j, own, q),
                          ikt_embedding_distance(view->y + q * l, own, q));
        c->halves[query->thread * APART] += high == low ? 2 : high == 0 || low == 0;
    }
}

static void end(void *self) {
    counter *c = self;
    ikt_free(&c->halves);
    ikt_free(&c);
}

static ikt_status begin(ikt_context *ctx, const ikt_measure_view *view,
                        ikt_query_observer *observer) {
    counter *c;
    if (view->n < 3) return IKT_OK; /* no triplets */
    IKT_TRY(ikt_alloc(ctx, &c, 1, sizeof *c, "measures"));
    *c = (counter){.view = view, .threads = ikt_threads(ctx)};
    *observer = (ikt_query_observer){c, false, see, end};
    return ikt_alloc(ctx, &c->halves, c->threads * APART, sizeof *c->halves, "measures");
}

static ikt_status finish(ikt_context *ctx, const ikt_measure_view *view, void *self,
                         ikt_measures *out) {
    const counter *c = self;
    const int64_t queries = ikt_queries_count(view->settings, view->n);
    int64_t halves = 0;
    for (int t = 0; t < c->threads; t++)
        halves += c->halves[t * APART];
    halves = ikt_sum_one(ctx, halves);
    double all = 2 * (double)queries * (double)view->settings->triplets;
    return ikt_agree(ctx, ikt_measures_add(ctx, out, "triplet accuracy", (double)halves / all,
                                           queries < view->n ? queries : 0,
                                           "share of random triplets whose distances have the same "
                                           "order in input and map; 0.5 is a random map"));
}

static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    (void)settings;
    return (int64_t)sizeof(counter) + extent->threads * APART * (int64_t)sizeof(int64_t);
}

const ikt_measure_family ikt_family_triplets = {
    .name = "triplets",
    .help = "share of random triplets whose distances have the same order in input and map",
    .needs = IKT_MEASURE_NEEDS_INPUT,
    .begin = begin,
    .finish = finish,
    .memory = memory};
