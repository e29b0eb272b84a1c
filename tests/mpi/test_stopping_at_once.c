/* Stages that no checkpoint holds: a signal to stop ends them between two blocks, on all ranks with
 * the same words; the end of the time does not, and where nobody may pause nothing is asked. */
#include "support/search_setting.h"

#include <math.h>
#include <signal.h>

#include "affinity/affinity.h"
#include "affinity/dense.h"
#include "base/watch.h"
#include "checkpoint/checkpoint.h"
#include "linalg/column_stats.h"
#include "linalg/pca.h"
#include "neighbours/exact.h"
#include "neighbours/search.h"

enum { N = 900, COMPONENTS = 3 };

/* What the stages work on. */
typedef struct {
    setting s;
    ikt_row_reader reader;
    ikt_pca *pca;
    ikt_neighbours lists;
    ikt_scorer scorer;
    ikt_dense dense;
} work;

typedef ikt_status stage(ikt_context *ctx, work *w);

static ikt_status take_statistics(ikt_context *ctx, work *w) {
    ikt_column_stats stats IKT_AT_END(ikt_column_stats_free) = {0};
    return ikt_column_stats_compute(ctx, &w->reader, &stats);
}

static ikt_status fit_components(ikt_context *ctx, work *w) {
    ikt_pca *pca IKT_AT_END(ikt_pca_destroy) = NULL;
    return ikt_pca_fit(ctx, &w->reader, COMPONENTS, &pca);
}

static ikt_status find_scores(ikt_context *ctx, work *w) {
    const ikt_rows *rows = &w->s.distribution;
    double *scores IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc(ctx, &scores, COMPONENTS * rows->count, sizeof *scores, "test"));
    return ikt_pca_scores(ctx, w->pca, &w->reader, rows->first, rows->count, scores);
}

static ikt_status take_checksum(ikt_context *ctx, work *w) {
    char text[IKT_INPUT_TEXT];
    return ikt_fingerprint_input(ctx, w->s.source, text);
}

static ikt_status measure_recall(ikt_context *ctx, work *w) {
    ikt_recall recall;
    return ikt_recall_measure(ctx, &w->s.tiles, &w->lists, 5, 100, &recall);
}

static ikt_status weigh_all_pairs(ikt_context *ctx, work *w) {
    const ikt_affinity_settings settings = {.gaussian.perplexity = 10};
    const ikt_affinity_job job = {.settings = &settings, .k = K, .rows = &w->s.distribution};
    int64_t alone;
    ikt_dense_destroy(&w->dense); /* weights take the place of the distances */
    IKT_TRY(ikt_dense_fill(ctx, &w->scorer, &w->dense));
    return ikt_affinity_gaussian.dense(ctx, &job, &w->dense, &alone);
}

static void begin(ikt_context *ctx, work *w) {
    memset(w, 0, sizeof *w);
    prepare(ctx, SPREAD, N, false, &w->s);
    w->reader = ikt_dataset_reader(w->s.data);
    assert_int_equal(ikt_pca_fit(ctx, &w->reader, COMPONENTS, &w->pca), IKT_OK);
    assert_int_equal(search_lists(ctx, &w->s.cells, &w->s.tiles, K, 60, &w->lists), IKT_OK);
    assert_int_equal(ikt_scorer_data(ctx, w->s.data, &w->s.distribution, &w->scorer), IKT_OK);
}

static void end(work *w) {
    ikt_dense_destroy(&w->dense);
    ikt_scorer_destroy(&w->scorer);
    ikt_neighbours_destroy(&w->lists);
    ikt_pca_destroy(&w->pca);
    clear(&w->s);
}

static stage *const stages[] = {take_statistics, fit_components, find_scores,
                                take_checksum,   measure_recall, weigh_all_pairs};
enum { STAGES = sizeof stages / sizeof *stages };

static const ikt_saver nothing = {.where = "memory"};

static void signal_last_rank(ikt_context *ctx) {
    ikt_watch_signals();
    ikt_watch_begin(ctx, INFINITY, INFINITY);
    if (ikt_rank(ctx) == ikt_size(ctx) - 1) raise(SIGTERM);
}

