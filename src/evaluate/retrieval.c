/* Families that count what queries see of the input and of the map.
 *
 * `retrieval`: the area under the mean precision - mean recall curve (Venna et al. 2010, as TriMap
 * takes it). The relevant rows of a query are its 20 nearest in the input; the k nearest in the map
 * are retrieved, k = 1 .. 100. Precision is the share of the retrieved that are relevant, recall
 * the share of the relevant that are retrieved; both are averaged over the queries. Area by
 * trapezoids between the points (recall, precision) of successive k, from recall 0 at the precision
 * of k = 1. With fewer rows both numbers are at most n - 1.
 *
 * `triplets`: how often a random triplet has its distances in the same order in the input and in
 * the map (Wang et al. 2021 use it to look at global structure; the random triplets are those of
 * TriMap). For each query i and each of its triplets, j and l are drawn uniformly among the other
 * rows, all distinct, by the query's row alone. A triplet counts 1 where d(i, j) - d(i, l) has the
 * same sign in both spaces, 1/2 where exactly one of the two signs is zero: a map in one place has
 * 1/2, like a random one, and the input itself 1. Counted in halves, in integers. */
#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "evaluate/family.h"

enum { RELEVANT = 20, RETRIEVED = 100 };

/* Counts of a thread: relevant rows by their rank in the map, or halves of triplets, in the first.
 */
enum { COUNTS = RETRIEVED + 1 };

typedef struct {
    const ikt_measure_view *view;
    int64_t relevant, retrieved; /* rows: fewer than the constants where there are fewer */
    int threads;
    int64_t *count; /* [threads * COUNTS] */
} counter;

static void end(void *self) {
    counter *c = self;
    ikt_free_all(&c->count, &c);
}

static ikt_status begin(ikt_context *ctx, const ikt_measure_view *view,
                        void (*see)(void *self, const ikt_query *query), bool wants_ranks,
                        ikt_query_observer *observer) {
    const int64_t others = view->n - 1;
    counter *c;
    IKT_TRY(ikt_alloc(ctx, &c, 1, sizeof *c, "measures"));
    *c = (counter){.view = view,
                   .relevant = others < RELEVANT ? others : RELEVANT,
                   .retrieved = others < RETRIEVED ? others : RETRIEVED,
                   .threads = ikt_threads(ctx)};
    *observer = (ikt_query_observer){c, wants_ranks, see, end};
    return ikt_alloc(ctx, &c->count, c->threads * COUNTS, sizeof *c->count, "measures");
}

/* COLLECTIVE. The counts of all threads and ranks. Returns the number of queries. */
static int64_t collect(ikt_context *ctx, const counter *c) {
    for (int64_t e = COUNTS; e < c->threads * COUNTS; e++)
        c->count[e % COUNTS] += c->count[e];
    ikt_sum_i64(ctx, c->count, COUNTS);
    return ikt_queries_count(c->view->settings, c->view->n);
}

static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    (void)settings;
    return (int64_t)sizeof(counter) + extent->threads * COUNTS * (int64_t)sizeof(int64_t);
}

/* --- precision and recall --------------------------------------------------------------------- */

static void see_ranks(void *self, const ikt_query *query) {
    const counter *c = self;
    int64_t *hits = c->count + query->thread * COUNTS;
    for (int64_t j = 0; j < c->view->n; j++)
        if (query->low[j] <= c->retrieved && query->high[j] <= c->relevant) hits[query->low[j]]++;
}

static ikt_status begin_retrieval(ikt_context *ctx, const ikt_measure_view *view,
                                  ikt_query_observer *observer) {
    return view->n < 2 ? IKT_OK : begin(ctx, view, see_ranks, true, observer);
}

static ikt_status finish_retrieval(ikt_context *ctx, const ikt_measure_view *view, void *self,
                                   ikt_measures *out) {
    const counter *c = self;
    const int64_t queries = collect(ctx, c);
    double before_recall = 0, before_precision = 0, sum = 0;
    int64_t found = 0; /* count[0] is that of the queries themselves */
    for (int64_t k = 1; k <= c->retrieved; k++) {
        found += c->count[k];
        double precision = (double)found / ((double)k * (double)queries);
        double recall = (double)found / ((double)c->relevant * (double)queries);
        if (k == 1) before_precision = precision;
        sum += (recall - before_recall) * (precision + before_precision) / 2;
        before_recall = recall;
        before_precision = precision;
    }
    return ikt_agree(ctx, ikt_measures_add(ctx, out, "precision-recall area", sum,
                                           queries < view->n ? queries : 0,
                                           "mean curve; the 20 nearest in the input are relevant, "
                                           "1 to 100 are retrieved in the map"));
}

const ikt_measure_family ikt_family_retrieval = {.name = "retrieval",
                                                 .help =
                                                     "area under the mean precision-recall curve",
                                                 .needs = IKT_MEASURE_NEEDS_INPUT,
                                                 .begin = begin_retrieval,
                                                 .finish = finish_retrieval,
                                                 .memory = memory};

/* --- random triplets -------------------------------------------------------------------------- */

static int sign_of(float a, float b) {
    return (a > b) - (a < b);
}

static void see_triplets(void *self, const ikt_query *query) {
    const counter *c = self;
    const ikt_measure_view *view = c->view;
    const int64_t q = view->q;
    const float *own = view->y + q * query->row;
    const uint64_t seed = view->settings->seed;
    for (int64_t t = 0; t < view->settings->triplets; t++) {
        /* Two distinct rows other than the query: the second is drawn from what the first left. */
        const uint64_t at = 2 * (uint64_t)t;
        int64_t j = ikt_rng_below(seed, IKT_RNG_TRIPLET, query->row, at, view->n - 1);
        int64_t l = ikt_rng_below(seed, IKT_RNG_TRIPLET, query->row, at + 1, view->n - 2);
        l += l >= j;
        j += j >= query->row;
        l += l >= query->row;
        int high = sign_of(query->distance[j], query->distance[l]);
        int low = sign_of(ikt_embedding_distance(view->y + q * j, own, q),
                          ikt_embedding_distance(view->y + q * l, own, q));
        c->count[query->thread * COUNTS] += high == low ? 2 : high == 0 || low == 0;
    }
}

static ikt_status begin_triplets(ikt_context *ctx, const ikt_measure_view *view,
                                 ikt_query_observer *observer) {
    return view->n < 3 ? IKT_OK : begin(ctx, view, see_triplets, false, observer);
}

static ikt_status finish_triplets(ikt_context *ctx, const ikt_measure_view *view, void *self,
                                  ikt_measures *out) {
    const counter *c = self;
    const int64_t queries = collect(ctx, c);
    const double all = 2 * (double)queries * (double)view->settings->triplets;
    return ikt_agree(ctx, ikt_measures_add(ctx, out, "triplet accuracy", (double)c->count[0] / all,
                                           queries < view->n ? queries : 0,
                                           "share of random triplets whose distances have the same "
                                           "order in input and map; 0.5 is a random map"));
}

const ikt_measure_family ikt_family_triplets = {
    .name = "triplets",
    .help = "share of random triplets whose distances have the same order in input and map",
    .needs = IKT_MEASURE_NEEDS_INPUT,
    .begin = begin_triplets,
    .finish = finish_triplets,
    .memory = memory};
