/* Stages that are stopped at every place where they can be, and go on from what was saved: the
 * result is that of a stage that was never stopped; and who is asked for what. */
#include "support/search_setting.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/watch.h"
#include "neighbours/exact.h"
#include "neighbours/passes.h"
#include "neighbours/search.h"

enum { N = 900, STOPS_MOST = 2000 };

/* Copies in memory stand for files. */
typedef struct {
    char *bytes;
    int64_t size;
} copy;

static void keep(ikt_context *ctx, copy *c, const void *from, int64_t bytes) {
    ikt_free(&c->bytes);
    assert_int_equal(ikt_alloc(ctx, &c->bytes, bytes, 1, "test"), IKT_OK);
    memcpy(c->bytes, from, (size_t)bytes);
    c->size = bytes;
}

static void give(const copy *c, void *to) {
    if (c->bytes) memcpy(to, c->bytes, (size_t)c->size);
}

/* --- codes ------------------------------------------------------------------------------------ */

typedef struct {
    ikt_context *ctx;
    int64_t rows;
    int saves;
    copy codes, coarse, done;
} kept_codes;

static ikt_status load_codes(void *self, ikt_codes *codes, const ikt_code_places *places,
                             int32_t *done) {
    const kept_codes *k = self;
    give(&k->codes, codes->code);
    give(&k->coarse, places->coarse);
    give(&k->done, done);
    return IKT_OK;
}

static ikt_status save_codes(void *self, const ikt_codes *codes, const ikt_code_places *places,
                             const int32_t *done) {
    kept_codes *k = self;
    k->saves++;
    keep(k->ctx, &k->codes, codes->code, codes->n_local * codes->stride);
    if (places->coarse)
        keep(k->ctx, &k->coarse, places->coarse, codes->n_local * (int64_t)sizeof *places->coarse);
    keep(k->ctx, &k->done, done, codes->n_local * (int64_t)sizeof *done);
    return IKT_OK;
}

/* Blocks of few rows, runs of few partitionings: many places to stop at. */
static void codes_go_on(ikt_context *ctx, int form, int64_t t, bool coarse,
                        ikt_codes_budget small) {
    setting s;
    open_data(ctx, SPREAD, N, &s);
    const ikt_model_spec spec = {
        .seed = 2, .n = N, .psi = PSI, .t = t, .coarse = coarse ? 64 : 0, .form = form};
    assert_int_equal(ikt_model_create(ctx, &spec, &s.model), IKT_OK);
    ikt_code_places places[2] = {{.coarse = NULL}, {.coarse = NULL}};
    for (int i = 0; i < 2 && coarse; i++)
        assert_int_equal(ikt_alloc(ctx, &places[i].coarse, s.distribution.count,
                                   sizeof *places[i].coarse, "test"),
                         IKT_OK);
    ikt_codes codes;
    assert_int_equal(ikt_codes_compute_within(ctx, small, NULL, s.data, &s.distribution, s.model,
                                              &s.codes, &places[0]),
                     IKT_OK);
    kept_codes kept = {.ctx = ctx};
    const ikt_codes_hooks hooks = {&kept, "memory", load_codes, save_codes};
    ikt_status st = IKT_STOPPED;
    int stops = 0;
    while (st == IKT_STOPPED && stops < STOPS_MOST) {
        ikt_watch_begin(ctx, 0, INFINITY);
        st = ikt_codes_compute_within(ctx, small, &hooks, s.data, &s.distribution, s.model, &codes,
                                      &places[1]);
        stops += st == IKT_STOPPED;
        ikt_clear(ctx);
    }
    ikt_watch_end(ctx);
    assert_int_equal(st, IKT_OK);
    assert_int_equal(kept.saves, stops);
    assert_true(stops > 3);
    assert_memory_equal(codes.code, s.codes.code, (size_t)(codes.n_local * codes.stride));
    if (coarse && s.distribution.count > 0)
        assert_memory_equal(places[0].coarse, places[1].coarse,
                            (size_t)s.distribution.count * sizeof *places[0].coarse);
    ikt_codes_destroy(&codes);
    ikt_free(&kept.codes.bytes);
    ikt_free(&kept.coarse.bytes);
    ikt_free(&kept.done.bytes);
    ikt_code_places_destroy(&places[0]);
    ikt_code_places_destroy(&places[1]);
    clear(&s);
}

