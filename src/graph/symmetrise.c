/* From directed weights to the symmetric P.
 *
 * Method: the weights p_j|i travel, transposed, to the owner of row j, a batch of rows at a time.
 * First round: where row j has i among its own neighbours, both weights are added in place. The sum
 * is stored with a minus sign, so that when row j's turn to send comes, row i takes the sum instead
 * of adding again; pairs of one batch have both sent their weights before either adds. What finds
 * no partner is counted. Second round: what is still positive has no partner, and travels again
 * into the reverse part, which now has exactly its room.
 * Pairs of two own rows need no message: they are joined where they stand.
 * Advantage: the lists become P where they stand, and beside the reverse part only buffers of fixed
 * size are needed; the sum of two floats commutes, so nothing depends on who sent first.
 * Disadvantage: entries to rows of other ranks without a partner travel twice. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "graph/graph.h"
#include "graph/transpose.h"

typedef struct {
    ikt_context *ctx;
    ikt_rows distribution;
    ikt_directed rows; /* the forward part, global numbers */
    ikt_transpose transpose;
    int64_t *reverse_start, *cursor; /* [n_local + 1] */
    uint32_t *reverse_column;
    float *reverse_value;
} work;

static void work_free(work *w) {
    ikt_directed_destroy(&w->rows);
    ikt_transpose_end(&w->transpose);
    ikt_free(&w->reverse_start);
    ikt_free(&w->cursor);
    ikt_free(&w->reverse_column);
    ikt_free(&w->reverse_value);
}

static ikt_status work_alloc(work *w) {
    ikt_context *ctx = w->ctx;
    const int64_t rows = w->distribution.count + 1;
    IKT_TRY(ikt_alloc(ctx, &w->reverse_start, rows, sizeof *w->reverse_start, "graph"));
    IKT_TRY(ikt_alloc(ctx, &w->cursor, rows, sizeof *w->cursor, "symmetrise"));
    return ikt_transpose_begin(ctx, &w->distribution, &w->rows, &w->transpose);
}

/* --- pairs of rows of two ranks --------------------------------------------------------------- */

/* Adds the weight of a pair, or counts an entry without a partner. */
static void join(void *self, const ikt_transposed *from) {
    work *w = self;
    int64_t begin = w->rows.start[from->row];
    int64_t found =
        ikt_find_u32(w->rows.column + begin, w->rows.start[from->row + 1] - begin, from->column);
    if (found < 0)
        w->reverse_start[from->row + 1]++;
    else if (from->value < 0) /* the partner has added already */
        w->rows.value[begin + found] = from->value;
    else
        w->rows.value[begin + found] = -(w->rows.value[begin + found] + from->value);
}

static void place_single(void *self, const ikt_transposed *from) {
    work *w = self;
    int64_t at = w->cursor[from->row]++;
    w->reverse_column[at] = from->column;
    w->reverse_value[at] = from->value;
}

/* --- pairs of own rows ------------------------------------------------------------------------ */

/* The entry that mirrors entry e of own row i, a pair of own rows; -1 where there is none. */
static int64_t mirror_of(const work *w, int64_t i, int64_t e) {
    int64_t row = w->rows.column[e] - w->distribution.first, begin = w->rows.start[row];
    int64_t found = ikt_find_u32(w->rows.column + begin, w->rows.start[row + 1] - begin,
                                 (uint32_t)(w->distribution.first + i));
    return found < 0 ? -1 : begin + found;
}

/* Both entries of a pair are written by the thread that has the lower row, and by no other. */
static void join_own(work *w) {
#pragma omp parallel for schedule(dynamic, 1024) num_threads(ikt_threads(w->ctx))
    for (int64_t i = 0; i < w->distribution.count; i++)
        for (int64_t e = w->rows.start[i]; e < w->rows.start[i + 1]; e++) {
            if (!ikt_transpose_is_own(&w->distribution, w->rows.column[e])) continue;
            int64_t row = w->rows.column[e] - w->distribution.first, mirror = mirror_of(w, i, e);
            if (mirror < 0) {
#pragma omp atomic update
                w->reverse_start[row + 1]++;
            } else if (i < row) {
                w->rows.value[e] = w->rows.value[mirror] =
                    -(w->rows.value[e] + w->rows.value[mirror]);
            }
        }
}

