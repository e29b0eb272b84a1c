/* A block of sparse rows. See sparse_block.h. */
#include "io/numbers/sparse_block.h"

#include "base/memory.h"

static int64_t grown(int64_t room, int64_t needed) {
    const int64_t twice = room < INT64_MAX / 2 ? 2 * room : room;
    return twice > needed ? twice : needed;
}

ikt_status ikt_sparse_block_room(ikt_context *ctx, ikt_sparse_block *block, int64_t rows,
                                 int64_t entries) {
    const int64_t all_rows = block->rows + rows, all_entries = block->entries + entries;
    if (all_rows > block->row_room) {
        const int64_t room = grown(block->row_room, all_rows);
        IKT_TRY(ikt_resize(ctx, &block->ends, room, sizeof *block->ends, "blocks"));
        IKT_TRY(ikt_resize(ctx, &block->labels, room, sizeof *block->labels, "blocks"));
        block->row_room = room;
    }
    if (all_entries > block->entry_room) {
        const int64_t room = grown(block->entry_room, all_entries);
        IKT_TRY(ikt_resize(ctx, &block->columns, room, sizeof *block->columns, "blocks"));
        IKT_TRY(ikt_resize(ctx, &block->values, room, sizeof *block->values, "blocks"));
        block->entry_room = room;
    }
    return IKT_OK;
}

void ikt_sparse_block_clear(ikt_sparse_block *block) {
    block->rows = block->entries = 0;
}

void ikt_sparse_block_free(ikt_sparse_block *block) {
    ikt_free(&block->ends);
    ikt_free(&block->columns);
    ikt_free(&block->values);
    ikt_free(&block->labels);
    *block = (ikt_sparse_block){0};
}

int64_t ikt_sparse_block_first(const ikt_sparse_block *block, int64_t row) {
    return row > 0 ? block->ends[row - 1] : 0;
}

static void swap(int64_t *columns, double *values, int64_t a, int64_t b) {
    const int64_t column = columns[a];
    const double value = values[a];
    columns[a] = columns[b];
    values[a] = values[b];
    columns[b] = column;
    values[b] = value;
}

static void sift(int64_t *columns, double *values, int64_t at, int64_t count) {
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && columns[child + 1] > columns[child]) child++;
        if (columns[child] <= columns[at]) return;
        swap(columns, values, at, child);
        at = child;
    }
}

/* Heapsort: two arrays move together, in place, and no order of theirs makes it slow. */
static void sort_row(int64_t *columns, double *values, int64_t count) {
    for (int64_t at = count / 2; at-- > 0;)
        sift(columns, values, at, count);
    for (int64_t last = count - 1; last > 0; last--) {
        swap(columns, values, 0, last);
        sift(columns, values, 0, last);
    }
}

static bool ascends(const int64_t *columns, int64_t count) {
    for (int64_t e = 1; e < count; e++)
        if (columns[e] <= columns[e - 1]) return false;
    return true;
}

int64_t ikt_sparse_block_sort(ikt_sparse_block *block) {
    int64_t twice = -1;
    for (int64_t row = 0; row < block->rows; row++) {
        const int64_t first = ikt_sparse_block_first(block, row), count = block->ends[row] - first;
        int64_t *columns = block->columns + first;
        if (ascends(columns, count)) continue;
        sort_row(columns, block->values + first, count);
        if (twice < 0 && !ascends(columns, count)) twice = row;
    }
    return twice;
}

void ikt_sparse_block_merge(ikt_sparse_block *block) {
    if (ikt_sparse_block_sort(block) < 0) return;
    int64_t kept = 0, first = 0;
    for (int64_t row = 0; row < block->rows; row++) {
        const int64_t start = kept, end = block->ends[row];
        for (int64_t e = first; e < end; e++) {
            if (kept > start && block->columns[kept - 1] == block->columns[e]) {
                block->values[kept - 1] += block->values[e];
                continue;
            }
            block->columns[kept] = block->columns[e];
            block->values[kept++] = block->values[e];
        }
        block->ends[row] = kept;
        first = end;
    }
    block->entries = kept;
}
