#define _POSIX_C_SOURCE 200112L
/* An allocation that fails on one rank, each of them in turn: all ranks return, with one reason and
 * without memory that is still held. The program and its tests allocate by aligned_alloc, which is
 * this file's own; libraries do not. */
#include "dist/halo.h"
#include "support/fisher_run.h"

enum { FEW = 70 }; /* rows */

static int64_t allocations, failing; /* counted from 1; 0: none fails */

void *aligned_alloc(size_t alignment, size_t size) {
    void *found = NULL;
    allocations++;
    if (failing > 0 && allocations >= failing) return NULL;
    return posix_memalign(&found, alignment, size) == 0 ? found : NULL;
}

/* COLLECTIVE. Leaves nothing behind, whatever it returns. */
typedef ikt_status attempt(ikt_context *ctx, void *about);

/* Lets each allocation of a rank fail, and those that follow it; returns how many there are. */
static int64_t fail_each(ikt_context *ctx, int rank, attempt *try, void *about) {
    const int64_t held = ikt_memory_now(ctx);
    for (int64_t at = 1;; at++) {
        allocations = 0;
        failing = ikt_rank(ctx) == rank ? at : 0;
        const ikt_status st = try(ctx, about);
        failing = 0;
        /* All ranks look at what any of them found, so that they end together. */
        const int64_t left = ikt_max_one(ctx, ikt_memory_now(ctx) - held);
        if (left != 0)
            fail_msg("allocation %lld: %lld bytes are still held: %s", (long long)at,
                     (long long)left, ikt_message(ctx));
        const int64_t code = st, most = ikt_max_one(ctx, code), least = -ikt_max_one(ctx, -code);
        if (most != least)
            fail_msg("allocation %lld: some ranks fail and others do not", (long long)at);
        if (st == IKT_OK) return at - 1;
        refuse(ctx, st, IKT_ERR_RESOURCE, "out of memory");
    }
}

/* --- the Fisher metric ------------------------------------------------------------------------ */

static ikt_status search(ikt_context *ctx, void *about) {
    made *m = about;
    const ikt_status st = run(ctx, m, K, USUAL);
    ikt_class_outcome_destroy(&m->outcome);
    ikt_neighbours_destroy(&m->lists);
    memset(&m->outcome, 0, sizeof m->outcome);
    memset(&m->lists, 0, sizeof m->lists);
    return st;
}

static void searches_by_labels_end_on_all_ranks(void **state) {
    ikt_context *ctx = *state;
    static const char *const text[] = {
        "fisher.support=30 kernel.kind=isolation isolation.psi=8",
        "fisher.support=30 fisher.candidates=near fisher.among=30",
        "fisher.candidates=posterior fisher.among=30 fisher.euclidean=0.3 fisher.permute=yes"};
    for (size_t t = 0; t < sizeof text / sizeof *text; t++) {
        made m;
        begin(ctx, FEW, MIXED, text[t], &m);
        const int rank = t % 2 == 0 ? ikt_size(ctx) - 1 : 0;
        assert_true(fail_each(ctx, rank, search, &m) > (ikt_rank(ctx) == rank ? 40 : 0));
        unmake(&m);
    }
}

/* --- the exchange of boundaries --------------------------------------------------------------- */

static ikt_status plan_exchange(ikt_context *ctx, void *about) {
    const ikt_rows rows = ikt_rows_make(40, ikt_size(ctx), ikt_rank(ctx));
    int64_t ghost[40], count = 0;
    ikt_halo *halo = NULL;
    (void)about;
    for (int64_t row = 0; row < 40; row++)
        if (row < rows.first || row >= rows.first + rows.count) ghost[count++] = row;
    const ikt_status st = ikt_halo_create(ctx, &rows, ghost, count, 2, &halo);
    ikt_halo_destroy(&halo);
    return st;
}

static void exchanges_that_are_not_made_can_be_destroyed(void **state) {
    ikt_context *ctx = *state;
    for (int rank = 0; rank < ikt_size(ctx); rank++)
        assert_true(fail_each(ctx, rank, plan_exchange, NULL) > 3);
}

IKT_MPI_TESTS(ikt_test(searches_by_labels_end_on_all_ranks),
              ikt_test(exchanges_that_are_not_made_can_be_destroyed))
