/* From a graph in a file to directed weights. See graph.h.
 *
 * Method: blocks of whole rows are read as double numbers, sorted and checked, weighed row by row
 * and kept as floats. Advantage: numbers of any scale become weights without loss, and beside the
 * weights a block is all that is held. Disadvantage: probabilities are read twice, first for their
 * sum. */
#include "graph/graph.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/row_hash.h"
#include "base/sort.h"

enum { BLOCK_ENTRIES = 1 << 20 };

/* How far an entry may differ from its mirror image, as a part of the larger one: floats that were
 * computed in two orders do by a hundredth of it. */
static const double symmetry_tolerance = 1e-4;

static const char purpose[] = "graph file";

typedef struct {
    ikt_context *ctx;
    const ikt_graph_file *file;
    const ikt_rows *distribution;
    ikt_edge_rule rule;
    int64_t *start;          /* [distribution->count + 1] in the file */
    int64_t longest;         /* row, in entries */
    ikt_graph_facts facts;   /* of this rank */
    ikt_directed rows;       /* filled as far as `done` rows */
    int64_t done, least_row; /* rows so far; the first with too few edges, or -1 */
    float *squared;          /* [threads * longest] */
    ikt_exact_sum total;     /* of probabilities */
    double most;             /* of all numbers, over all ranks */
    uint64_t hash;
} loading;

static ikt_status find_starts(loading *l) {
    const int64_t count = l->distribution->count;
    IKT_TRY(ikt_alloc_all(l->ctx, &l->start, count + 1, sizeof *l->start, "graph"));
    IKT_TRY(ikt_graph_file_starts(l->file, l->distribution->first, count, l->start));
    for (int64_t i = 0; i < count; i++)
        if (l->start[i + 1] - l->start[i] > l->longest) l->longest = l->start[i + 1] - l->start[i];
    return IKT_OK;
}

static void loading_free(loading *l) {
    ikt_free_all(&l->start, &l->squared);
    ikt_directed_destroy(&l->rows);
}

/* --- one row ---------------------------------------------------------------------------------- */

typedef struct {
    uint32_t column;
    double value;
} edge;

static int by_column(const void *a, const void *b) {
    return IKT_COMPARE(((const edge *)a)->column, ((const edge *)b)->column);
}

static void sort_row(uint32_t *column, double *value, int64_t count, edge *sorting) {
    bool is_sorted = true;
    for (int64_t e = 1; e < count && is_sorted; e++)
        is_sorted = column[e - 1] < column[e];
    if (is_sorted) return;
    for (int64_t e = 0; e < count; e++)
        sorting[e] = (edge){column[e], value[e]};
    qsort(sorting, (size_t)count, sizeof *sorting, by_column);
    for (int64_t e = 0; e < count; e++) {
        column[e] = sorting[e].column;
        value[e] = sorting[e].value;
    }
}

/* Entry of the sorted row that cannot be; -1 where all can. */
static int64_t find_bad(const ikt_edge_rule *rule, const uint32_t *column, const double *value,
                        int64_t count) {
    for (int64_t e = 0; e < count; e++)
        if (!isfinite(value[e]) || (e > 0 && column[e] == column[e - 1]) ||
            (value[e] < 0 && rule->values != IKT_EDGES_NONE))
            return e;
    return -1;
}

/* --- blocks of whole rows --------------------------------------------------------------------- */

/* Rows first .. first + count - 1 of the file. */
typedef struct {
    int64_t first, count;
    const int64_t *start; /* [count + 1] where entries of a row begin in the file */
    int64_t *edges;       /* [count] of each row, which stand at the beginning of its entries */
    uint32_t *column;     /* [start[count] - start[0]] ascending within a row */
    double *value;        /* [start[count] - start[0]] */
} block;

/* Own rows from `done` on that a block takes: whole ones, at least one. */
static int64_t block_end(const int64_t *start, int64_t count, int64_t done) {
    int64_t end = done;
    while (end < count && start[end + 1] - start[done] <= BLOCK_ENTRIES)
        end++;
    return end == done && done < count ? done + 1 : end;
}

/* LOCAL. Sorts, checks and thins the rows of a block that was read.
 *   sorting   [threads * longest] */
