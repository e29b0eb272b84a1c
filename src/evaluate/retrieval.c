/* Area under the mean precision - mean recall curve (Venna et al. 2010, as TriMap takes it).
 *
 * The relevant rows of a query are its 20 nearest in the input; the k nearest in the map are
 * retrieved, k = 1 .. 100. Precision is the share of the retrieved that are relevant, recall the
 * share of the relevant that are retrieved; both are averaged over the queries. Area by trapezoids
 * between the points (recall, precision) of successive k, from recall 0 at the precision of k = 1.
 * With fewer rows both numbers are at most n - 1. */
#include "base/comm.h"
#include "base/memory.h"
#include "evaluate/family.h"

enum { RELEVANT = 20, RETRIEVED = 100 };

typedef struct {
    int64_t n, relevant, retrieved, queries;
    int threads;
    int64_t *hits; /* [threads * (RETRIEVED + 1)] relevant rows by their rank in the map */
} counter;

static void see(void *self, const ikt_query *query) {
    const counter *c = self;
    int64_t *hits = c->hits + query->thread * (RETRIEVED + 1);
    for (int64_t j = 0; j < c->n; j++)
        if (query->low[j] <= c->retrieved && query->high[j] <= c->relevant) hits[query->low[j]]++;
}

static void end(void *self) {
    counter *c = self;
    ikt_free(&c->hits);
    ikt_free(&c);
}

static ikt_status begin(ikt_context *ctx, const ikt_measure_view *view,
                        ikt_query_observer *observer) {
    counter *c;
    const int64_t others = view->n - 1;
    if (others < 1) return IKT_OK;
    IKT_TRY(ikt_alloc(ctx, &c, 1, sizeof *c, "measures"));
    *c = (counter){.n = view->n,
                   .relevant = others < RELEVANT ? others : RELEVANT,
                   .retrieved = others < RETRIEVED ? others : RETRIEVED,
                   .queries = ikt_queries_count(view->settings, view->n),
                   .threads = ikt_threads(ctx)};
    *observer = (ikt_query_observer){c, true, see, end};
    return ikt_alloc(ctx, &c->hits, c->threads * (RETRIEVED + 1), sizeof *c->hits, "measures");
}

static double area(const counter *c, const int64_t *hits) {
    double before_recall = 0, before_precision = 0, sum = 0;
    int64_t found = 0; /* hits[0] counts the queries themselves */
    for (int64_t k = 1; k <= c->retrieved; k++) {
        found += hits[k];
        double precision = (double)found / ((double)k * (double)c->queries);
        double recall = (double)found / ((double)c->relevant * (double)c->queries);
        if (k == 1) before_precision = precision;
        sum += (recall - before_recall) * (precision + before_precision) / 2;
        before_recall = recall;
        before_precision = precision;
    }
    return sum;
}

static ikt_status finish(ikt_context *ctx, const ikt_measure_view *view, void *self,
                         ikt_measures *out) {
    counter *c = self;
    for (int64_t e = RETRIEVED + 1; e < c->threads * (RETRIEVED + 1); e++)
        c->hits[e % (RETRIEVED + 1)] += c->hits[e];
    ikt_sum_i64(ctx, c->hits, RETRIEVED + 1);
    return ikt_agree(ctx, ikt_measures_add(ctx, out, "precision-recall area", area(c, c->hits),
                                           c->queries < view->n ? c->queries : 0,
                                           "mean curve; the 20 nearest in the input are relevant, "
                                           "1 to 100 are retrieved in the map"));
}

static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    (void)settings;
    return (int64_t)sizeof(counter) + extent->threads * (RETRIEVED + 1) * (int64_t)sizeof(int64_t);
}

const ikt_measure_family ikt_family_retrieval = {.name = "retrieval",
                                                 .help =
                                                     "area under the mean precision-recall curve",
                                                 .needs = IKT_MEASURE_NEEDS_INPUT,
                                                 .begin = begin,
                                                 .finish = finish,
                                                 .memory = memory};
