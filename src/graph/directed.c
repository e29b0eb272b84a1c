/* Directed weights by rows. See directed.h. */
#include "graph/directed.h"

#include <string.h>

#include <omp.h>

#include "base/memory.h"
#include "base/sort.h"

ikt_status ikt_directed_from_lists(ikt_context *ctx, ikt_neighbours *lists, ikt_directed *out) {
    const int64_t k = lists->k;
    int64_t kept = 0;
    *out = (ikt_directed){lists->n_local, NULL, lists->row, lists->score};
    lists->row = NULL;
    lists->score = NULL;
    ikt_status st = ikt_alloc(ctx, &out->start, out->n_local + 1, sizeof *out->start, "graph");
    if (st != IKT_OK) {
        ikt_directed_destroy(out);
        return st;
    }
    for (int64_t i = 0; i < out->n_local; i++) {
        out->start[i] = kept;
        for (int64_t e = i * k; e < (i + 1) * k; e++) {
            if (!(out->value[e] > 0)) continue;
            out->column[kept] = out->column[e];
            out->value[kept++] = out->value[e];
        }
    }
    out->start[out->n_local] = kept;
    return IKT_OK;
}

/* Sorts the entries of one row by column; columns are distinct.
 *   key   [count] room: column and value in one number */
static void sort_entries(uint32_t *column, float *value, int64_t count, uint64_t *key) {
    for (int64_t e = 0; e < count; e++) {
        uint32_t bits;
        memcpy(&bits, &value[e], sizeof bits);
        key[e] = (uint64_t)column[e] << 32 | bits;
    }
    ikt_pairs_sort(key, count);
    for (int64_t e = 0; e < count; e++) {
        uint32_t bits = (uint32_t)key[e];
        memcpy(&value[e], &bits, sizeof bits);
        column[e] = (uint32_t)(key[e] >> 32);
    }
}

ikt_status ikt_directed_sort(ikt_context *ctx, const ikt_directed *rows) {
    const int64_t *start = rows->start, threads = ikt_threads(ctx);
    int64_t longest = 0;
    uint64_t *keys = NULL;
    for (int64_t i = 0; i < rows->n_local; i++)
        if (start[i + 1] - start[i] > longest) longest = start[i + 1] - start[i];
    IKT_TRY(ikt_alloc(ctx, &keys, threads * longest, sizeof *keys, "symmetrise"));
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads)
    for (int64_t i = 0; i < rows->n_local; i++)
        sort_entries(rows->column + start[i], rows->value + start[i], start[i + 1] - start[i],
                     keys + omp_get_thread_num() * longest);
    ikt_free(&keys);
    return IKT_OK;
}

void ikt_directed_destroy(ikt_directed *rows) {
    ikt_free(&rows->start);
    ikt_free(&rows->column);
    ikt_free(&rows->value);
    rows->n_local = 0;
}
