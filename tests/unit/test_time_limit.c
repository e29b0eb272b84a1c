/* Times as Slurm writes them, and the first difference of two sets of settings. */
#define _GNU_SOURCE
#include "support/ikt_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/time_limit.h"
#include "checkpoint/checkpoint.h"
#include "settings/checks.h"

static void times_are_those_of_slurm(void **state) {
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {{"0", 0},         {"90", 5400},       {"1:30", 90},          {"2:03:04", 7384},
                 {"1-0", 86400},   {"1-2", 93600},     {"1-2:03", 93780},     {"1-2:03:04", 93784},
                 {"00:00:10", 10}, {"1000:00", 60000}, {"7-00:00:00", 604800}};
    static const char *const wrong[] = {"",     "x",     "-1",        "1:",     ":1",   "1:2:3:4",
                                        "1-",   "1-2-3", "1.5",       "1 ",     " 1",   "1e3",
                                        "-1:2", "1:-2",  "1-2:3:4:5", "10 min", "0x10", "+5"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double seconds = -1;
        assert_true(ikt_time_parse(cases[i].text, &seconds));
        assert_true(seconds == cases[i].seconds);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double seconds;
        assert_false(ikt_time_parse(wrong[i], &seconds));
    }
}

static ikt_status limit_of(ikt_context *ctx, const char *text, double *seconds) {
    ikt_run_settings run = {.checkpoint = "auto"};
    bool is_watched;
    snprintf(run.max_time, sizeof run.max_time, "%s", text);
    IKT_TRY(ikt_check_time(ctx, &run));
    return ikt_check_limits(ctx, &run, false, &is_watched, seconds);
}

static void the_end_of_a_job_is_the_limit(void **state) {
    ikt_context *ctx = *state;
    double seconds;
    char end[32];
    unsetenv("SLURM_JOB_ID");
    assert_int_equal(limit_of(ctx, "auto", &seconds), IKT_OK);
    assert_true(isinf(seconds));
    snprintf(end, sizeof end, "%lld", (long long)time(NULL) + 500);
    setenv("SLURM_JOB_ID", "12", 1);
    setenv("SLURM_JOB_END_TIME", end, 1);
    assert_int_equal(limit_of(ctx, "auto", &seconds), IKT_OK);
    assert_true(seconds > 480 && seconds <= 500);
    assert_int_equal(limit_of(ctx, "none", &seconds), IKT_OK);
    assert_true(isinf(seconds));
    assert_int_equal(limit_of(ctx, "2:00", &seconds), IKT_OK);
    assert_true(seconds == 120);
    assert_int_equal(limit_of(ctx, "later", &seconds), IKT_ERR_USAGE);
    ikt_clear(ctx);
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_JOB_END_TIME");
}

static void the_first_difference_is_named(void **state) {
    static const char there[] = "a:\n  x: 1\n  y: \"\"\nb:\n  x: 2\n";
    char text[128];
    (void)state;
    ikt_fingerprint_difference(there, "a:\n  x: 1\n  y: \"\"\nb:\n  x: 30\n", text, sizeof text);
    assert_string_equal(text, "b.x is 2 there and 30 here");
    ikt_fingerprint_difference(there, "a:\n  x: 1\n  y: \"no\"\nb:\n  x: 3\n", text, sizeof text);
    assert_string_equal(text, "a.y is \"\" there and \"no\" here");
    ikt_fingerprint_difference(there, "a:\n  x: 1\n", text, sizeof text);
    assert_string_equal(text, "settings differ");
}

IKT_MPI_TESTS(ikt_test(times_are_those_of_slurm), ikt_test(the_end_of_a_job_is_the_limit),
              ikt_test(the_first_difference_is_named))