static void codes_that_are_stopped_go_on(void **state) {
    const ikt_codes_budget small = {1 << 12, 1 << 9, 0}, trees = {1 << 16, 1 << 9, 0};
    /* Seven rows of all centres for each thread, as a block of a wide row has few. */
    const ikt_codes_budget few = {0, 0, 7 * (T * PSI + 64) * D};
    codes_go_on(*state, IKT_FORM_VORONOI, T, true, small);
    codes_go_on(*state, IKT_FORM_VORONOI, T, false, small);
    codes_go_on(*state, IKT_FORM_VORONOI, 300, true, small);
    codes_go_on(*state, IKT_FORM_VORONOI, T, true, few);
    codes_go_on(*state, IKT_FORM_FOREST, T, false, trees);
}

/* --- lists ------------------------------------------------------------------------------------ */

typedef struct {
    ikt_context *ctx;
    int64_t round, near;
    int saves, first; /* first: within the first round, with some rows done and others not */
    copy row, score, done, nearest;
} kept_lists;

static ikt_status load_lists(void *self, ikt_neighbours *lists, ikt_list_progress *progress) {
    const kept_lists *k = self;
    progress->round = k->round;
    progress->near = k->near;
    give(&k->row, lists->row);
    give(&k->score, lists->score);
    give(&k->done, progress->done);
    if (k->near == 0) return IKT_OK;
    assert_int_equal(ikt_alloc(k->ctx, &progress->nearest, lists->n_local * k->near,
                               sizeof *progress->nearest, "test"),
                     IKT_OK);
    give(&k->nearest, progress->nearest);
    return IKT_OK;
}

static ikt_status save_lists(void *self, const ikt_neighbours *lists,
                             const ikt_list_progress *progress) {
    kept_lists *k = self;
    const int64_t entries = lists->n_local * lists->k;
    int64_t done[2] = {0, 0}; /* not, and done */
    for (int64_t i = 0; i < lists->n_local; i++)
        done[progress->done[i] != 0]++;
    for (int64_t e = 0; e < entries; e++) /* what is not found yet is no row */
        assert_true(isinf(lists->score[e]) ? lists->row[e] == UINT32_MAX : lists->row[e] < N);
    ikt_sum_i64(k->ctx, done, 2);
    k->saves++;
    k->first += progress->round == 0 && done[0] > 0 && done[1] > 0;
    k->round = progress->round;
    k->near = progress->nearest ? progress->near : 0;
    keep(k->ctx, &k->row, lists->row, entries * (int64_t)sizeof *lists->row);
    keep(k->ctx, &k->score, lists->score, entries * (int64_t)sizeof *lists->score);
    keep(k->ctx, &k->done, progress->done, lists->n_local);
    if (progress->nearest)
        keep(k->ctx, &k->nearest, progress->nearest,
             lists->n_local * k->near * (int64_t)sizeof *progress->nearest);
    return IKT_OK;
}

static void free_lists(kept_lists *k) {
    ikt_free(&k->row.bytes);
    ikt_free(&k->score.bytes);
    ikt_free(&k->done.bytes);
    ikt_free(&k->nearest.bytes);
}

enum { PASSES = 3, ROUNDS = 2, CANDIDATES = 60 };

/* All pairs of codes, a search among near ones, or passes by distance; and rounds of refinement. */
typedef enum { ALL_PAIRS, NEAR_CODES, PASSES_OF_ROWS } search_kind;

static ikt_status make_lists(ikt_context *ctx, setting *s, search_kind search,
                             const ikt_list_hooks *hooks, ikt_neighbours *lists) {
    const ikt_scorer scorer = ikt_scorer_codes(&s->codes, &s->distribution);
    const ikt_pass_rows rows = {s->data, &s->distribution, 7, NULL};
    const int64_t passes = search == PASSES_OF_ROWS ? PASSES : 1;
    ikt_list_course course;
    ikt_tiles tiles = {0};
    assert_int_equal(ikt_neighbours_create(ctx, &s->distribution, K, lists), IKT_OK);
    assert_int_equal(ikt_list_course_begin(ctx, hooks, lists, &course), IKT_OK);
    ikt_status st = IKT_OK;
    if (search == ALL_PAIRS) st = ikt_neighbours_exact(ctx, &scorer, &course);
    while (search != ALL_PAIRS && st == IKT_OK && course.progress.round < passes + ROUNDS) {
        if (course.progress.round < passes - 1)
            st = ikt_pass_search(ctx, &rows, &s->order, CANDIDATES, &tiles, &course);
        else if (course.progress.round < passes)
            st = ikt_neighbours_search(ctx, &s->cells, &s->tiles, CANDIDATES, &course);
        else
            st = ikt_neighbours_refine(ctx, &s->tiles, &course);
        if (st == IKT_OK) ikt_list_course_next(&course);
    }
    ikt_tiles_destroy(&tiles);
    ikt_list_course_end(&course);
    ikt_neighbours_sort(ctx, lists);
    return st;
}

