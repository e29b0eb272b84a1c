/* How threads wait: the decision on made-up clocks, and what waiting costs in processor time. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <time.h>

#include "base/context.h"
#include "base/waiting.h"
#include "support/ikt_test.h"

/* Two threads that get `got` of two cores wherever they keep them: the share of time in which they
 * do, of ten minutes that are looked at every millisecond. */
static double share_spinning(double got) {
    ikt_waiting w = {.pause = .05};
    double used = 0, spinning = 0;
    for (int ms = 1; ms <= 600000; ms++) {
        used += (w.spins ? got : .8 * got) / 1000;
        spinning += w.spins;
        if (ikt_waiting_is_due(&w, ms / 1000.)) ikt_waiting_decide(&w, 2, ms / 1000., used);
    }
    return spinning / 600000;
}

static void test_decision(void **state) {
    (void)state;
    assert_true(share_spinning(2) > .999);
    assert_true(share_spinning(1.9) > .999);
    assert_true(share_spinning(1.5) < .02);
    assert_true(share_spinning(.7) < .02);
}

/* A machine that is shared for a minute, and then not. */
static void test_return(void **state) {
    (void)state;
    ikt_waiting w = {.pause = .05};
    double used = 0, back = 0;
    for (int ms = 1; ms <= 70000 && back == 0; ms++) {
        used += (ms <= 60000 ? 1.2 : 2) / 1000;
        if (ikt_waiting_is_due(&w, ms / 1000.)) ikt_waiting_decide(&w, 2, ms / 1000., used);
        if (ms > 60100 && w.spins) back = ms / 1000. - 60;
    }
    assert_true(back > 0 && back < 4.2);
}

static double now_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor time of 20 regions of two threads, in seconds: of regions in which both are busy for
 * five milliseconds, or of short ones with pauses of as long between. */
static double time_of_regions(bool is_busy) {
    const struct timespec pause = {0, 5000000};
    int threads = 0;
    const double from = now_of(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < 20; i++) {
        const double end = now_of(CLOCK_MONOTONIC) + .005;
#pragma omp parallel num_threads(2) reduction(+ : threads)
        {
            threads++;
            while (is_busy && now_of(CLOCK_MONOTONIC) < end) { /* keeps its core */
            }
        }
        if (!is_busy) nanosleep(&pause, NULL);
    }
    assert_int_equal(threads, 40);
    return now_of(CLOCK_PROCESS_CPUTIME_ID) - from;
}

/* Whether threads that wait spin, or sleep. What spinning threads get is up to all that the machine
 * does, so that it is compared with what busy ones get right before and after; what sleeping ones
 * take is next to nothing on any machine. The load may change between, and then it is tried again.
 * Where busy threads get next to nothing too, nothing can be told, and the test is skipped. */
static void check_waiting(bool spins) {
    bool is_told = false;
    time_of_regions(false); /* threads that are added are there */
    for (int attempt = 0; attempt < 10; attempt++) {
        const double before = time_of_regions(true), waiting = time_of_regions(false);
        const double busy = fmin(before, time_of_regions(true));
        if (busy < .05) continue;
        if ((waiting > .1 * busy) == spins) return;
        is_told = true;
    }
    if (!is_told) skip();
    fail_msg("threads do not %s while they wait", spins ? "spin" : "sleep");
}

static void test_threads_sleep(void **state) {
    (void)state;
    ikt_context *ctx;
    if (omp_get_num_procs() < 2) skip(); /* where OpenMP's threads sleep anyway */
    assert_int_equal(ikt_context_create_alone(2, &ctx), IKT_OK);
    check_waiting(true);
    ikt_context *inside = ctx;
    ikt_waiting_begin(inside);
    ikt_waiting_begin(inside);
    check_waiting(false);
    ikt_waiting_end(&inside);
    check_waiting(false);
    ikt_waiting_end(&inside);
    check_waiting(true);

    /* What the user has chosen is left alone. */
    setenv("GOMP_SPINCOUNT", "300000", 1);
    ikt_waiting_begin(inside);
    check_waiting(true);
    ikt_waiting_end(&inside);
    ikt_context_destroy(&ctx);
}

int main(void) {
    const char *const policy[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
    for (int i = 0; i < 3; i++)
        if (getenv(policy[i])) return 77; /* OpenMP has read it */
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_decision),
                                       cmocka_unit_test(test_return),
                                       cmocka_unit_test(test_threads_sleep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
