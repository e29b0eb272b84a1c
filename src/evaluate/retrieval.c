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
 * 1/2, like a random one, and the input itself 1. Counted in halves, in integers.
 *
 * `input-labels`: how well the nearest row of the input tells a row's label, before anything is
 * placed: what the same error of the map is to be compared with. Distances are those of the input,
 * also where these come from similarities; ties go to the lower row. */
#include "base/comm.h"
#include "base/rng.h"
#include "base/sort.h"
#include "evaluate/family.h"

enum { RELEVANT = 20, RETRIEVED = 100 };

/* Counts of a thread: relevant rows by their rank in the map; halves of triplets or wrong labels in
 * the first. */
enum { COUNTS = RETRIEVED + 1 };

typedef struct {
    const ikt_measure_view *view;
    int64_t relevant, retrieved; /* rows: fewer than the constants where there are fewer */
    int threads;
    int64_t *count; /* [threads * COUNTS] */
} counter;

static ikt_status begin(const ikt_measure_view *view,
                        void (*see)(void *self, const ikt_query *query), bool wants_ranks,
                        ikt_query_observer *observer) {
    const int threads = ikt_threads(observer->held.ctx);
    counter *c = ikt_claim(&observer->held, 1, sizeof *c);
    int64_t *count = ikt_claim(&observer->held, threads * COUNTS, sizeof *count);
    IKT_TRY(observer->held.status);
    *c = (counter){.view = view,
                   .relevant = ikt_smaller(RELEVANT, view->n - 1),
                   .retrieved = ikt_smaller(RETRIEVED, view->n - 1),
                   .threads = threads,
                   .count = count};
    observer->self = c;
    observer->wants_ranks = wants_ranks;
    observer->see = see;
    return IKT_OK;
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

static ikt_status begin_retrieval(const ikt_measure_view *view, ikt_query_observer *observer) {
    return view->n < 2 ? IKT_OK : begin(view, see_ranks, true, observer);
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
    return ikt_measures_add(ctx, out, "precision-recall area", sum, queries < view->n ? queries : 0,
                            "mean curve; the 20 nearest in the input are relevant, 1 to 100 are "
                            "retrieved in the map");
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

static ikt_status begin_triplets(const ikt_measure_view *view, ikt_query_observer *observer) {
    return view->n < 3 ? IKT_OK : begin(view, see_triplets, false, observer);
}

static ikt_status finish_triplets(ikt_context *ctx, const ikt_measure_view *view, void *self,
                                  ikt_measures *out) {
    const counter *c = self;
    const int64_t queries = collect(ctx, c);
    const double all = 2 * (double)queries * (double)view->settings->triplets;
    return ikt_measures_add(ctx, out, "triplet accuracy", (double)c->count[0] / all,
                            queries < view->n ? queries : 0,
                            "share of random triplets whose distances have the same order in input "
                            "and map; 0.5 is a random map");
}

const ikt_measure_family ikt_family_triplets = {
    .name = "triplets",
    .help = "share of random triplets whose distances have the same order in input and map",
    .needs = IKT_MEASURE_NEEDS_INPUT,
    .begin = begin_triplets,
    .finish = finish_triplets,
    .memory = memory};

/* --- labels of the input ---------------------------------------------------------------------- */

/* Whether a row is another one than the query and has a label. */
static inline bool is_other(const ikt_measure_view *view, const ikt_query *query, int64_t j) {
    return j != query->row && view->class_of[j] >= 0;
}

static void see_nearest(void *self, const ikt_query *query) {
    const counter *c = self;
    const ikt_measure_view *view = c->view;
    int64_t nearest = 0;
    if (view->class_of[query->row] < 0) return;
    while (!is_other(view, query, nearest)) /* there are two rows with a label */
        nearest++;
    for (int64_t j = nearest + 1; j < view->n; j++)
        if (is_other(view, query, j) && query->distance[j] < query->distance[nearest]) nearest = j;
    c->count[query->thread * COUNTS] += view->class_of[nearest] != view->class_of[query->row];
    c->count[query->thread * COUNTS + 1]++;
}

static ikt_status begin_nearest(const ikt_measure_view *view, ikt_query_observer *observer) {
    return view->n < 2 ? IKT_OK : begin(view, see_nearest, false, observer);
}

static ikt_status finish_nearest(ikt_context *ctx, const ikt_measure_view *view, void *self,
                                 ikt_measures *out) {
    const counter *c = self;
    const bool is_sample = collect(ctx, c) < view->n;
    const int64_t queries = c->count[1]; /* those with a label; of a sample there may be none */
    if (queries == 0)
        return ikt_measure_refuse(ctx, view->settings,
                                  "1-NN error in the input: no row of the sample has a label; take "
                                  "a larger one (sample)");
    return ikt_measures_add(ctx, out, "1-NN error, input", (double)c->count[0] / (double)queries,
                            is_sample ? queries : 0,
                            "share of rows whose nearest row in the input has another label");
}

const ikt_measure_family ikt_family_input_labels = {
    .name = "input-labels",
    .help = "1-nearest-neighbour error of the labels in the input",
    .needs = IKT_MEASURE_NEEDS_LABELS | IKT_MEASURE_NEEDS_INPUT,
    .begin = begin_nearest,
    .finish = finish_nearest,
    .memory = memory};
