/* Invariants and checksum of P; whether directed weights are symmetric. */
#include <math.h>

#include "affinity/dense.h"
#include "base/arrays.h"
#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/row_hash.h"
#include "base/sort.h"
#include "graph/transpose.h"

int64_t ikt_graph_global(const ikt_graph *graph, int32_t column) {
    int64_t n_local = graph->rows.count;
    return column < n_local ? graph->rows.first + column : graph->ghost_row[column - n_local];
}

int64_t ikt_graph_entries(ikt_context *ctx, const ikt_graph *graph) {
    int64_t n_local = graph->rows.count;
    return ikt_sum_one(ctx, graph->forward.start[n_local] + graph->reverse.start[n_local]);
}

/* Value of the entry (row, column) of own rows in a part; 0 where there is none. */
static float value_in(const ikt_graph *graph, const ikt_csr *part, int64_t row, int64_t global) {
    const int64_t end = part->start[row + 1];
    int64_t e;
    IKT_FIND_FIRST(e, part->start[row], end, ikt_graph_global(graph, part->column[e]) >= global);
    return e < end && ikt_graph_global(graph, part->column[e]) == global ? ikt_csr_value(part, e)
                                                                         : 0;
}

/* Own row i in one part of P. */
static ikt_status check_part(ikt_context *ctx, const ikt_graph *graph, const ikt_csr *part,
                             int64_t i) {
    int64_t row = graph->rows.first + i, before = -1;
    for (int64_t e = part->start[i]; e < part->start[i + 1]; e++) {
        const int32_t column = part->column[e];
        if (column < 0 || column >= graph->rows.count + graph->n_ghost)
            return ikt_fail(ctx, IKT_ERR_INTERNAL, "row %lld of P: column out of range",
                            (long long)row);
        const int64_t global = ikt_graph_global(graph, column);
        if (global <= before || global == row)
            return ikt_fail(ctx, IKT_ERR_INTERNAL, "row %lld of P: columns out of order",
                            (long long)row);
        before = global;
        if (!(ikt_csr_value(part, e) > 0))
            return ikt_fail(ctx, IKT_ERR_INTERNAL, "row %lld of P: value not positive",
                            (long long)row);
        /* The mirror image is in one part only: the sum is its value. */
        if (column < graph->rows.count && value_in(graph, &graph->forward, column, row) +
                                                  value_in(graph, &graph->reverse, column, row) !=
                                              ikt_csr_value(part, e))
            return ikt_fail(ctx, IKT_ERR_INTERNAL, "P is not symmetric at (%lld, %lld)",
                            (long long)row, (long long)global);
    }
    return IKT_OK;
}

static ikt_status check_row(ikt_context *ctx, const ikt_graph *graph, int64_t i) {
    const ikt_csr *forward = &graph->forward, *reverse = &graph->reverse;
    if (forward->start[i] == forward->start[i + 1] && reverse->start[i] == reverse->start[i + 1])
        return ikt_fail(ctx, IKT_ERR_INTERNAL, "row %lld of P is empty",
                        (long long)(graph->rows.first + i));
    IKT_TRY(check_part(ctx, graph, forward, i));
    return check_part(ctx, graph, reverse, i);
}

ikt_status ikt_graph_check(ikt_context *ctx, const ikt_graph *graph) {
    ikt_status st = IKT_OK;
    for (int64_t i = 0; i < graph->rows.count && st == IKT_OK; i++)
        st = check_row(ctx, graph, i);
    IKT_TRY(ikt_agree(ctx, st));
    return ikt_graph_check_sums(ctx, graph);
}

/* Adds the entries of own row i in one part of P, and what they add to the checksum. */
static void add_row(const ikt_graph *graph, const ikt_csr *part, int64_t i, double *sum,
                    uint64_t *odd) {
    for (int64_t e = part->start[i]; e < part->start[i + 1]; e++) {
        const float value = ikt_csr_value(part, e);
        *sum += (double)value;
        *odd +=
            ikt_hash_entry(graph->rows.first + i, ikt_graph_global(graph, part->column[e]), value);
    }
}

/* The entries of a row are in one order on any ranks; rows are added exactly. */
ikt_status ikt_graph_check_sums(ikt_context *ctx, const ikt_graph *graph) {
    ikt_exact_sum total = {{0}, 0, 0};
    uint64_t odd = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : odd) reduction(exact : total)       \
    num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < graph->rows.count; i++) {
        double sum = 0;
        add_row(graph, &graph->forward, i, &sum, &odd);
        add_row(graph, &graph->reverse, i, &sum, &odd);
        ikt_exact_sum_add(&total, sum);
    }
    return ikt_check_p(ctx, &total, odd);
}

/* --- whether directed weights are symmetric -----------------------------------------------------
 *
 * Method: every entry is looked up in the row that it leads to: there, where it arrives transposed,
 * or at once for two own rows. Each row keeps the lowest column at which something is wrong, so
 * that the pair that is named is the same on any ranks. */

typedef struct {
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
static void compare(void *self, const ikt_transposed_entry *from) {
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

ikt_status ikt_directed_check_symmetric(ikt_context *ctx, const ikt_rows *distribution,
                                        const ikt_directed *rows, double tolerance, double scale,
                                        const char *name) {
    const int64_t first = distribution->first, count = distribution->count;
    search s = {.rows = rows, .tolerance = tolerance};
    ikt_transpose t IKT_AT_END(ikt_transpose_end) = {0};
    IKT_ARRAYS(held, ctx, "symmetrise");
    s.wrong = ikt_claim(&held, count, sizeof *s.wrong);
    s.other = ikt_claim(&held, count, sizeof *s.other);
    if (held.status == IKT_OK) held.status = ikt_transpose_begin(ctx, distribution, rows, &t);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < count; i++)
        s.wrong[i] = UINT32_MAX;
    IKT_TRY(ikt_transpose_run(&t, false, compare, &s));
    /* Pairs of own rows do not travel. */
#pragma omp parallel for schedule(dynamic, 1024) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < count; i++)
        for (int64_t e = rows->start[i]; e < rows->start[i + 1]; e++)
            if (ikt_is_own(distribution, rows->column[e]))
                compare(&s, &(ikt_transposed_entry){(uint32_t)(rows->column[e] - first),
                                                    (uint32_t)(first + i), rows->value[e]});
    ikt_status st = IKT_OK;
    for (int64_t i = 0; st == IKT_OK && i < count; i++) {
        if (s.wrong[i] == UINT32_MAX) continue;
        const double here = scale * (double)weight_of(rows, i, s.wrong[i]);
        const long long row = first + i, column = s.wrong[i];
        st = ikt_fail(ctx, IKT_ERR_DATA,
                      "%s is not symmetric: row %lld, column %lld holds %.6g, and row %lld, "
                      "column %lld holds %.6g (they may differ by %g of the larger); take "
                      "graph.values=similarities, which symmetrises, or store (A + A.T) / 2",
                      name, row, column, here, column, row, scale * (double)s.other[i], tolerance);
    }
    return ikt_agree(ctx, st);
}
