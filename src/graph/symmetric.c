/* Whether directed weights are symmetric.
 *
 * Method: every entry is looked up in the row that it leads to: there, where it arrives transposed,
 * or at once for two own rows. Each row keeps the lowest column at which something is wrong, so
 * that the pair that is named is the same on any ranks. */
#include <math.h>

#include "base/memory.h"
#include "base/sort.h"
#include "graph/transpose.h"

typedef struct {
    const ikt_rows *distribution;
    const ikt_directed *rows;
    double tolerance;
    uint32_t
        *wrong;   /* [distribution->count] lowest column of each row with another weight, or none */
    float *other; /* [distribution->count] that weight */
} search;

/* The weight of own row `row` for a column; 0 where there is none. */
static float weight_of(const ikt_directed *rows, int64_t row, uint32_t column) {
    const int64_t begin = rows->start[row];
    const int64_t found = ikt_find_u32(rows->column + begin, rows->start[row + 1] - begin, column);
    return found < 0 ? 0 : rows->value[begin + found];
}

/* An entry (column, row) that should be as entry (row, column) here. Where one of both is missing,
 * only the row that lacks it learns of it, whichever ranks they are on. */
static void compare(void *self, const ikt_transposed *from) {
    search *s = self;
    const double here = (double)weight_of(s->rows, from->row, from->column);
    const double there = (double)from->value;
    if (fabs(here - there) <= s->tolerance * fmax(here, there)) return;
#pragma omp critical(ikt_symmetric)
    if (from->column < s->wrong[from->row]) {
        s->wrong[from->row] = from->column;
        s->other[from->row] = from->value;
    }
}

/* Pairs of own rows do not travel. */
static void compare_own(ikt_context *ctx, search *s) {
    const ikt_directed *rows = s->rows;
    const int64_t first = s->distribution->first;
#pragma omp parallel for schedule(dynamic, 1024) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < s->distribution->count; i++)
        for (int64_t e = rows->start[i]; e < rows->start[i + 1]; e++) {
            if (!ikt_transpose_is_own(s->distribution, rows->column[e])) continue;
            compare(s, &(ikt_transposed){(uint32_t)(rows->column[e] - first), (uint32_t)(first + i),
                                         rows->value[e]});
        }
}

static ikt_status report(ikt_context *ctx, const search *s, double scale, const char *name) {
    for (int64_t i = 0; i < s->distribution->count; i++) {
        if (s->wrong[i] == UINT32_MAX) continue;
        const double here = scale * (double)weight_of(s->rows, i, s->wrong[i]);
        const long long row = s->distribution->first + i, column = s->wrong[i];
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s is not symmetric: row %lld, column %lld holds %.6g, and row %lld, "
                        "column %lld holds %.6g (they may differ by %g of the larger); take "
                        "graph.values=similarities, which symmetrises, or store (A + A.T) / 2",
                        name, row, column, here, column, row, scale * (double)s->other[i],
                        s->tolerance);
    }
    return IKT_OK;
}

ikt_status ikt_directed_check_symmetric(ikt_context *ctx, const ikt_rows *distribution,
                                        const ikt_directed *rows, double tolerance, double scale,
                                        const char *name) {
    search s = {.distribution = distribution, .rows = rows, .tolerance = tolerance};
    ikt_transpose t = {0};
    ikt_status st = ikt_alloc(ctx, &s.wrong, distribution->count, sizeof *s.wrong, "symmetrise");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &s.other, distribution->count, sizeof *s.other, "symmetrise");
    if (st == IKT_OK) st = ikt_transpose_begin(ctx, distribution, rows, &t);
    st = ikt_agree(ctx, st);
    for (int64_t i = 0; st == IKT_OK && i < distribution->count; i++)
        s.wrong[i] = UINT32_MAX;
    if (st == IKT_OK) st = ikt_transpose_run(&t, false, compare, &s);
    if (st == IKT_OK) compare_own(ctx, &s);
    if (st == IKT_OK) st = ikt_agree(ctx, report(ctx, &s, scale, name));
    ikt_transpose_end(&t);
    ikt_free(&s.wrong);
    ikt_free(&s.other);
    return st;
}
