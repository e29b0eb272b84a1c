/* The log: warnings of single ranks are printed once, by rank 0, at the next agreement; lines are
 * JSON where that is wanted; progress has its numbers; and off a terminal nothing is drawn. */
#define _POSIX_C_SOURCE 200809L
#include "support/ikt_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "base/log.h"
#include "base/status.h"
#include "base/timer.h"

enum { ROOM = 16384 };

/* Standard error of this rank while it is caught. */
typedef struct {
    FILE *file;
    int screen;
    char text[ROOM];
} caught;

static void catch_begin(caught *c) {
    fflush(stderr);
    c->file = tmpfile();
    assert_non_null(c->file);
    c->screen = dup(STDERR_FILENO);
    assert_true(c->screen >= 0 && dup2(fileno(c->file), STDERR_FILENO) >= 0);
}

static const char *catch_end(caught *c) {
    fflush(stderr);
    assert_true(dup2(c->screen, STDERR_FILENO) >= 0);
    close(c->screen);
    rewind(c->file);
    c->text[fread(c->text, 1, ROOM - 1, c->file)] = '\0';
    fclose(c->file);
    return c->text;
}

/* What rank 0 should have printed; the others nothing. */
static void expect_text(const ikt_context *ctx, const char *text, const char *expected) {
    assert_string_equal(text, ikt_rank(ctx) == 0 ? expected : "");
}

/* " (on ranks 1 to 3)" where there are several ranks. */
static void describe(int size, int count, int first, int last, char text[64]) {
    text[0] = '\0';
    if (size == 1) return;
    if (count == size)
        snprintf(text, 64, " (on all %d ranks)", size);
    else if (count == 1)
        snprintf(text, 64, " (on rank %d)", first);
    else if (count == last - first + 1)
        snprintf(text, 64, " (on ranks %d to %d)", first, last);
    else
        snprintf(text, 64, " (on %d of %d ranks, from %d to %d)", count, size, first, last);
}

static void warnings_are_printed_once_with_their_ranks(void **state) {
    ikt_context *ctx = *state;
    const int size = ikt_size(ctx), rank = ikt_rank(ctx), last = size - 1;
    caught c;
    char expected[ROOM], all[64], ends[64], most[64], slow[64];
    ikt_context_set_log(ctx, IKT_LOG_WARN);
    catch_begin(&c);
    ikt_warn(ctx, "all are %s", "old");
    if (rank == 0 || rank == last) ikt_warn(ctx, "at the ends");
    if (rank > 0 || size == 1) ikt_warn(ctx, "full");
    if (rank == last) ikt_warn(ctx, "the last is slow");
    assert_int_equal(ikt_agree(ctx, IKT_OK), IKT_OK);
    const char *text = catch_end(&c);
    describe(size, size, 0, last, all);
    describe(size, size == 1 ? 1 : 2, 0, last, ends);
    describe(size, last, 1, last, most);
    describe(size, 1, last, last, slow);
    snprintf(expected, ROOM,
             "iktsne: warning: all are old%s\niktsne: warning: at the ends%s\n"
             "iktsne: warning: full%s\niktsne: warning: the last is slow%s\n",
             all, ends, most, slow);
    expect_text(ctx, text, expected);
}

static void a_warning_comes_once_for_all_times(void **state) {
    ikt_context *ctx = *state;
    caught c;
    ikt_context_set_log(ctx, IKT_LOG_WARN);
    catch_begin(&c);
    for (int time = 0; time < 3; time++) {
        ikt_warn(ctx, "again");
        assert_int_equal(ikt_agree(ctx, IKT_OK), IKT_OK);
    }
    const char *text = catch_end(&c);
    if (ikt_rank(ctx) != 0) return;
    assert_non_null(strstr(text, "again"));
    assert_null(strstr(strstr(text, "again") + 1, "again"));
}

/* More of them than are kept: the last one says that there were more. */
static void none_is_lost_without_a_word(void **state) {
    ikt_context *ctx = *state;
    const int last = ikt_size(ctx) - 1;
    caught c;
    char rank[64] = "";
    ikt_context_set_log(ctx, IKT_LOG_WARN);
    catch_begin(&c);
    for (int i = 0; i < 40 && ikt_rank(ctx) == last; i++)
        ikt_warn(ctx, "number %d", i);
    if (ikt_rank(ctx) == last) ikt_fail(ctx, IKT_ERR_DATA, "bad");
    assert_int_equal(ikt_agree(ctx, ikt_rank(ctx) == last ? IKT_ERR_DATA : IKT_OK), IKT_ERR_DATA);
    const char *text = catch_end(&c);
    if (ikt_rank(ctx) != 0) return;
    if (last > 0) snprintf(rank, sizeof rank, " (on rank %d)", last);
    char first[128], more[128];
    snprintf(first, sizeof first, "iktsne: warning: number 0%s\n", rank);
    snprintf(more, sizeof more,
             "iktsne: warning: there were more warnings, which are not shown%s\n", rank);
    assert_non_null(strstr(text, first));
    assert_non_null(strstr(text, more));
}

static void a_group_without_agreement_still_speaks(void **state) {
    ikt_context *ctx = *state, *group = NULL;
    caught c;
    assert_int_equal(ikt_context_split(ctx, ikt_rank(ctx), &group), IKT_OK);
    ikt_context_set_log(group, IKT_LOG_WARN);
    ikt_warn(group, "alone");
    catch_begin(&c);
    ikt_context_destroy(&group);
    assert_string_equal(catch_end(&c), "iktsne: warning: alone\n");
}

/* The part of a JSON line that is no time. */
static const char *after_time(const char *line) {
    const char *at = strstr(line, "\"level\"");
    assert_non_null(at);
    return at;
}