static void lists_go_on(ikt_context *ctx, search_kind search) {
    setting s;
    ikt_neighbours whole, lists;
    prepare(ctx, SPREAD, N, search != PASSES_OF_ROWS, &s);
    assert_int_equal(make_lists(ctx, &s, search, NULL, &whole), IKT_OK);
    clear(&s);
    prepare(ctx, SPREAD, N, search != PASSES_OF_ROWS, &s); /* a round has used up the tiles */
    kept_lists kept = {.ctx = ctx};
    const ikt_list_hooks hooks = {&kept, "memory", load_lists, save_lists};
    ikt_set_piece_bytes(ctx, 1 << 10); /* short batches */
    ikt_status st = IKT_STOPPED;
    int stops = 0;
    while (st == IKT_STOPPED && stops < STOPS_MOST) {
        ikt_watch_begin(ctx, 0, INFINITY);
        st = make_lists(ctx, &s, search, &hooks, &lists);
        stops += st == IKT_STOPPED;
        if (st == IKT_STOPPED) ikt_neighbours_destroy(&lists);
        ikt_clear(ctx);
    }
    ikt_watch_end(ctx);
    ikt_set_piece_bytes(ctx, 1 << 30);
    assert_int_equal(st, IKT_OK);
    assert_int_equal(kept.saves, stops);
    if (search != ALL_PAIRS) assert_true(stops > 3 && kept.first > 1);
    assert_true(hash_lists(ctx, &lists, s.distribution.first) ==
                hash_lists(ctx, &whole, s.distribution.first));
    ikt_neighbours_destroy(&lists);
    ikt_neighbours_destroy(&whole);
    free_lists(&kept);
    clear(&s);
}

static void lists_that_are_stopped_go_on(void **state) {
    for (int search = ALL_PAIRS; search <= PASSES_OF_ROWS; search++)
        lists_go_on(*state, (search_kind)search);
}

/* Lists that are saved at every place, and go on, are those that are not. */
static void lists_that_are_saved_stay_the_same(void **state) {
    ikt_context *ctx = *state;
    uint64_t hash[2];
    for (int saves = 0; saves < 2; saves++) {
        setting s;
        ikt_neighbours lists;
        prepare(ctx, SPREAD, N, false, &s);
        kept_lists kept = {.ctx = ctx};
        const ikt_list_hooks hooks = {&kept, "memory", load_lists, save_lists};
        ikt_set_piece_bytes(ctx, 1 << 10);
        if (saves) ikt_watch_begin(ctx, INFINITY, 0);
        assert_int_equal(make_lists(ctx, &s, PASSES_OF_ROWS, &hooks, &lists), IKT_OK);
        ikt_watch_end(ctx);
        ikt_set_piece_bytes(ctx, 1 << 30);
        assert_true(saves ? kept.first > 1 : kept.saves == 0);
        hash[saves] = hash_lists(ctx, &lists, s.distribution.first);
        ikt_neighbours_destroy(&lists);
        free_lists(&kept);
        clear(&s);
    }
    assert_true(hash[0] == hash[1]);
}

/* A course on new lists, of which one rank gets a signal before anything is done. */
static void begin_with_a_signal(ikt_context *ctx, const setting *s, const ikt_list_hooks *hooks,
                                ikt_neighbours *lists, ikt_list_course *course) {
    assert_int_equal(ikt_neighbours_create(ctx, &s->distribution, K, lists), IKT_OK);
    assert_int_equal(ikt_list_course_begin(ctx, hooks, lists, course), IKT_OK);
    ikt_watch_signals();
    ikt_watch_begin(ctx, INFINITY, INFINITY);
    if (ikt_rank(ctx) == ikt_size(ctx) - 1) raise(SIGTERM);
}

