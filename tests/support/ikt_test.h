/* What the tests share: the main function of an MPI test, and a context.
 *
 *   static void sums_are_exact(void **state) { ikt_context *ctx = *state; ... }
 *   IKT_MPI_TESTS(ikt_test(sums_are_exact), ikt_test(...))
 *
 * Each test gets the context of MPI_COMM_WORLD in *state. A test that fails on any rank fails the
 * program on all of them. ikt_test_alone() gives a context of this rank alone, in which the
 * one-rank result can be computed to compare with.
 */
#ifndef IKT_TEST_H
#define IKT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <mpi.h>

#include "iktsne/context.h"

static inline ikt_context *ikt_test_alone(void) {
    ikt_context *ctx = NULL;
    assert_int_equal(ikt_context_create(MPI_COMM_SELF, 1, &ctx), IKT_OK);
    return ctx;
}

static inline int ikt_test_setup(void **state) {
    ikt_context *ctx = NULL;
    if (ikt_context_create(MPI_COMM_WORLD, 0, &ctx) != IKT_OK) return -1;
    ikt_context_set_log(ctx, IKT_LOG_ERROR);
    *state = ctx;
    return 0;
}

static inline int ikt_test_teardown(void **state) {
    ikt_context *ctx = *state;
    ikt_context_destroy(&ctx);
    return 0;
}

static inline int ikt_test_run(int argc, char **argv, const struct CMUnitTest *tests,
                               size_t count) {
    MPI_Init(&argc, &argv);
    int rank, failed, worst;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* One report is enough; a rank that fails alone still prints its failure on stderr. */
    cmocka_set_message_output(CM_OUTPUT_STDOUT);
    failed = _cmocka_run_group_tests(rank == 0 ? "tests" : "tests on another rank", tests, count,
                                     NULL, NULL);
    MPI_Allreduce(&failed, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return worst;
}

#define ikt_test(function)                                                                         \
    cmocka_unit_test_setup_teardown(function, ikt_test_setup, ikt_test_teardown)

#define IKT_MPI_TESTS(...)                                                                         \
    int main(int argc, char **argv) {                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        return ikt_test_run(argc, argv, tests, sizeof tests / sizeof *tests);                      \
    }

#endif
