/* From directed weights to the symmetric P.
 *
 * Method: the weights p_j|i travel, transposed, to the owner of row j, a batch of rows at a time.
 * First round: where row j has i among its own neighbours, both weights are added in place, or
 * united (ikt_symmetry). The sum
 * is stored with a minus sign, so that when row j's turn to send comes, row i takes the sum instead
 * of adding again; pairs of one batch have both sent their weights before either adds. What finds
 * no partner is counted. Second round: what is still positive has no partner, and travels again
 * into the reverse part, which now has exactly its size.
 * Pairs of two own rows need no message: the same is done for a piece of rows after another
 * (transpose.h).
 * Advantage: the lists become P where they stand, and beside the reverse part only buffers of fixed
 * size are needed; the sum of two floats commutes, so nothing depends on who sent first.
 * Disadvantage: entries to rows of other ranks without a partner travel twice.
 * Columns get local numbers at the end: the foreign rows make a set (dist/rows.h), and a ghost's
 * number is its place there. */
#include <float.h>
#include <math.h>

#include "base/arrays.h"
#include "base/exact_sum.h"
#include "dist/rows.h"
#include "graph/transpose.h"

typedef struct {
    ikt_context *ctx;
    ikt_rows distribution;
    ikt_directed rows;    /* the forward part, global numbers */
    ikt_directed reverse; /* the reverse part, global numbers */
} work;

/* Both directions of a pair as one number; the same whichever comes first. */
static float both(const work *w, float a, float b) {
    if (w->rows.symmetry == IKT_SYMMETRY_MEAN) return a + b;
    return (float)((double)a + (double)b - (double)a * (double)b);
}

/* The sum of a pair, with a minus sign, from one weight and the other, or the sum that the other
 * has become already. */
static float meet(const void *self, float own, float from) {
    return from < 0 ? from : -both(self, own, from);
}

/* --- local numbers for the columns ------------------------------------------------------------ */

/* LOCAL. Lists the foreign rows among the columns as ghosts, ascending, and turns the columns,
 * which are global numbers (as uint32), into local ones. Memory: n/8 + n/16 bytes while it works.
 */
static ikt_status number_ghosts(ikt_context *ctx, ikt_graph *graph) {
    const ikt_rows *rows = &graph->rows;
    const ikt_csr *const parts[] = {&graph->forward, &graph->reverse};
    uint32_t *row IKT_AT_END(ikt_free) = NULL;
    ikt_row_set ghosts IKT_AT_END(ikt_row_set_destroy) = {0};
    if (rows->count == rows->n && rows->n <= INT32_MAX) /* global numbers are local ones */
        return ikt_alloc(ctx, &graph->ghost_row, 0, sizeof *graph->ghost_row, "graph");
    IKT_TRY(ikt_row_set_create(ctx, rows->n, &ghosts));
    for (int p = 0; p < 2; p++) {
        const uint32_t *column = (const uint32_t *)parts[p]->column;
#pragma omp parallel for num_threads(ikt_threads(ctx))
        for (int64_t e = 0; e < parts[p]->start[rows->count]; e++)
            if (!ikt_is_own(rows, column[e])) ikt_row_set_add(&ghosts, column[e]);
    }
    ikt_row_set_number(&ghosts);
    graph->n_ghost = ghosts.count;
    if (rows->count + ghosts.count > INT32_MAX)
        return ikt_fail(ctx, IKT_ERR_RESOURCE,
                        "rank %d would hold %lld rows and boundary rows, more than 2^31: use "
                        "more ranks",
                        ikt_rank(ctx), (long long)(rows->count + ghosts.count));
    IKT_TRY(ikt_alloc(ctx, &row, ghosts.count, sizeof *row, "ghosts"));
    IKT_TRY(ikt_alloc(ctx, &graph->ghost_row, ghosts.count, sizeof *graph->ghost_row, "graph"));
    ikt_row_set_list(&ghosts, row);
    for (int64_t g = 0; g < ghosts.count; g++)
        graph->ghost_row[g] = row[g];
    for (int p = 0; p < 2; p++) {
        int32_t *column = parts[p]->column;
#pragma omp parallel for num_threads(ikt_threads(ctx))
        for (int64_t e = 0; e < parts[p]->start[rows->count]; e++) {
            const uint32_t global = (uint32_t)column[e];
            column[e] = ikt_is_own(rows, global)
                            ? (int32_t)(global - rows->first)
                            : (int32_t)(rows->count + ikt_row_set_place(&ghosts, global));
        }
    }
    return IKT_OK;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* COLLECTIVE. The total of both directions over all pairs, whose values are of either sign: 2 n by
 * construction where the rows sum to 1, or an exact sum. */
static double total_of(const work *w) {
    const int64_t count = w->distribution.count;
    const float *const value[] = {w->rows.value, w->reverse.value};
    const int64_t entries[] = {w->rows.start[count], w->reverse.start[count]};
    ikt_exact_sum total = {{0}, 0, 0};
    if (w->rows.symmetry == IKT_SYMMETRY_MEAN) return 2.0 * (double)w->distribution.n;
    for (int p = 0; p < 2; p++) {
#pragma omp parallel for schedule(static) reduction(exact : total) num_threads(ikt_threads(w->ctx))
        for (int64_t e = 0; e < entries[p]; e++)
            ikt_exact_sum_add(&total, fabs((double)value[p][e]));
    }
    ikt_exact_sum_reduce(w->ctx, &total, 1);
    return ikt_exact_sum_value(&total);
}

/* From both directions of a pair, of either sign, to p_ij. An entry stays one however small it is,
 * as Gaussian weights of far rows are. */
static void scale_values(ikt_context *ctx, double scale, float *value, int64_t count) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < count; e++)
        value[e] = (float)fmax(scale * fabs((double)value[e]), FLT_MIN);
}