static ikt_status prepare(loading *l, const block *b, edge *sorting) {
    int64_t bad_row = INT64_MAX, selves = 0, zeros = 0;
#pragma omp parallel for schedule(dynamic, 64) num_threads(ikt_threads(l->ctx))                    \
    reduction(+ : selves, zeros) reduction(min : bad_row)
    for (int64_t i = 0; i < b->count; i++) {
        const int64_t at = b->start[i] - b->start[0], count = b->start[i + 1] - b->start[i];
        sort_row(b->column + at, b->value + at, count, sorting + omp_get_thread_num() * l->longest);
        if (find_bad(&l->rule, b->column + at, b->value + at, count) >= 0) {
            if (i < bad_row) bad_row = i;
            continue;
        }
        b->edges[i] = 0;
        /* Leaves out the row itself, and what is no edge. */
        for (int64_t e = at; e < at + count; e++) {
            const bool is_self = b->column[e] == b->first + i;
            const bool is_zero = b->value[e] == 0 && l->rule.values != IKT_EDGES_DISTANCES;
            selves += is_self;
            zeros += is_zero && !is_self;
            if (is_self || is_zero) continue;
            b->column[at + b->edges[i]] = b->column[e];
            b->value[at + b->edges[i]++] = b->value[e];
        }
    }
    l->facts.selves += selves;
    l->facts.zeros += zeros;
    if (bad_row == INT64_MAX) return IKT_OK;
    const int64_t at = b->start[bad_row] - b->start[0];
    const int64_t count = b->start[bad_row + 1] - b->start[bad_row];
    const int64_t e = at + find_bad(&l->rule, b->column + at, b->value + at, count);
    const char *name = ikt_graph_file_name(l->file);
    const long long row = b->first + bad_row, column = b->column[e];
    if (e > at && b->column[e] == b->column[e - 1])
        return ikt_fail(l->ctx, IKT_ERR_DATA,
                        "%s, row %lld, column %lld: two entries in one place; scipy's "
                        ".sum_duplicates() adds them up",
                        name, row, column);
    return ikt_fail(l->ctx, IKT_ERR_DATA,
                    "%s, row %lld, column %lld: %g is %s, which neither a similarity nor a "
                    "distance can be",
                    name, row, column, b->value[e],
                    isfinite(b->value[e]) ? "negative" : "not finite");
}

/* COLLECTIVE. Goes through the own rows, and gives one block after another to `take`. Errors: those
 * of reading; IKT_ERR_DATA naming row and column of a number that is not finite, or below 0 where
 * there may be none, or of a column that comes twice; IKT_ERR_RESOURCE. */
static ikt_status read_blocks(loading *l, void (*take)(loading *l, const block *b)) {
    ikt_context *ctx = l->ctx;
    const int64_t count = l->distribution->count, *start = l->start;
    int64_t entries = 0, rows = 0, done = 0;
    block b = {0};
    for (int64_t at = 0, end; at < count; at = end) {
        end = block_end(start, count, at);
        if (start[end] - start[at] > entries) entries = start[end] - start[at];
        if (end - at > rows) rows = end - at;
    }
    IKT_ARRAYS(held, ctx, purpose);
    b.column = ikt_claim(&held, entries, sizeof *b.column);
    b.value = ikt_claim(&held, entries, sizeof *b.value);
    b.edges = ikt_claim(&held, rows, sizeof *b.edges);
    edge *sorting = ikt_claim(&held, ikt_threads(ctx) * l->longest, sizeof *sorting);
    ikt_status st = ikt_arrays_agree(&held);
    while (st == IKT_OK && ikt_max_one(ctx, done < count) > 0) {
        const int64_t end = block_end(start, count, done);
        b.first = l->distribution->first + done;
        b.count = end - done;
        b.start = start + done;
        st = ikt_graph_file_edges(l->file, b.first, b.count, b.start, b.column, b.value);
        if (st != IKT_OK) break;
        st = prepare(l, &b, sorting);
        if (st == IKT_OK) take(l, &b);
        st = ikt_agree(ctx, st);
        done = end;
    }
    return st;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* Notes where the rows of a block begin, and which has too few edges; and weighs them. */
static void weigh_block(loading *l, const block *b) {
    int64_t *start = l->rows.start + l->done;
    const bool has_width =
        l->rule.values == IKT_EDGES_DISTANCES && l->rule.kernel == IKT_WEIGHTS_GAUSSIAN;
    const double least = has_width ? l->rule.perplexity : 1; /* edges of a row */
    for (int64_t i = 0; i < b->count; i++) {
        start[i + 1] = start[i] + b->edges[i];
        l->facts.zero_similarity += b->edges[i] == 0;
        if (b->edges[i] > 0 && (double)b->edges[i] < least && l->least_row < 0)
            l->least_row = l->done + i;
    }
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
}

static void add_probabilities(loading *l, const block *b) {
    for (int64_t i = 0; i < b->count; i++) {
        const double *value = b->value + (b->start[i] - b->start[0]);
        for (int64_t e = 0; e < b->edges[i]; e++)
            ikt_exact_sum_add(&l->total, value[e]);
        l->facts.zero_similarity += b->edges[i] == 0;
    }
}

/* COLLECTIVE. The rows that `take` makes of blocks, and facts of all ranks. */
static ikt_status read_rows(loading *l, void (*take)(loading *l, const block *b)) {
    ikt_context *ctx = l->ctx;
    const int64_t count = l->distribution->count, entries = l->start[count] - l->start[0];
    ikt_directed *rows = &l->rows;
    rows->n_local = count;
    IKT_ARRAYS(held, ctx, "graph");
    rows->start = ikt_claim_kept(&held, count + 1, sizeof *rows->start);
    rows->column = ikt_claim_kept(&held, entries, sizeof *rows->column);
    rows->value = ikt_claim_kept(&held, entries, sizeof *rows->value);
    l->squared = ikt_claim_kept(&held, ikt_threads(ctx) * l->longest, sizeof(float));
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(read_blocks(l, take));
    l->facts.zero_similarity = ikt_sum_one(ctx, l->facts.zero_similarity);
    l->facts.selves = ikt_sum_one(ctx, l->facts.selves);
    l->facts.zeros = ikt_sum_one(ctx, l->facts.zeros);
    if (l->facts.zero_similarity < l->distribution->n) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s has no edges between different rows",
                    ikt_graph_file_name(l->file));
}

