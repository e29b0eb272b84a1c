/* From a graph in a file to directed weights. See load.h.
 *
 * Method: blocks of whole rows are read as double numbers, weighed row by row and kept as floats.
 * Advantage: numbers of any scale become weights without loss, and beside the weights a block is
 * all that is held. Disadvantage: probabilities are read twice, first for their sum. */
#include "graph/load.h"

#include <omp.h>
#include <string.h>

#include "affinity/zero_similarity.h"
#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "dist/order.h"
#include "graph/edge_blocks.h"

/* How far an entry may differ from its mirror image, as a part of the larger one: floats that were
 * computed in two orders do by a hundredth of it. */
static const double symmetry_tolerance = 1e-4;

typedef struct {
    ikt_context *ctx;
    const ikt_graph_file *file;
    const ikt_rows *distribution;
    ikt_edge_rule rule;
    int64_t *start;          /* [distribution->count + 1] in the file */
    ikt_directed rows;       /* filled as far as `done` rows */
    int64_t done, least_row; /* rows so far; the first with too few edges, or -1 */
    int64_t zero_similarity; /* own ones */
    float *squared;          /* [threads * longest] */
    int64_t longest;
    ikt_exact_sum total; /* of probabilities */
    uint64_t hash;
} loading;

static void loading_free(loading *l) {
    ikt_free(&l->start);
    ikt_free(&l->squared);
    ikt_directed_destroy(&l->rows);
}

static ikt_status find_starts(loading *l) {
    const int64_t count = l->distribution->count;
    ikt_status st = ikt_alloc(l->ctx, &l->start, count + 1, sizeof *l->start, "graph");
    IKT_TRY(ikt_agree(l->ctx, st));
    IKT_TRY(ikt_graph_file_starts(l->file, l->distribution->first, count, l->start));
    for (int64_t i = 0; i < count; i++)
        if (l->start[i + 1] - l->start[i] > l->longest) l->longest = l->start[i + 1] - l->start[i];
    return IKT_OK;
}

/* --- weights ---------------------------------------------------------------------------------- */

static ikt_status make_room(loading *l) {
    const int64_t count = l->distribution->count, entries = l->start[count] - l->start[0];
    ikt_directed *rows = &l->rows;
    rows->n_local = count;
    IKT_TRY(ikt_alloc(l->ctx, &rows->start, count + 1, sizeof *rows->start, "graph"));
    IKT_TRY(ikt_alloc(l->ctx, &rows->column, entries, sizeof *rows->column, "graph"));
    IKT_TRY(ikt_alloc(l->ctx, &rows->value, entries, sizeof *rows->value, "graph"));
    return ikt_alloc(l->ctx, &l->squared, ikt_threads(l->ctx) * l->longest, sizeof *l->squared,
                     "graph");
}

/* Notes where the rows of a block begin, and which has too few edges. */
static void place_rows(loading *l, const ikt_edge_block *b) {
    int64_t *start = l->rows.start + l->done;
    const double least = ikt_edges_least(&l->rule);
    for (int64_t i = 0; i < b->count; i++) {
        start[i + 1] = start[i] + b->edges[i];
        l->zero_similarity += b->edges[i] == 0;
        if (b->edges[i] > 0 && (double)b->edges[i] < least && l->least_row < 0)
            l->least_row = l->done + i;
    }
}

static ikt_status weigh_block(void *self, const ikt_edge_block *b) {
    loading *l = self;
    const int64_t *start = l->rows.start + l->done;
    place_rows(l, b);
#pragma omp parallel for schedule(dynamic, 64) num_threads(ikt_threads(l->ctx))
    for (int64_t i = 0; i < b->count; i++) {
        const int64_t from = b->start[i] - b->start[0];
        if (b->edges[i] == 0) continue;
        memcpy(l->rows.column + start[i], b->column + from,
               (size_t)b->edges[i] * sizeof *b->column);
        ikt_edge_weights(&l->rule, b->value + from, b->edges[i],
                         l->squared + omp_get_thread_num() * l->longest, l->rows.value + start[i]);
    }
    l->done += b->count;
    return IKT_OK;
}

static ikt_status check_edges(const loading *l) {
    if (l->least_row < 0) return IKT_OK;
    const int64_t *start = l->rows.start + l->least_row;
    return ikt_fail(
        l->ctx, IKT_ERR_DATA,
        "%s, row %lld has %lld distances to others, and gaussian.perplexity = %g needs "
        "as many at least (three times as many are usual); choose a smaller perplexity, "
        "or graph.weights=knn",
        ikt_graph_file_name(l->file), (long long)(l->distribution->first + l->least_row),
        (long long)(start[1] - start[0]), l->rule.perplexity);
}

/* --- probabilities ---------------------------------------------------------------------------- */

static ikt_status add_block(void *self, const ikt_edge_block *b) {
    loading *l = self;
    for (int64_t i = 0; i < b->count; i++) {
        const double *value = b->value + (b->start[i] - b->start[0]);
        for (int64_t e = 0; e < b->edges[i]; e++)
            ikt_exact_sum_add(&l->total, value[e]);
        l->zero_similarity += b->edges[i] == 0;
    }
    return IKT_OK;
}

