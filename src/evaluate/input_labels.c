/* How well the nearest row of the input tells a row's label: the share of rows whose nearest other
 * row has another one, before anything is placed. It is what the same error of the map is to be
 * compared with. Distances are those of the input, also where these come from similarities; ties go
 * to the lower row. */
#include "base/comm.h"
#include "base/memory.h"
#include "evaluate/family.h"

/* Counts of a thread are a cache line apart. */
enum { APART = 8 };

typedef struct {
    const ikt_measure_view *view;
    int threads;
    int64_t *wrong; /* [threads * APART] */
} counter;

static void see(void *self, const ikt_query *query) {
    const counter *c = self;
    const ikt_measure_view *view = c->view;
    int64_t nearest = query->row > 0 ? 0 : 1;
    for (int64_t j = nearest + 1; j < view->n; j++)
        if (j != query->row && query->distance[j] < query->distance[nearest]) nearest = j;
    c->wrong[query->thread * APART] += view->class_of[nearest] != view->class_of[query->row];
}

static void end(void *self) {
    counter *c = self;
    ikt_free_all(&c->wrong, &c);
}

static ikt_status begin(ikt_context *ctx, const ikt_measure_view *view,
                        ikt_query_observer *observer) {
    counter *c;
    if (view->n < 2) return IKT_OK;
    IKT_TRY(ikt_alloc(ctx, &c, 1, sizeof *c, "measures"));
    *c = (counter){.view = view, .threads = ikt_threads(ctx)};
    *observer = (ikt_query_observer){c, false, see, end};
    return ikt_alloc(ctx, &c->wrong, c->threads * APART, sizeof *c->wrong, "measures");
}

static ikt_status finish(ikt_context *ctx, const ikt_measure_view *view, void *self,
                         ikt_measures *out) {
    const counter *c = self;
    const int64_t queries = ikt_queries_count(view->settings, view->n);
    int64_t wrong = 0;
    for (int t = 0; t < c->threads; t++)
        wrong += c->wrong[t * APART];
    wrong = ikt_sum_one(ctx, wrong);
    return ikt_agree(
        ctx, ikt_measures_add(ctx, out, "1-NN error, input", (double)wrong / (double)queries,
                              queries < view->n ? queries : 0,
                              "share of rows whose nearest row in the input has another "
                              "label"));
}

static int64_t memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent) {
    (void)settings;
    return (int64_t)sizeof(counter) + extent->threads * APART * (int64_t)sizeof(int64_t);
}

const ikt_measure_family ikt_family_input_labels = {
    .name = "input-labels",
    .help = "1-nearest-neighbour error of the labels in the input",
    .needs = IKT_MEASURE_NEEDS_LABELS | IKT_MEASURE_NEEDS_INPUT,
    .begin = begin,
    .finish = finish,
    .memory = memory};
