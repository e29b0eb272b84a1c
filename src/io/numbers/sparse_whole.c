/* A sparse matrix brought into rows in memory. See sparse_block.h. */
#include "io/numbers/sparse_block.h"

#include <string.h>

#include "base/memory.h"

/* Rows take memory, whether they have entries or not, and only a number in the file tells of them.
 */
static const int64_t rows_an_entry = 1000;

static ikt_status check_starts(ikt_context *ctx, const ikt_sparse_places *p) {
    bool good = p->column_starts[0] == 0 && p->column_starts[p->d] == p->entries;
    for (int64_t column = 0; column < p->d && good; column++)
        good = p->column_starts[column] <= p->column_starts[column + 1];
    if (good) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s: where its columns begin (indptr) does not ascend from 0 to the %lld "
                    "entries: is it damaged?",
                    p->path, (long long)p->entries);
}

static ikt_status check_places(ikt_context *ctx, const ikt_sparse_places *p) {
    if (p->n / rows_an_entry > p->entries + rows_an_entry)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s announces %lld rows for %lld entries: is it damaged?", p->path,
                        (long long)p->n, (long long)p->entries);
    if (p->column_starts) IKT_TRY(check_starts(ctx, p));
    for (int64_t e = 0; e < p->entries; e++) {
        const int64_t column = p->columns ? p->columns[e] : 0;
        if (p->rows[e] < 0 || p->rows[e] >= p->n || column < 0 || column >= p->d)
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "%s: entry %lld stands in row %lld, column %lld of a matrix of %lld x "
                            "%lld (counted from 0)",
                            p->path, (long long)e, (long long)p->rows[e], (long long)column,
                            (long long)p->n, (long long)p->d);
    }
    return IKT_OK;
}

static ikt_status check_memory(ikt_context *ctx, const ikt_sparse_places *p) {
    const ikt_memory_room room = ikt_memory_left(ctx);
    const double need = 16.0 * (double)p->entries + 20.0 * (double)p->n;
    if (need <= (double)room.bytes) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "%s: bringing %lld entries into %lld rows takes %.3g GB; %s leaves %.3g GB",
                    p->path, (long long)p->entries, (long long)p->n, need / 1e9, room.limit,
                    (double)room.bytes / 1e9);
}

/* Puts the entries where they belong; ends[row] is where the next of the row goes, and in the end
 * the end of the row. */
static void place(const ikt_sparse_places *p, ikt_sparse_block *whole) {
    for (int64_t e = 0; e < p->entries; e++)
        whole->ends[p->rows[e]]++;
    for (int64_t row = 0, before = 0; row < p->n; row++) {
        const int64_t count = whole->ends[row];
        whole->ends[row] = before;
        before += count;
    }
    for (int64_t e = 0, column = 0; e < p->entries; e++) {
        while (p->column_starts && p->column_starts[column + 1] <= e)
            column++;
        const int64_t to = whole->ends[p->rows[e]]++;
        whole->columns[to] = p->columns ? p->columns[e] : column;
        whole->values[to] = p->values[e];
    }
}

ikt_status ikt_sparse_whole(ikt_context *ctx, const ikt_sparse_places *p, ikt_sparse_block *whole) {
    IKT_TRY(check_places(ctx, p));
    IKT_TRY(check_memory(ctx, p));
    IKT_TRY(ikt_sparse_block_room(ctx, whole, p->n, p->entries));
    memset(whole->ends, 0, (size_t)p->n * sizeof *whole->ends);
    place(p, whole);
    whole->rows = p->n;
    whole->entries = p->entries;
    ikt_sparse_block_merge(whole);
    return IKT_OK;
}

ikt_status ikt_sparse_whole_read(ikt_context *ctx, const ikt_sparse_block *whole, int64_t first,
                                 int64_t rows, int64_t entries, ikt_sparse_block *block) {
    const int64_t from = ikt_sparse_block_first(whole, first);
    int64_t count = 0;
    while (count < rows && (count == 0 || whole->ends[first + count - 1] - from < entries))
        count++;
    const int64_t now = count > 0 ? whole->ends[first + count - 1] - from : 0;
    IKT_TRY(ikt_sparse_block_room(ctx, block, count, now));
    for (int64_t row = 0; row < count; row++)
        block->ends[block->rows + row] = block->entries + whole->ends[first + row] - from;
    if (now > 0) {
        memcpy(block->columns + block->entries, whole->columns + from,
               (size_t)now * sizeof *whole->columns);
        memcpy(block->values + block->entries, whole->values + from,
               (size_t)now * sizeof *whole->values);
    }
    block->rows += count;
    block->entries += now;
    return IKT_OK;
}