static void a_signal_ends_each_of_them(void **state) {
    ikt_context *ctx = *state;
    work w;
    begin(ctx, &w);
    for (int k = 0; k < STAGES; k++) {
        bool has_worked = false;
        signal_last_rank(ctx);
        assert_int_equal(stages[k](ctx, &w), IKT_OK); /* nobody may pause */
        {
            IKT_MAY_PAUSE(ctx, &nothing, &has_worked);
            assert_int_equal(stages[k](ctx, &w), IKT_STOPPED);
        }
        assert_non_null(strstr(ikt_message(ctx), "which no checkpoint holds; the same command "
                                                 "goes on from the last one in memory"));
        ikt_clear(ctx);
        assert_int_equal(stages[k](ctx, &w), IKT_OK);
        ikt_watch_end(ctx);
        ikt_watch_signals_end();
    }
    end(&w);
}

/* Or a chain of short jobs would never end. */
static void the_end_of_the_time_ends_none(void **state) {
    ikt_context *ctx = *state;
    work w;
    begin(ctx, &w);
    ikt_watch_signals(); /* forgets those of the test before */
    ikt_watch_signals_end();
    for (int k = 0; k < STAGES; k++) {
        bool has_worked = false;
        ikt_watch_begin(ctx, 0, 0);
        IKT_MAY_PAUSE(ctx, &nothing, &has_worked);
        assert_int_equal(stages[k](ctx, &w), IKT_OK);
        assert_false(has_worked);
        ikt_watch_end(ctx);
    }
    end(&w);
}

/* All pairs come by in blocks, between which there is a pause. */
static void filling_all_pairs_ends_between_blocks(void **state) {
    ikt_context *ctx = *state;
    const int64_t n = (IKT_EXACT_BLOCK_ROWS + 1) * ikt_size(ctx);
    setting s;
    ikt_scorer scorer;
    ikt_dense dense;
    bool has_worked = false;
    open_data(ctx, SPREAD, n, &s);
    assert_int_equal(ikt_scorer_data(ctx, s.data, &s.distribution, &scorer), IKT_OK);
    signal_last_rank(ctx);
    IKT_MAY_PAUSE(ctx, &nothing, &has_worked);
    assert_int_equal(ikt_dense_fill(ctx, &scorer, &dense), IKT_STOPPED);
    assert_null(dense.value);
    ikt_clear(ctx);
    ikt_watch_end(ctx);
    ikt_watch_signals_end();
    ikt_scorer_destroy(&scorer);
    clear(&s);
}

static ikt_status count_save(void *self) {
    ++*(int *)self;
    return IKT_OK;
}

/* Whether a pause in a block of its own stops with these words. */
static bool stops_with(ikt_context *ctx, const ikt_saver *saver, const char *words) {
    bool has_worked = true;
    IKT_MAY_PAUSE(ctx, saver, &has_worked);
    const bool is_so =
        ikt_watch_pause(ctx) == IKT_STOPPED && strstr(ikt_message(ctx), words) != NULL;
    ikt_clear(ctx);
    return is_so;
}

/* Within a block that has a saver, that is asked; after it the one outside again. */
static void the_nearest_saver_is_asked(void **state) {
    ikt_context *ctx = *state;
    int saves = 0;
    bool has_worked = false;
    const ikt_saver saver = {&saves, count_save, "folder", 0}, none = {.where = NULL};
    signal_last_rank(ctx);
    IKT_MAY_PAUSE(ctx, &nothing, &has_worked);
    assert_true(stops_with(ctx, &saver, "folder holds all that is done"));
    assert_int_equal(saves, 1);
    assert_true(stops_with(ctx, &none, "which no checkpoint holds"));
    assert_int_equal(saves, 1);
    ikt_watch_end(ctx);
    ikt_watch_signals_end();
}

IKT_MPI_TESTS(ikt_test(a_signal_ends_each_of_them), ikt_test(the_end_of_the_time_ends_none),
              ikt_test(filling_all_pairs_ends_between_blocks), ikt_test(the_nearest_saver_is_asked))