/* COLLECTIVE. The weights of every pair that is in two lists are added, and the others are in the
 * reverse part as well; then all are scaled. */
static ikt_status join_all(work *w) {
    const int64_t count = w->distribution.count;
    IKT_TRY(ikt_directed_join(w->ctx, &w->distribution, &w->rows, meet, w, true, &w->reverse));
    const double scale = 1.0 / total_of(w);
    scale_values(w->ctx, scale, w->rows.value, w->rows.start[count]);
    scale_values(w->ctx, scale, w->reverse.value, w->reverse.start[count]);
    return IKT_OK;
}

/* LOCAL. What a graph has beyond its parts. */
static ikt_status finish(ikt_context *ctx, ikt_graph *graph) {
    const int64_t n = graph->rows.count;
    IKT_TRY(number_ghosts(ctx, graph));
    IKT_TRY(ikt_csr_drop_values(ctx, &graph->forward, graph->forward.start[n]));
    return ikt_csr_drop_values(ctx, &graph->reverse, graph->reverse.start[n]);
}

ikt_status ikt_graph_from_directed(ikt_context *ctx, const ikt_rows *distribution,
                                   ikt_directed *rows, ikt_graph *out) {
    work w = {.ctx = ctx, .distribution = *distribution, .rows = *rows};
    *rows = (ikt_directed){.start = NULL};
    ikt_status st = join_all(&w);
    /* From here on the graph owns the arrays; columns are still global numbers. */
    *out = (ikt_graph){.rows = *distribution,
                       .forward = {.start = w.rows.start,
                                   .column = (int32_t *)w.rows.column,
                                   .value = w.rows.value},
                       .reverse = {.start = w.reverse.start,
                                   .column = (int32_t *)w.reverse.column,
                                   .value = w.reverse.value}};
    if (st == IKT_OK) st = ikt_agree(ctx, finish(ctx, out));
    if (st != IKT_OK) ikt_graph_destroy(out);
    return st;
}

void ikt_graph_destroy(ikt_graph *graph) {
    ikt_csr *const parts[] = {&graph->forward, &graph->reverse};
    for (int p = 0; p < 2; p++)
        ikt_free_all(&parts[p]->start, &parts[p]->column, &parts[p]->value, &parts[p]->twice);
    ikt_free(&graph->ghost_row);
    graph->n_ghost = 0;
}
