/* Blocks of the rows of a graph. See edge_blocks.h. */
#include "graph/edge_blocks.h"

#include <stdlib.h>

#include <omp.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/sort.h"

enum { BLOCK_ENTRIES = 1 << 20 };

static const char purpose[] = "graph file";

typedef struct {
    uint32_t column;
    double value;
} edge;

typedef struct {
    ikt_context *ctx;
    const ikt_graph_file *file;
    const int64_t *start; /* of all own rows */
    const ikt_edge_rule *rule;
    uint32_t *column; /* [room] of a block */
    double *value;
    int64_t *edges;  /* [rows_room] */
    edge *sorting;   /* [threads * longest] */
    int64_t longest; /* row, in entries */
} reader;

static void reader_free(reader *r) {
    ikt_free(&r->column);
    ikt_free(&r->value);
    ikt_free(&r->edges);
    ikt_free(&r->sorting);
}

/* Own rows from `done` on that a block takes: whole ones, at least one. */
static int64_t block_end(const int64_t *start, int64_t count, int64_t done) {
    int64_t end = done;
    while (end < count && start[end + 1] - start[done] <= BLOCK_ENTRIES)
        end++;
    return end == done && done < count ? done + 1 : end;
}

static ikt_status reader_alloc(reader *r, int64_t count) {
    int64_t entries = 0, rows = 0;
    for (int64_t done = 0, end; done < count; done = end) {
        end = block_end(r->start, count, done);
        if (r->start[end] - r->start[done] > entries) entries = r->start[end] - r->start[done];
        if (end - done > rows) rows = end - done;
    }
    for (int64_t i = 0; i < count; i++)
        if (r->start[i + 1] - r->start[i] > r->longest) r->longest = r->start[i + 1] - r->start[i];
    IKT_TRY(ikt_alloc(r->ctx, &r->column, entries, sizeof *r->column, purpose));
    IKT_TRY(ikt_alloc(r->ctx, &r->value, entries, sizeof *r->value, purpose));
    IKT_TRY(ikt_alloc(r->ctx, &r->edges, rows, sizeof *r->edges, purpose));
    return ikt_alloc(r->ctx, &r->sorting, ikt_threads(r->ctx) * r->longest, sizeof *r->sorting,
                     purpose);
}

/* --- one row ---------------------------------------------------------------------------------- */

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

/* Leaves out the row itself and what is no edge; returns how many are left. */
static int64_t keep_edges(const ikt_edge_rule *rule, int64_t row, uint32_t *column, double *value,
                          int64_t count, ikt_graph_facts *facts) {
    const bool keeps_zero = ikt_edges_keep_zero(rule->values);
    int64_t kept = 0;
    for (int64_t e = 0; e < count; e++) {
        const bool is_self = column[e] == row, is_zero = value[e] == 0 && !keeps_zero;
        facts->selves += is_self;
        facts->zeros += is_zero && !is_self;
        if (is_self || is_zero) continue;
        column[kept] = column[e];
        value[kept++] = value[e];
    }
    return kept;
}

/* Entry of the sorted row that cannot be; -1 where all can. */
static int64_t find_bad(const ikt_edge_rule *rule, const uint32_t *column, const double *value,
                        int64_t count) {
    for (int64_t e = 0; e < count; e++)
        if ((e > 0 && column[e] == column[e - 1]) ||
            (value[e] < 0 && rule->values != IKT_EDGES_NONE))
            return e;
    return -1;
}

static ikt_status refuse(const reader *r, int64_t row, const uint32_t *column, const double *value,
                         int64_t e) {
    const char *name = ikt_graph_file_name(r->file);
    if (e > 0 && column[e] == column[e - 1])
        return ikt_fail(r->ctx, IKT_ERR_DATA,
                        "%s, row %lld, column %lld: two entries in one place; scipy's "
                        ".sum_duplicates() adds them up",
                        name, (long long)row, (long long)column[e]);
    return ikt_fail(r->ctx, IKT_ERR_DATA,
                    "%s, row %lld, column %lld: %g is negative, which neither a similarity nor a "
                    "distance can be",
                    name, (long long)row, (long long)column[e], value[e]);
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* LOCAL. Sorts, checks and thins the rows of a block that was read. */
static ikt_status prepare(reader *r, const ikt_edge_block *b, ikt_graph_facts *facts) {
    int64_t bad_row = INT64_MAX, selves = 0, zeros = 0;
#pragma omp parallel for schedule(dynamic, 64) num_threads(ikt_threads(r->ctx))                    \
    reduction(+ : selves, zeros) reduction(min : bad_row)
    for (int64_t i = 0; i < b->count; i++) {
        const int64_t at = b->start[i] - b->start[0], count = b->start[i + 1] - b->start[i];
        ikt_graph_facts mine = {0, 0, 0};
        sort_row(b->column + at, b->value + at, count,
                 r->sorting + omp_get_thread_num() * r->longest);
        if (find_bad(r->rule, b->column + at, b->value + at, count) >= 0) {
            if (i < bad_row) bad_row = i;
            continue;
        }
        r->edges[i] =
            keep_edges(r->rule, b->first + i, b->column + at, b->value + at, count, &mine);
        selves += mine.selves;
        zeros += mine.zeros;
    }
    facts->selves += selves;
    facts->zeros += zeros;
    if (bad_row == INT64_MAX) return IKT_OK;
    const int64_t at = b->start[bad_row] - b->start[0];
    const int64_t count = b->start[bad_row + 1] - b->start[bad_row];
    return refuse(r, b->first + bad_row, b->column + at, b->value + at,
                  find_bad(r->rule, b->column + at, b->value + at, count));
}

ikt_status ikt_edge_blocks_read(ikt_context *ctx, const ikt_graph_file *file, const ikt_rows *rows,
                                const int64_t *start, const ikt_edge_rule *rule,
                                ikt_graph_facts *facts,
                                ikt_status (*take)(void *self, const ikt_edge_block *block),
                                void *self) {
    reader r = {.ctx = ctx, .file = file, .start = start, .rule = rule};
    ikt_status st = ikt_agree(ctx, reader_alloc(&r, rows->count));
    int64_t done = 0;
    while (st == IKT_OK && ikt_max_one(ctx, done < rows->count) > 0) {
        const int64_t end = block_end(start, rows->count, done);
        const ikt_edge_block b = {rows->first + done, end - done, start + done, r.edges,
                                  r.column,           r.value};
        st = ikt_graph_file_edges(file, b.first, b.count, b.start, b.column, b.value);
        ikt_status mine = IKT_OK;
        if (st == IKT_OK) mine = prepare(&r, &b, facts);
        if (st == IKT_OK && mine == IKT_OK) mine = take(self, &b);
        if (st == IKT_OK) st = ikt_agree(ctx, mine);
        done = end;
    }
    reader_free(&r);
    return st;
}
