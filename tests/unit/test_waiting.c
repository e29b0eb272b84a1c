/* How threads wait: the decision on made-up clocks, and what waiting costs in processor time. */
#define _POSIX_C_SOURCE 200809L
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

/* Processor time of short regions of two threads with pauses between, in seconds. */
static double time_of_pauses(void) {
    const struct timespec pause = {0, 5000000};
    struct timespec from, to;
    int threads = 0;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int i = 0; i < 40; i++) {
#pragma omp parallel num_threads(2) reduction(+ : threads)
        threads++;
        nanosleep(&pause, NULL);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    assert_int_equal(threads, 80);
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

static void test_threads_sleep(void **state) {
    (void)state;
    ikt_context *ctx;
    if (omp_get_num_procs() < 2) skip(); /* where OpenMP's threads sleep anyway */
    assert_int_equal(ikt_context_create_alone(2, &ctx), IKT_OK);
    const double before = time_of_pauses();
    ikt_context *inside = ctx;
    ikt_waiting_begin(inside);
    ikt_waiting_begin(inside);
    (void)time_of_pauses(); /* those that are added are there */
    const double within = time_of_pauses();
    ikt_waiting_end(&inside);
    const double nested = time_of_pauses();
    ikt_waiting_end(&inside);
    const double after = time_of_pauses();
    assert_true(within < before / 3);
    assert_true(nested < before / 3);
    assert_true(after > 3 * within);

    /* What the user has chosen is left alone. */
    setenv("GOMP_SPINCOUNT", "300000", 1);
    ikt_waiting_begin(inside);
    (void)time_of_pauses();
    assert_true(time_of_pauses() > 3 * within);
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