/* The order in which threads come does not matter: rows are sorted afterwards. */
static void place_own(work *w) {
#pragma omp parallel for schedule(dynamic, 1024) num_threads(ikt_threads(w->ctx))
    for (int64_t i = 0; i < w->distribution.count; i++)
        for (int64_t e = w->rows.start[i]; e < w->rows.start[i + 1]; e++) {
            if (!ikt_transpose_is_own(&w->distribution, w->rows.column[e]) ||
                !(w->rows.value[e] > 0))
                continue;
            int64_t row = w->rows.column[e] - w->distribution.first, at;
#pragma omp atomic capture
            at = w->cursor[row]++;
            w->reverse_column[at] = (uint32_t)(w->distribution.first + i);
            w->reverse_value[at] = w->rows.value[e];
        }
}

/* --- the whole -------------------------------------------------------------------------------- */

static ikt_status make_reverse_room(work *w) {
    for (int64_t i = 0; i < w->distribution.count; i++)
        w->reverse_start[i + 1] += w->reverse_start[i];
    memcpy(w->cursor, w->reverse_start, (size_t)(w->distribution.count + 1) * sizeof *w->cursor);
    int64_t total = w->reverse_start[w->distribution.count];
    IKT_TRY(ikt_alloc(w->ctx, &w->reverse_column, total, sizeof *w->reverse_column, "graph"));
    return ikt_alloc(w->ctx, &w->reverse_value, total, sizeof *w->reverse_value, "graph");
}

static ikt_status join_both(work *w) {
    IKT_TRY(ikt_agree(w->ctx, ikt_directed_sort(w->ctx, &w->rows)));
    IKT_TRY(ikt_transpose_run(&w->transpose, false, join, w));
    join_own(w);
    IKT_TRY(ikt_agree(w->ctx, make_reverse_room(w)));
    IKT_TRY(ikt_transpose_run(&w->transpose, true, place_single, w));
    place_own(w);
    ikt_transpose_end(&w->transpose);
    ikt_free(&w->cursor);
    const ikt_directed reverse = {w->distribution.count, w->reverse_start, w->reverse_column,
                                  w->reverse_value};
    return ikt_agree(w->ctx, ikt_directed_sort(w->ctx, &reverse));
}

/* From sums of conditional probabilities, of either sign, to p_ij. An entry stays one however small
 * it is, as Gaussian weights of far rows are. */
static void scale_values(ikt_context *ctx, int64_t n, float *value, int64_t count) {
    double scale = 1.0 / (2.0 * (double)n);
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < count; e++)
        value[e] = (float)fmax(scale * fabs((double)value[e]), FLT_MIN);
}

/* Hands the arrays over; columns are still global numbers. */
static void hand_over(work *w, ikt_graph *out) {
    out->forward = (ikt_csr){w->rows.start, (int32_t *)w->rows.column, w->rows.value};
    out->reverse = (ikt_csr){w->reverse_start, (int32_t *)w->reverse_column, w->reverse_value};
    w->rows = (ikt_directed){0, NULL, NULL, NULL};
    w->reverse_start = NULL;
    w->reverse_column = NULL;
    w->reverse_value = NULL;
}

ikt_status ikt_graph_from_directed(ikt_context *ctx, const ikt_rows *distribution,
                                   ikt_directed *rows, ikt_graph *out) {
    memset(out, 0, sizeof *out);
    out->rows = *distribution;
    work w = {.ctx = ctx, .distribution = *distribution, .rows = *rows};
    *rows = (ikt_directed){0, NULL, NULL, NULL};
    ikt_status st = ikt_agree(ctx, work_alloc(&w));
    if (st == IKT_OK) st = join_both(&w);
    if (st == IKT_OK) {
        scale_values(ctx, distribution->n, w.rows.value, w.rows.start[distribution->count]);
        scale_values(ctx, distribution->n, w.reverse_value, w.reverse_start[distribution->count]);
        hand_over(&w, out);
        st = ikt_agree(ctx, ikt_graph_number_ghosts(ctx, out));
    }
    work_free(&w);
    if (st != IKT_OK) ikt_graph_destroy(out);
    return st;
}

ikt_status ikt_graph_symmetrise(ikt_context *ctx, const ikt_rows *distribution,
                                ikt_neighbours *lists, ikt_graph *out) {
    ikt_directed rows;
    memset(out, 0, sizeof *out);
    IKT_TRY(ikt_agree(ctx, ikt_directed_from_lists(ctx, lists, &rows)));
    return ikt_graph_from_directed(ctx, distribution, &rows, out);
}

static void csr_free(ikt_csr *part) {
    ikt_free(&part->start);
    ikt_free(&part->column);
    ikt_free(&part->value);
}

void ikt_graph_destroy(ikt_graph *graph) {
    csr_free(&graph->forward);
    csr_free(&graph->reverse);
    ikt_free(&graph->ghost_row);
    graph->n_ghost = 0;
}
