/* From directed weights to the symmetric P.
 *
 * Method: every weight p_j|i is an entry of row i and, transposed, of row j. The transposed ones
 * travel to the owner of row j; each row then sorts its entries by column and adds the at most two
 * that share one. Advantage: the sum of two floats commutes, so nothing depends on who sent first.
 * Disadvantage: all transposed entries are in memory at once. */
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "graph/graph.h"

typedef struct {
    int64_t column; /* global row number */
    int32_t row;    /* local number on the owner of the row */
    float value;
} entry;

/* Entries to be exchanged and where they go. */
typedef struct {
    int64_t *send_counts, *recv_counts; /* [ranks] */
    entry *sent, *received;
    int64_t n_sent, n_received;
} transposed;

static void transposed_free(transposed *t) {
    ikt_free(&t->send_counts);
    ikt_free(&t->recv_counts);
    ikt_free(&t->sent);
    ikt_free(&t->received);
}

static ikt_status count_sends(ikt_context *ctx, const ikt_row_map *map, const ikt_neighbours *lists,
                              const float *weight, transposed *t) {
    int size = ikt_size(ctx);
    ikt_status st = ikt_alloc(ctx, &t->send_counts, size, sizeof *t->send_counts, "symmetrise");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &t->recv_counts, size, sizeof *t->recv_counts, "symmetrise");
    IKT_TRY(ikt_agree(ctx, st));
    for (int64_t e = 0; e < lists->n_local * lists->k; e++)
        if (weight[e] > 0) t->send_counts[ikt_row_map_owner(map, lists->row[e])]++;
    ikt_exchange_counts(ctx, t->send_counts, t->recv_counts);
    for (int r = 0; r < size; r++) {
        t->n_sent += t->send_counts[r];
        t->n_received += t->recv_counts[r];
    }
    return IKT_OK;
}

static void fill_sends(const ikt_row_map *map, const ikt_neighbours *lists, const float *weight,
                       int64_t *place, entry *sent) {
    for (int64_t i = 0; i < lists->n_local; i++)
        for (int64_t e = i * lists->k; e < (i + 1) * lists->k; e++) {
            if (!(weight[e] > 0)) continue;
            int owner = ikt_row_map_owner(map, lists->row[e]);
            int64_t local = lists->row[e] - ikt_row_map_first(map, owner);
            sent[place[owner]++] = (entry){map->first + i, (int32_t)local, weight[e]};
        }
}

static ikt_status exchange(ikt_context *ctx, const ikt_row_map *map, const ikt_neighbours *lists,
                           const float *weight, transposed *t) {
    int64_t *place = NULL;
    ikt_status st = ikt_alloc(ctx, &t->sent, t->n_sent, sizeof *t->sent, "symmetrise");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &t->received, t->n_received, sizeof *t->received, "symmetrise");
    if (st == IKT_OK) st = ikt_alloc(ctx, &place, ikt_size(ctx), sizeof *place, "symmetrise");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        for (int r = 1; r < ikt_size(ctx); r++)
            place[r] = place[r - 1] + t->send_counts[r - 1];
        fill_sends(map, lists, weight, place, t->sent);
        ikt_exchange(ctx, t->sent, t->send_counts, t->received, t->recv_counts, sizeof *t->sent);
        ikt_free(&t->sent);
    }
    ikt_free(&place);
    return st;
}

static int by_column(const void *a, const void *b) {
    int64_t x = ((const entry *)a)->column, y = ((const entry *)b)->column;
    return (x > y) - (x < y);
}

/* Sorts each row's entries and merges pairs; returns the entries left in each row in `kept`. */
static void merge_rows(ikt_context *ctx, int64_t n_local, const int64_t *start, entry *entries,
                       int64_t *kept) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < n_local; i++) {
        entry *row = entries + start[i];
        int64_t count = start[i + 1] - start[i], last = -1;
        qsort(row, (size_t)count, sizeof *row, by_column);
        for (int64_t e = 0; e < count; e++) {
            if (last >= 0 && row[last].column == row[e].column)
                row[last].value += row[e].value;
            else
                row[++last] = row[e];
        }
        kept[i] = last + 1;
    }
}