/* COLLECTIVE. The factor that makes probabilities sum to the number of rows that have any: then
 * they are as p_j|i, whose half sums with the transposed ones are P. */
static ikt_status find_scale(loading *l) {
    ikt_graph_facts ignored = {0, 0, 0};
    l->rule.scale = 1;
    if (l->rule.values != IKT_EDGES_PROBABILITIES) return IKT_OK;
    IKT_TRY(ikt_edge_blocks_read(l->ctx, l->file, l->distribution, l->start, &l->rule, &ignored,
                                 add_block, l));
    ikt_exact_sum_reduce(l->ctx, &l->total, 1);
    const double total = ikt_exact_sum_value(&l->total);
    const int64_t zero_similarity = ikt_sum_one(l->ctx, l->zero_similarity);
    l->zero_similarity = 0;
    if (total > 0) l->rule.scale = (double)(l->distribution->n - zero_similarity) / total;
    return IKT_OK;
}

static ikt_status check_symmetric(const loading *l) {
    if (l->rule.values != IKT_EDGES_PROBABILITIES) return IKT_OK;
    return ikt_directed_check_symmetric(l->ctx, l->distribution, &l->rows, symmetry_tolerance,
                                        1 / l->rule.scale, ikt_graph_file_name(l->file));
}

/* --- rows without an edge --------------------------------------------------------------------- */

static ikt_status refuse_zero_similarity(const loading *l, int64_t zero_similarity) {
    int64_t first = INT64_MAX;
    for (int64_t i = 0; i < l->distribution->count && first == INT64_MAX; i++)
        if (l->rows.start[i] == l->rows.start[i + 1]) first = l->distribution->first + i;
    ikt_min_i64(l->ctx, &first, 1);
    return ikt_fail(l->ctx, IKT_ERR_DATA,
                    "%s: %lld of %lld rows have no edge to another row, first row %lld; with "
                    "input.file they are tied to their nearest rows there, otherwise leave them "
                    "out of the graph",
                    ikt_graph_file_name(l->file), (long long)zero_similarity,
                    (long long)l->distribution->n, (long long)first);
}

/* LOCAL. Own zero-similarity rows among those of all ranks: the first one, and how many. */
static void own_zero_similarity(const ikt_rows *distribution, const ikt_zero_similarity *all,
                                int64_t *first, int64_t *count) {
    *first = *count = 0;
    for (int64_t o = 0; o < all->count; o++) {
        if (all->row[o] < distribution->first) ++*first;
        *count += all->row[o] >= distribution->first &&
                  all->row[o] < distribution->first + distribution->count;
    }
}

/* LOCAL. Puts k edges of the same weight into each own row without any, from the last row on, as
 * rows only move towards the end. */
static ikt_status insert(loading *l, const ikt_zero_similarity *all) {
    ikt_directed *rows = &l->rows;
    int64_t first, left;
    own_zero_similarity(l->distribution, all, &first, &left);
    const int64_t k = all->k, entries = rows->start[l->distribution->count] + left * k;
    IKT_TRY(ikt_resize(l->ctx, &rows->column, entries, sizeof *rows->column, "graph"));
    IKT_TRY(ikt_resize(l->ctx, &rows->value, entries, sizeof *rows->value, "graph"));
    for (int64_t i = l->distribution->count - 1; i >= 0 && left > 0; i--) {
        const int64_t count = rows->start[i + 1] - rows->start[i], from = rows->start[i];
        const int64_t end = rows->start[i + 1] + left * k;
        memmove(rows->column + end - count, rows->column + from,
                (size_t)count * sizeof *rows->column);
        memmove(rows->value + end - count, rows->value + from, (size_t)count * sizeof *rows->value);
        rows->start[i + 1] = end;
        if (count > 0) continue;
        left--;
        memcpy(rows->column + end - k, all->nearest + (first + left) * k,
               (size_t)k * sizeof *rows->column);
        for (int64_t e = 0; e < k; e++)
            rows->value[end - k + e] = (float)(1 / (double)k);
    }
    return IKT_OK;
}