/* Before a pass has found anything, a signal ends it where rows find their cells, and nothing is
 * saved; the end of the time does not, as runs would never come to theirs. */
static void signals_are_heard_before_there_is_anything(void **state) {
    ikt_context *ctx = *state;
    setting s;
    ikt_neighbours lists;
    ikt_list_course course;
    ikt_tiles tiles = {0};
    prepare(ctx, SPREAD, N, false, &s);
    const ikt_pass_rows rows = {s.data, &s.distribution, 7, NULL};
    kept_lists kept = {.ctx = ctx};
    const ikt_list_hooks hooks = {&kept, "memory", load_lists, save_lists};
    begin_with_a_signal(ctx, &s, &hooks, &lists, &course);
    assert_int_equal(ikt_pass_search(ctx, &rows, &s.order, CANDIDATES, &tiles, &course),
                     IKT_STOPPED);
    assert_non_null(strstr(ikt_message(ctx), "before this start had made anything"));
    assert_int_equal(kept.saves, 0);
    ikt_clear(ctx);
    ikt_watch_signals(); /* another run */
    ikt_watch_begin(ctx, 0, INFINITY);
    assert_int_equal(ikt_pass_search(ctx, &rows, &s.order, CANDIDATES, &tiles, &course),
                     IKT_STOPPED);
    assert_non_null(strstr(ikt_message(ctx), "memory holds all that is done"));
    assert_int_equal(kept.saves, 1);
    ikt_clear(ctx);
    ikt_watch_end(ctx);
    ikt_watch_signals_end();
    ikt_tiles_destroy(&tiles);
    ikt_list_course_end(&course);
    ikt_neighbours_destroy(&lists);
    free_lists(&kept);
    clear(&s);
}

/* --- requests --------------------------------------------------------------------------------- */

static ikt_status count_save(void *self) {
    ++*(int *)self;
    return IKT_OK;
}

static ikt_status fail_to_save(void *self) {
    return ikt_fail(self, IKT_ERR_FILE, "the disk is full");
}

static void time_asks_on_all_ranks_alike(void **state) {
    ikt_context *ctx = *state;
    int saves = 0;
    const ikt_saver saver = {&saves, count_save, "memory", 0};
    assert_int_equal(ikt_watch_poll(ctx), IKT_REQUEST_NONE); /* nobody watches */
    ikt_watch_begin(ctx, INFINITY, INFINITY);
    assert_int_equal(ikt_watch_poll(ctx), IKT_REQUEST_NONE);
    ikt_watch_begin(ctx, INFINITY, 0);
    assert_int_equal(ikt_watch_poll(ctx), IKT_REQUEST_SAVE);
    assert_int_equal(ikt_watch_handle(ctx, ikt_watch_poll(ctx), &saver), IKT_OK);
    assert_int_equal(saves, 1);
    ikt_watch_begin(ctx, 3600, INFINITY);
    assert_int_equal(ikt_watch_handle(ctx, ikt_watch_poll(ctx), &saver), IKT_OK);
    assert_int_equal(saves, 1);
    ikt_watch_expect(ctx, 1200); /* three times that do not fit any more */
    assert_int_equal(ikt_watch_handle(ctx, ikt_watch_poll(ctx), &saver), IKT_STOPPED);
    assert_int_equal(saves, 2);
    assert_non_null(strstr(ikt_message(ctx), "the end of its time"));
    ikt_clear(ctx);
    ikt_watch_end(ctx);
}

static void a_checkpoint_that_fails_is_a_warning_and_in_the_end_an_error(void **state) {
    ikt_context *ctx = *state;
    const ikt_saver saver = {ctx, fail_to_save, "memory", 0};
    ikt_context_set_log(ctx, IKT_LOG_ERROR);
    ikt_watch_begin(ctx, INFINITY, 0);
    assert_int_equal(ikt_watch_handle(ctx, ikt_watch_poll(ctx), &saver), IKT_OK);
    assert_string_equal(ikt_message(ctx), "");
    ikt_watch_begin(ctx, 0, INFINITY);
    assert_int_equal(ikt_watch_handle(ctx, ikt_watch_poll(ctx), &saver), IKT_ERR_FILE);
    ikt_clear(ctx);
    ikt_watch_end(ctx);
    ikt_context_set_log(ctx, IKT_LOG_WARN);
}