/* COLLECTIVE. Weights of the rows that have edges. */
static ikt_status weigh_all(loading *l) {
    ikt_context *ctx = l->ctx;
    const char *name = ikt_graph_file_name(l->file);
    ikt_directed *rows = &l->rows;
    ikt_status st = IKT_OK;
    IKT_TRY(read_rows(l, weigh_block));
    if (l->least_row >= 0) {
        const int64_t *start = rows->start + l->least_row;
        st = ikt_fail(
            ctx, IKT_ERR_DATA,
            "%s, row %lld has %lld distances to others, and gaussian.perplexity = %g needs "
            "as many at least (three times as many are usual); choose a smaller perplexity, "
            "or graph.weights=knn",
            name, (long long)(l->distribution->first + l->least_row),
            (long long)(start[1] - start[0]), l->rule.perplexity);
    }
    IKT_TRY(ikt_agree(ctx, st));
    if (l->rule.values != IKT_EDGES_PROBABILITIES) return IKT_OK;
    return ikt_directed_check_symmetric(ctx, l->distribution, rows, symmetry_tolerance,
                                        1 / l->rule.scale, name);
}

/* --- rows without an edge --------------------------------------------------------------------- */

/* LOCAL. Puts k edges of the same weight into each own row without any, from the last row on, as
 * rows only move towards the end. */
static ikt_status insert(loading *l, const ikt_zero_similarity *all) {
    ikt_directed *rows = &l->rows;
    int64_t first = 0, left = 0; /* own ones among those of all ranks: the first, and how many */
    for (int64_t o = 0; o < all->count; o++) {
        first += all->row[o] < l->distribution->first;
        left += all->row[o] >= l->distribution->first &&
                all->row[o] < l->distribution->first + l->distribution->count;
    }
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

/* --- the whole -------------------------------------------------------------------------------- */

/* COLLECTIVE. The factor that makes probabilities sum to the number of rows that have any: then
 * they are as p_j|i, whose half sums with the transposed ones are P. */
static ikt_status find_scale(loading *l) {
    IKT_TRY(read_blocks(l, add_probabilities));
    ikt_exact_sum_reduce(l->ctx, &l->total, 1);
    const double total = ikt_exact_sum_value(&l->total);
    const int64_t zero_similarity = ikt_sum_one(l->ctx, l->facts.zero_similarity);
    l->facts = (ikt_graph_facts){0, 0, 0}; /* the next pass counts again */
    if (total > 0) l->rule.scale = (double)(l->distribution->n - zero_similarity) / total;
    return IKT_OK;
}

static bool has_none(const loading *l, int64_t i) {
    return l->rows.start[i] == l->rows.start[i + 1];
}

/* COLLECTIVE. Ties rows without an edge to their k nearest rows of the data. */
static ikt_status tie(loading *l, ikt_dataset *data, int64_t k) {
    ikt_context *ctx = l->ctx;
    ikt_zero_similarity all IKT_AT_END(ikt_zero_similarity_destroy) = {0, k, NULL, NULL};
    IKT_ARRAYS(held, ctx, "zero similarity");
    uint8_t *marked = ikt_claim(&held, l->distribution->count, 1);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < l->distribution->count; i++)
        marked[i] = has_none(l, i);
    IKT_TRY(ikt_zero_similarity_find(ctx, data, l->distribution, marked, k, &all));
    IKT_TRY(ikt_agree(ctx, insert(l, &all)));
    ikt_zero_similarity_destroy(&all);
    ikt_arrays_free(&held);
    return ikt_agree(ctx, ikt_directed_sort(ctx, &l->rows));
}