static void lines_are_json_with_numbers(void **state) {
    ikt_context *ctx = *state;
    caught c;
    ikt_context_set_log(ctx, IKT_LOG_STAGE);
    ikt_context_set_log_format(ctx, IKT_LOG_JSON);
    catch_begin(&c);
    ikt_stage_begin(ctx, IKT_STAGE_GRAPH);
    ikt_log_numbers(ctx, IKT_LOG_STAGE,
                    (ikt_log_number[]){IKT_LOG_INT("rows", 12),
                                       IKT_LOG_REAL("share", 0.25),
                                       IKT_LOG_REAL("none", 0.0 / (ikt_size(ctx) - ikt_size(ctx))),
                                       {0}},
                    "a \"name\"\nwith \x01 and \xff");
    const char *text = catch_end(&c);
    if (ikt_rank(ctx) != 0) {
        assert_string_equal(text, "");
        return;
    }
    int year, month, day, hour, minute, second, thousandth;
    assert_int_equal(sscanf(text, "{\"time\": \"%4d-%2d-%2dT%2d:%2d:%2d.%3dZ\", ", &year, &month,
                            &day, &hour, &minute, &second, &thousandth),
                     7);
    assert_string_equal(after_time(text),
                        "\"level\": \"stage\", \"stage\": \"graph\", \"message\": \"a \\\"name\\\""
                        "\\u000awith \\u0001 and \\ufffd\", \"rows\": 12, \"share\": 0.25, "
                        "\"none\": null}\n");
}

static void the_end_of_a_stage_is_a_line(void **state) {
    ikt_context *ctx = *state;
    caught c;
    ikt_context_set_log(ctx, IKT_LOG_STAGE);
    catch_begin(&c);
    for (int time = 0; time < 2; time++) { /* the second is a detail */
        ikt_stage_begin(ctx, IKT_STAGE_TOTAL);
        ikt_stage_begin(ctx, IKT_STAGE_CODES);
        ctx->stage_begun[IKT_STAGE_CODES] -= 2;
        ikt_stage_end(ctx, IKT_STAGE_CODES);
        ikt_stage_begin(ctx, IKT_STAGE_GRAPH); /* too short for a line */
        ikt_stage_end(ctx, IKT_STAGE_GRAPH);
        ikt_stage_begin(ctx, IKT_STAGE_LANDMARKS);
        ikt_log(ctx, IKT_LOG_STAGE, "a detail of theirs");
        ctx->stage_begun[IKT_STAGE_LANDMARKS] -= 3;
        ikt_stage_end(ctx, IKT_STAGE_LANDMARKS);
        ikt_stage_end(ctx, IKT_STAGE_TOTAL);
    }
    expect_text(ctx, catch_end(&c), "iktsne: codes: 2.0 s\niktsne: landmarks: 3.0 s\n");
}

/* Half of 200 rows in ten seconds. */
static const char *make_progress(ikt_context *ctx, ikt_log_format format, caught *c) {
    ikt_context_set_log(ctx, IKT_LOG_STAGE);
    ikt_context_set_log_format(ctx, format);
    ctx->terminal = false;
    catch_begin(c);
    ikt_progress(ctx, "rows", 0, 200, NULL);
    ctx->progress_start -= 10;
    ctx->progress_last -= 10;
    ikt_progress(ctx, "rows", 100, 200, "KL 2.5");
    ikt_progress(ctx, "rows", 101, 200, NULL); /* too soon */
    ikt_progress(ctx, "rows", 200, 200, NULL); /* the stage's own line follows */
    return catch_end(c);
}

static void progress_is_a_line_with_rate_and_time_left(void **state) {
    ikt_context *ctx = *state;
    caught c;
    expect_text(ctx, make_progress(ctx, IKT_LOG_TEXT, &c),
                "iktsne:   100 of 200 rows (50 %), 10 rows/s, 10 s left, KL 2.5\n");
    const char *text = make_progress(ctx, IKT_LOG_JSON, &c);
    if (ikt_rank(ctx) != 0) return;
    const char *numbers = strstr(after_time(text), "\"done\"");
    double rate, left;
    assert_int_equal(sscanf(numbers,
                            "\"done\": 100, \"total\": 200, \"rate\": %lf, \"seconds_left\": %lf}",
                            &rate, &left),
                     2);
    assert_true(rate > 9.5 && rate <= 10 && left >= 10 && left < 10.5);
}

static void quiet_is_quiet(void **state) {
    ikt_context *ctx = *state;
    caught c;
    ikt_context_set_log(ctx, IKT_LOG_WARN);
    catch_begin(&c);
    ikt_log(ctx, IKT_LOG_STAGE, "a stage");
    ikt_log(ctx, IKT_LOG_DETAIL, "a detail");
    ikt_log(ctx, ikt_log_record(ctx), "a record");
    ikt_stage_begin(ctx, IKT_STAGE_CODES);
    ctx->stage_begun[IKT_STAGE_CODES] -= 2;
    ikt_stage_end(ctx, IKT_STAGE_CODES);
    ikt_log(ctx, IKT_LOG_WARN, "a warning\nof two lines");
    expect_text(ctx, catch_end(&c), "iktsne: warning: a warning?of two lines\n");
}

IKT_MPI_TESTS(ikt_test(warnings_are_printed_once_with_their_ranks),
              ikt_test(a_warning_comes_once_for_all_times), ikt_test(none_is_lost_without_a_word),
              ikt_test(a_group_without_agreement_still_speaks),
              ikt_test(lines_are_json_with_numbers), ikt_test(the_end_of_a_stage_is_a_line),
              ikt_test(progress_is_a_line_with_rate_and_time_left), ikt_test(quiet_is_quiet))
