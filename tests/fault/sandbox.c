/* The sandbox: only faults of the task itself tell something about what it looked at, and a program
 * of others, or a run over several nodes, is never forked. */
#define _DEFAULT_SOURCE
#include "base/sandbox.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "support/ikt_test.h"

static const ikt_sandbox_limits limits = {2, 3, (int64_t)1 << 30};

static bool accept(void *about, char *reason, size_t size) {
    (void)about, (void)reason, (void)size;
    return true;
}

static bool refuse(void *about, char *reason, size_t size) {
    (void)about;
    snprintf(reason, size, "because");
    return false;
}

static bool end_by(void *about, char *reason, size_t size) {
    (void)reason, (void)size;
    raise(*(const int *)about);
    return true;
}

static bool work_on(void *about, char *reason, size_t size) {
    (void)about, (void)reason, (void)size;
    for (volatile long i = 0; i >= 0; i = 1)
        continue;
    return true;
}

static bool sleep_on(void *about, char *reason, size_t size) {
    (void)about, (void)reason, (void)size;
    sleep(600);
    return true;
}

static ikt_sandbox_end try(ikt_context *ctx, bool (*task)(void *, char *, size_t), int by,
                           char reason[64]) {
    return ikt_sandbox(ctx, task, &by, &limits, reason, 64);
}

static void ends_of_a_task(void **state) {
    char reason[64];
    ikt_context *ctx = *state;
    ikt_sandbox_allow(ctx);
    assert_int_equal(try(ctx, accept, 0, reason), IKT_SANDBOX_PASSED);
    assert_int_equal(try(ctx, refuse, 0, reason), IKT_SANDBOX_REFUSED);
    assert_string_equal(reason, "because");
    assert_int_equal(try(ctx, end_by, SIGSEGV, reason), IKT_SANDBOX_DIED);
    assert_string_equal(reason, "crashes on");
    assert_int_equal(try(ctx, end_by, SIGTERM, reason), IKT_SANDBOX_NONE);
    assert_int_equal(try(ctx, end_by, SIGKILL, reason), IKT_SANDBOX_NONE);
    assert_int_equal(try(ctx, end_by, SIGINT, reason), IKT_SANDBOX_NONE);
    assert_int_equal(try(ctx, sleep_on, 0, reason), IKT_SANDBOX_LATE);
}

/* In a time of its own: the processor is shared with whatever else runs. */
static void endless_work(void **state) {
    char reason[64];
    int by = 0;
    const ikt_sandbox_limits patient = {1, 120, (int64_t)1 << 30};
    ikt_context *ctx = *state;
    ikt_sandbox_allow(ctx);
    assert_int_equal(ikt_sandbox(ctx, work_on, &by, &patient, reason, sizeof reason),
                     IKT_SANDBOX_DIED);
    assert_string_equal(reason, "does not come to an end with");
}

static void never_forked(void **state) {
    char reason[64];
    ikt_context *ctx = *state;
    ctx->may_fork = false; /* as it is made: a host's */
    assert_int_equal(try(ctx, accept, 0, reason), IKT_SANDBOX_NONE);
    ctx->size = 2 * ctx->node_ranks; /* over two nodes */
    ikt_sandbox_allow(ctx);
    assert_int_equal(try(ctx, accept, 0, reason), IKT_SANDBOX_NONE);
    ctx->size = ctx->node_ranks;
}

IKT_MPI_TESTS(ikt_test(ends_of_a_task), ikt_test(endless_work), ikt_test(never_forked))