/* Own and received entries side by side, grouped by row: start[n_local + 1] and entries. */
static void group(const ikt_row_map *map, const ikt_neighbours *lists, const float *weight,
                  const transposed *t, int64_t *start, entry *entries) {
    int64_t n_local = map->count, k = lists->k;
    for (int64_t e = 0; e < n_local * k; e++)
        start[e / k + 1] += weight[e] > 0;
    for (int64_t e = 0; e < t->n_received; e++)
        start[t->received[e].row + 1]++;
    for (int64_t i = 0; i < n_local; i++)
        start[i + 1] += start[i];
    for (int64_t e = 0; e < n_local * k; e++)
        if (weight[e] > 0)
            entries[start[e / k]++] = (entry){lists->row[e], (int32_t)(e / k), weight[e]};
    for (int64_t e = 0; e < t->n_received; e++)
        entries[start[t->received[e].row]++] = t->received[e];
    for (int64_t i = n_local; i > 0; i--)
        start[i] = start[i - 1]; /* the fill moved them on */
    start[0] = 0;
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int is_foreign(const ikt_row_map *map, int64_t row) {
    return row < map->first || row >= map->first + map->count;
}

/* Lists the foreign columns once each, ascending. */
static ikt_status find_ghosts(ikt_context *ctx, ikt_graph *graph, const int64_t *start,
                              const int64_t *kept, const entry *entries) {
    int64_t foreign = 0, unique = 0;
    for (int64_t i = 0; i < graph->map.count; i++)
        for (int64_t e = start[i]; e < start[i] + kept[i]; e++)
            foreign += is_foreign(&graph->map, entries[e].column);
    IKT_TRY(ikt_alloc(ctx, &graph->ghost_row, foreign, sizeof *graph->ghost_row, "graph"));
    int64_t *ghost = graph->ghost_row, found = 0;
    for (int64_t i = 0; i < graph->map.count; i++)
        for (int64_t e = start[i]; e < start[i] + kept[i]; e++)
            if (is_foreign(&graph->map, entries[e].column)) ghost[found++] = entries[e].column;
    qsort(ghost, (size_t)foreign, sizeof *ghost, by_number);
    for (int64_t g = 0; g < foreign; g++)
        if (g == 0 || ghost[g] != ghost[g - 1]) ghost[unique++] = ghost[g];
    graph->n_ghost = unique;
    if (graph->map.count + unique > INT32_MAX)
        return ikt_fail(ctx, IKT_ERR_RESOURCE,
                        "rank %d would hold %lld rows and boundary rows, more than 2^31: use more "
                        "ranks",
                        ikt_rank(ctx), (long long)(graph->map.count + unique));
    return ikt_resize(ctx, &graph->ghost_row, unique, sizeof *graph->ghost_row, "graph");
}

static int32_t local_column(const ikt_graph *graph, int64_t row) {
    if (!is_foreign(&graph->map, row)) return (int32_t)(row - graph->map.first);
    const int64_t *found = bsearch(&row, graph->ghost_row, (size_t)graph->n_ghost,
                                   sizeof *graph->ghost_row, by_number);
    return (int32_t)(graph->map.count + (found - graph->ghost_row));
}

/* Copies the merged rows into the final compact arrays. */
static ikt_status compact(ikt_context *ctx, ikt_graph *graph, const int64_t *start,
                          const int64_t *kept, const entry *entries) {
    int64_t n_local = graph->map.count;
    IKT_TRY(ikt_alloc(ctx, &graph->start, n_local + 1, sizeof *graph->start, "graph"));
    for (int64_t i = 0; i < n_local; i++)
        graph->start[i + 1] = graph->start[i] + kept[i];
    int64_t total = graph->start[n_local];
    IKT_TRY(ikt_alloc(ctx, &graph->column, total, sizeof *graph->column, "graph"));
    IKT_TRY(ikt_alloc(ctx, &graph->value, total, sizeof *graph->value, "graph"));
    double scale = 1.0 / (2.0 * (double)graph->map.n);
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < n_local; i++)
        for (int64_t e = 0; e < kept[i]; e++) {
            const entry *from = &entries[start[i] + e];
            graph->column[graph->start[i] + e] = local_column(graph, from->column);
            graph->value[graph->start[i] + e] = (float)(scale * (double)from->value);
        }
    return IKT_OK;
}

static ikt_status build(ikt_context *ctx, const ikt_neighbours *lists, const float *weight,
                        const transposed *t, ikt_graph *graph) {
    int64_t n_local = graph->map.count, *start = NULL, *kept = NULL;
    entry *entries = NULL;
    ikt_status st = ikt_alloc(ctx, &start, n_local + 1, sizeof *start, "symmetrise");
    if (st == IKT_OK) st = ikt_alloc(ctx, &kept, n_local, sizeof *kept, "symmetrise");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &entries, n_local * lists->k + t->n_received, sizeof *entries,
                       "symmetrise");
    if (st == IKT_OK) {
        group(&graph->map, lists, weight, t, start, entries);
        merge_rows(ctx, n_local, start, entries, kept);
        st = find_ghosts(ctx, graph, start, kept, entries);
    }
    if (st == IKT_OK) st = compact(ctx, graph, start, kept, entries);
    ikt_free(&start);
    ikt_free(&kept);
    ikt_free(&entries);
    return ikt_agree(ctx, st);
}

ikt_status ikt_graph_symmetrise(ikt_context *ctx, const ikt_row_map *map,
                                const ikt_neighbours *lists, const float *weight, ikt_graph *out) {
    memset(out, 0, sizeof *out);
    out->map = *map;
    transposed t = {0};
    ikt_status st = count_sends(ctx, map, lists, weight, &t);
    if (st == IKT_OK) st = exchange(ctx, map, lists, weight, &t);
    if (st == IKT_OK) st = build(ctx, lists, weight, &t, out);
    transposed_free(&t);
    if (st != IKT_OK) ikt_graph_destroy(out);
    return st;
}

void ikt_graph_destroy(ikt_graph *graph) {
    ikt_free(&graph->start);
    ikt_free(&graph->column);
    ikt_free(&graph->value);
    ikt_free(&graph->ghost_row);
    graph->n_ghost = 0;
}