/* The last rank alone gets the signals. The one that stops comes last: it is never forgotten. */
static void a_signal_to_one_rank_reaches_all(void **state) {
    ikt_context *ctx = *state;
    int saves = 0;
    const ikt_saver saver = {&saves, count_save, "memory", 0};
    const bool is_last = ikt_rank(ctx) == ikt_size(ctx) - 1;
    ikt_watch_signals();
    ikt_watch_begin(ctx, INFINITY, INFINITY);
    assert_int_equal(ikt_watch_handle(ctx, ikt_watch_poll(ctx), &saver), IKT_OK);
    if (is_last) raise(SIGUSR1);
    assert_int_equal(ikt_watch_handle(ctx, ikt_watch_poll(ctx), &saver), IKT_OK);
    assert_int_equal(saves, 1);
    assert_int_equal(ikt_watch_handle(ctx, ikt_watch_poll(ctx), &saver),
                     IKT_OK); /* once is enough */
    assert_int_equal(saves, 1);
    if (is_last) {
        raise(SIGTERM);
        raise(SIGTERM); /* as launchers do: the same one */
    }
    assert_int_equal(ikt_watch_handle(ctx, ikt_watch_poll(ctx), &saver), IKT_STOPPED);
    assert_int_equal(saves, 2);
    assert_non_null(strstr(ikt_message(ctx), is_last || ikt_size(ctx) > 1 ? "" : "SIGTERM"));
    ikt_clear(ctx);
    ikt_watch_end(ctx);
}

/* Nor does a search of all pairs wait for the end of a piece that takes long. */
static void a_signal_ends_a_piece_of_all_pairs(void **state) {
    ikt_context *ctx = *state;
    setting s;
    ikt_neighbours lists;
    ikt_list_course course;
    prepare(ctx, SPREAD, 2 * IKT_EXACT_BLOCK_ROWS * ikt_size(ctx), true, &s);
    const ikt_scorer scorer = ikt_scorer_codes(&s.codes, &s.distribution);
    kept_lists kept = {.ctx = ctx};
    const ikt_list_hooks hooks = {&kept, "memory", load_lists, save_lists};
    begin_with_a_signal(ctx, &s, &hooks, &lists, &course);
    assert_int_equal(ikt_neighbours_exact(ctx, &scorer, &course), IKT_STOPPED);
    assert_int_equal(kept.saves, 0);
    ikt_clear(ctx);
    ikt_watch_end(ctx);
    ikt_watch_signals_end();
    ikt_list_course_end(&course);
    ikt_neighbours_destroy(&lists);
    clear(&s);
}

static void *get_signals(void *unused) {
    raise(SIGUSR1);
    raise(SIGTERM);
    return unused;
}

/* The system gives a signal to any thread of the process; the thread sanitizer sees how it is
 * looked at by another one. */
static void a_signal_to_any_thread_is_heard(void **state) {
    ikt_context *ctx = *state;
    int saves = 0;
    const ikt_saver saver = {&saves, count_save, "memory", 0};
    ikt_status st;
    pthread_t other;
    ikt_watch_signals();
    ikt_watch_begin(ctx, INFINITY, INFINITY);
    ikt_barrier(ctx);
    assert_int_equal(pthread_create(&other, NULL, get_signals, NULL), 0);
    do
        st = ikt_watch_handle(ctx, ikt_watch_poll(ctx), &saver);
    while (st == IKT_OK);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(st, IKT_STOPPED);
    ikt_watch_signals_end();
    assert_in_range(saves, 1, 1 + ikt_size(ctx)); /* ranks may ask one after the other */
    ikt_clear(ctx);
    ikt_watch_end(ctx);
}

IKT_MPI_TESTS(ikt_test(codes_that_are_stopped_go_on), ikt_test(lists_that_are_stopped_go_on),
              ikt_test(lists_that_are_saved_stay_the_same),
              ikt_test(signals_are_heard_before_there_is_anything),
              ikt_test(time_asks_on_all_ranks_alike),
              ikt_test(a_checkpoint_that_fails_is_a_warning_and_in_the_end_an_error),
              ikt_test(a_signal_to_one_rank_reaches_all),
              ikt_test(a_signal_ends_a_piece_of_all_pairs),
              ikt_test(a_signal_to_any_thread_is_heard))
