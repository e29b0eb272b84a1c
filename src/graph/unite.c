/* Both directions of every pair as one number. See graph.h.
 *
 * Method: all entries travel, transposed, to the owners of their columns. First round: an entry
 * that has a mirror image takes the smaller or larger of both numbers, whichever came first; those
 * without one are counted. Second round: these are put into rows of their own, which are sorted and
 * merged into the others from the last row on. Advantage: the smaller or larger of numbers does not
 * depend on an order, so that batches, ranks and threads change nothing. Disadvantage: every entry
 * that leads to another rank travels twice. */
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "graph/mirror.h"
#include "graph/transpose.h"

static const char purpose[] = "symmetrise";

typedef struct {
    ikt_context *ctx;
    const ikt_rows *distribution;
    ikt_directed *rows;
    bool takes_larger;
    ikt_directed added; /* entries without a mirror image, at its place */
    int64_t *next;      /* [n_local] where the next one of each row belongs */
} uniting;

/* Where an own row (local number) has a column; -1 where it has not. */
static int64_t find(const uniting *u, int64_t row, uint32_t column) {
    const int64_t begin = u->rows->start[row];
    const int64_t found =
        ikt_find_u32(u->rows->column + begin, u->rows->start[row + 1] - begin, column);
    return found < 0 ? -1 : begin + found;
}

static float better(const void *self, float a, float b) {
    const uniting *u = self;
    return (a > b) == u->takes_larger ? a : b;
}

static void meet(void *self, const ikt_transposed_entry *from) {
    const uniting *u = self;
    const int64_t at = find(u, from->row, from->column);
    if (at < 0)
        u->added.start[from->row + 1]++;
    else
        u->rows->value[at] = better(u, u->rows->value[at], from->value);
}

static void add(void *self, const ikt_transposed_entry *from) {
    const uniting *u = self;
    if (find(u, from->row, from->column) >= 0) return;
    const int64_t at = u->next[from->row]++;
    u->added.column[at] = from->column;
    u->added.value[at] = from->value;
}

/* LOCAL. From the last row on, as rows only move towards the end. */
static ikt_status merge(const uniting *u) {
    ikt_directed *rows = u->rows;
    const ikt_directed *added = &u->added;
    const int64_t count = rows->n_local, entries = rows->start[count] + added->start[count];
    IKT_TRY(ikt_resize(u->ctx, &rows->column, entries, sizeof *rows->column, "graph"));
    IKT_TRY(ikt_resize(u->ctx, &rows->value, entries, sizeof *rows->value, "graph"));
    for (int64_t i = count - 1, to = entries - 1; i >= 0; i--) {
        int64_t own = rows->start[i + 1] - 1, other = added->start[i + 1] - 1;
        rows->start[i + 1] = to + 1;
        while (own >= rows->start[i] || other >= added->start[i]) {
            const bool is_own = other < added->start[i] ||
                                (own >= rows->start[i] && rows->column[own] > added->column[other]);
            rows->column[to] = is_own ? rows->column[own] : added->column[other];
            rows->value[to--] = is_own ? rows->value[own--] : added->value[other--];
        }
    }
    return IKT_OK;
}

/* COLLECTIVE. Both rounds. */
static ikt_status unite(uniting *u, ikt_transpose *transpose) {
    ikt_context *ctx = u->ctx;
    ikt_directed *added = &u->added;
    const int64_t count = u->rows->n_local;
    ikt_status st = ikt_alloc(ctx, &added->start, count + 1, sizeof *added->start, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &u->next, count, sizeof *u->next, purpose);
    if (st == IKT_OK) st = ikt_transpose_begin(ctx, u->distribution, u->rows, transpose);
    if (st == IKT_OK) st = ikt_directed_sort(ctx, u->rows);
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_transpose_run(transpose, false, meet, u));
    st = ikt_mirror_join(ctx, u->distribution, u->rows, better, u, added, u->next);
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_transpose_run(transpose, false, add, u));
    ikt_transpose_end(transpose);
    if (ikt_size(ctx) > 1) st = ikt_directed_sort(ctx, added);
    if (st == IKT_OK) st = merge(u);
    return ikt_agree(ctx, st);
}

ikt_status ikt_directed_unite(ikt_context *ctx, const ikt_rows *distribution, bool takes_larger,
                              ikt_directed *rows) {
    ikt_transpose transpose = {.ctx = ctx};
    uniting u = {.ctx = ctx,
                 .distribution = distribution,
                 .rows = rows,
                 .takes_larger = takes_larger,
                 .added = {.n_local = rows->n_local}};
    const ikt_status st = unite(&u, &transpose);
    ikt_transpose_end(&transpose);
    ikt_directed_destroy(&u.added);
    ikt_free(&u.next);
    if (st != IKT_OK) ikt_directed_destroy(rows);
    return st;
}