/* COLLECTIVE. */
static ikt_status refuse_zeros(const loading *l) {
    int64_t first = INT64_MAX;
    for (int64_t i = 0; i < l->distribution->count && first == INT64_MAX; i++)
        if (has_none(l, i)) first = l->distribution->first + i;
    ikt_min_i64(l->ctx, &first, 1);
    return ikt_fail(l->ctx, IKT_ERR_DATA,
                    "%s: %lld of %lld rows have no edge to another row, first row %lld; with "
                    "input.file they are tied to their nearest rows there, otherwise leave them "
                    "out of the graph",
                    ikt_graph_file_name(l->file), (long long)l->facts.zero_similarity,
                    (long long)l->distribution->n, (long long)first);
}

ikt_status ikt_directed_load(ikt_context *ctx, const ikt_graph_file *file,
                             const ikt_rows *distribution, const ikt_edge_rule *rule,
                             ikt_dataset *data, int64_t k, ikt_directed *out,
                             ikt_graph_facts *facts) {
    loading l IKT_AT_END(loading_free) = {
        .ctx = ctx, .file = file, .distribution = distribution, .rule = *rule, .least_row = -1};
    *out = (ikt_directed){.start = NULL};
    IKT_TRY(find_starts(&l));
    l.rule.scale = 1;
    if (rule->values == IKT_EDGES_PROBABILITIES) IKT_TRY(find_scale(&l));
    IKT_TRY(weigh_all(&l));
    *facts = l.facts;
    if (facts->zero_similarity > 0) IKT_TRY(data ? tie(&l, data, k) : refuse_zeros(&l));
    return ikt_give(out, l.rows);
}

/* --- the numbers of pairs --------------------------------------------------------------------- */

static void find_most(loading *l, const block *b) {
    for (int64_t i = 0; i < b->count; i++) {
        const double *value = b->value + (b->start[i] - b->start[0]);
        for (int64_t e = 0; e < b->edges[i]; e++)
            l->most = fmax(l->most, value[e]);
    }
}

/* What a number becomes. Distances are divided by a power of two, which changes no digit of what is
 * made of them, before they are squared. */
static float pair_value(const loading *l, double value) {
    if (l->rule.values == IKT_EDGES_NONE) return 1;
    if (l->rule.values != IKT_EDGES_DISTANCES) return fmaxf((float)(value / l->most), FLT_MIN);
    const double part = value / l->rule.scale;
    return (float)(part * part);
}

static void keep_block(loading *l, const block *b) {
    int64_t *start = l->rows.start + l->done;
    for (int64_t i = 0; i < b->count; i++) {
        const int64_t from = b->start[i] - b->start[0];
        start[i + 1] = start[i] + b->edges[i];
        l->facts.zero_similarity += b->edges[i] == 0;
        for (int64_t e = 0; e < b->edges[i]; e++) {
            l->rows.column[start[i] + e] = b->column[from + e];
            l->rows.value[start[i] + e] = pair_value(l, b->value[from + e]);
        }
    }
    l->done += b->count;
}

ikt_status ikt_pairs_load(ikt_context *ctx, const ikt_graph_file *file,
                          const ikt_rows *distribution, ikt_edges values, ikt_directed *out,
                          ikt_graph_facts *facts) {
    int exponent = 0;
    loading l IKT_AT_END(loading_free) = {
        .ctx = ctx, .file = file, .distribution = distribution, .rule = {.values = values}};
    *out = (ikt_directed){.start = NULL};
    IKT_TRY(find_starts(&l));
    IKT_TRY(read_blocks(&l, find_most));
    ikt_max_f64(ctx, &l.most, 1);
    frexp(l.most, &exponent);
    l.rule.scale = l.most > 0 ? ldexp(1, exponent - 1) : 1;
    l.facts = (ikt_graph_facts){0, 0, 0}; /* the next pass counts again */
    IKT_TRY(read_rows(&l, keep_block));
    if (values == IKT_EDGES_PROBABILITIES)
        IKT_TRY(ikt_directed_check_symmetric(ctx, distribution, &l.rows, symmetry_tolerance, l.most,
                                             ikt_graph_file_name(file)));
    *facts = l.facts;
    return ikt_give(out, l.rows);
}

/* --- the checksum ----------------------------------------------------------------------------- */

static void hash_block(loading *l, const block *b) {
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
}

ikt_status ikt_graph_file_hash(ikt_context *ctx, const ikt_graph_file *file,
                               const ikt_rows *distribution, ikt_edges values, uint64_t *hash) {
    loading l IKT_AT_END(loading_free) = {
        .ctx = ctx, .file = file, .distribution = distribution, .rule = {.values = values}};
    IKT_TRY(find_starts(&l));
    IKT_TRY(read_blocks(&l, hash_block));
    *hash = ikt_hash_total(ctx, l.hash);
    return IKT_OK;
}