/* COLLECTIVE. */
static ikt_status adopt(loading *l, ikt_dataset *data, int64_t k) {
    const int64_t count = l->distribution->count;
    uint8_t *marked = NULL;
    ikt_zero_similarity all = {0, k, NULL, NULL};
    ikt_status st = ikt_agree(l->ctx, ikt_alloc(l->ctx, &marked, count, 1, "zero similarity"));
    for (int64_t i = 0; st == IKT_OK && i < count; i++)
        marked[i] = l->rows.start[i] == l->rows.start[i + 1];
    if (st == IKT_OK) st = ikt_zero_similarity_find(l->ctx, data, l->distribution, marked, k, &all);
    if (st == IKT_OK) st = ikt_agree(l->ctx, insert(l, &all));
    ikt_zero_similarity_destroy(&all);
    ikt_free(&marked);
    return st == IKT_OK ? ikt_agree(l->ctx, ikt_directed_sort(l->ctx, &l->rows)) : st;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* COLLECTIVE. Weights of the rows that have edges. */
static ikt_status weigh_all(loading *l, ikt_graph_facts *facts) {
    IKT_TRY(ikt_agree(l->ctx, make_room(l)));
    IKT_TRY(ikt_edge_blocks_read(l->ctx, l->file, l->distribution, l->start, &l->rule, facts,
                                 weigh_block, l));
    facts->zero_similarity = ikt_sum_one(l->ctx, l->zero_similarity);
    facts->selves = ikt_sum_one(l->ctx, facts->selves);
    facts->zeros = ikt_sum_one(l->ctx, facts->zeros);
    if (facts->zero_similarity == l->distribution->n)
        return ikt_fail(l->ctx, IKT_ERR_DATA, "%s has no edges between different rows",
                        ikt_graph_file_name(l->file));
    IKT_TRY(ikt_agree(l->ctx, check_edges(l)));
    return check_symmetric(l);
}

ikt_status ikt_directed_load(ikt_context *ctx, const ikt_graph_file *file,
                             const ikt_rows *distribution, const ikt_edge_rule *rule,
                             ikt_dataset *data, int64_t k, ikt_directed *out,
                             ikt_graph_facts *facts) {
    loading l = {
        .ctx = ctx, .file = file, .distribution = distribution, .rule = *rule, .least_row = -1};
    *out = (ikt_directed){0, NULL, NULL, NULL};
    *facts = (ikt_graph_facts){0, 0, 0};
    ikt_status st = find_starts(&l);
    if (st == IKT_OK) st = find_scale(&l);
    if (st == IKT_OK) st = weigh_all(&l, facts);
    if (st == IKT_OK && facts->zero_similarity > 0)
        st = data ? adopt(&l, data, k) : refuse_zero_similarity(&l, facts->zero_similarity);
    if (st == IKT_OK) {
        *out = l.rows;
        l.rows = (ikt_directed){0, NULL, NULL, NULL};
    }
    loading_free(&l);
    return st;
}

/* COLLECTIVE. One of the arrays of the rows, in slots. */
static ikt_status move(ikt_context *ctx, const ikt_order *order, const ikt_directed *rows,
                       const int64_t *to, void *array_address) {
    void *moved = NULL, *array;
    memcpy(&array, array_address, sizeof array);
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &moved, to[order->rows.count], 4, "graph"));
    if (st == IKT_OK)
        st = ikt_redistribute_entries(ctx, order, IKT_TO_SLOTS, rows->start, array, to, moved);
    if (st == IKT_OK) {
        ikt_free(&array);
        memcpy(array_address, &moved, sizeof moved);
    } else {
        ikt_free(&moved);
    }
    return st;
}

ikt_status ikt_directed_to_slots(ikt_context *ctx, const ikt_order *order, const uint32_t *slot,
                                 ikt_directed *rows) {
    const int64_t count = order->rows.count;
    int64_t *to = NULL;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &to, count + 1, sizeof *to, "graph"));
    if (st == IKT_OK)
        st = ikt_translate_indices(ctx, &order->rows, slot, rows->column, rows->start[count]);
    if (st == IKT_OK) st = ikt_redistribute_starts(ctx, order, IKT_TO_SLOTS, rows->start, to);
    if (st == IKT_OK) st = move(ctx, order, rows, to, &rows->column);
    if (st == IKT_OK) st = move(ctx, order, rows, to, &rows->value);
    if (st == IKT_OK) {
        ikt_free(&rows->start);
        rows->start = to;
        to = NULL;
    }
    ikt_free(&to);
    if (st != IKT_OK) ikt_directed_destroy(rows);
    return st;
}

/* --- what the file holds ---------------------------------------------------------------------- */

static ikt_status hash_block(void *self, const ikt_edge_block *b) {
    loading *l = self;
    uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(ikt_threads(l->ctx))
    for (int64_t i = 0; i < b->count; i++) {
        const int64_t from = b->start[i] - b->start[0];
        for (int64_t e = 0; e < b->edges[i]; e++) {
            const struct {
                int64_t row, column;
                double value;
            } whole = {b->first + i, b->column[from + e], b->value[from + e]};
            sum += ikt_hash_bytes(&whole, sizeof whole, 2);
        }
    }
    l->hash += sum;
    return IKT_OK;
}

ikt_status ikt_graph_file_hash(ikt_context *ctx, const ikt_graph_file *file,
                               const ikt_rows *distribution, ikt_edges values, uint64_t *hash) {
    loading l = {
        .ctx = ctx, .file = file, .distribution = distribution, .rule = {.values = values}};
    ikt_graph_facts ignored = {0, 0, 0};
    ikt_status st = find_starts(&l);
    if (st == IKT_OK)
        st = ikt_edge_blocks_read(ctx, file, distribution, l.start, &l.rule, &ignored, hash_block,
                                  &l);
    *hash = ikt_hash_total(ctx, l.hash);
    loading_free(&l);
    return st;
}
