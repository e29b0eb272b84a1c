/* Sparse rows in groups of sixteen. See sparse_pack.h. */
#include "metric/sparse_pack.h"

#include "base/memory.h"
#include "base/sort.h"

enum { LANES = 16 };

static const char purpose[] = "sparse rows";

/* Entries of the rows of a group, which stand one behind the other. */
static int64_t group_begin(const ikt_sparse *rows, int64_t group) {
    const int64_t row = group * LANES;
    return rows->start[row < rows->count ? row : rows->count];
}

/* The columns of a group, each once, to `column`. Returns how many. */
static int64_t join_columns(const ikt_sparse *rows, int64_t group, int32_t *column) {
    const int64_t begin = group_begin(rows, group), end = group_begin(rows, group + 1);
    for (int64_t e = begin; e < end; e++)
        column[e - begin] = rows->column[e];
    return ikt_sort_distinct_i32(column, end - begin);
}

static void place_values(const ikt_sparse *rows, int64_t group, ikt_sparse_pack *pack) {
    const int32_t *column = pack->column + pack->first[group];
    float *value = pack->value + pack->first[group] * LANES;
    for (int64_t l = 0; l < LANES && group * LANES + l < rows->count; l++) {
        const ikt_sparse_row row = ikt_sparse_row_of(rows, group * LANES + l);
        for (int64_t e = 0, at = 0; e < row.count; e++, at++) {
            while (column[at] != row.column[e])
                at++;
            value[at * LANES + l] = row.value[e];
        }
    }
}

static ikt_status create(ikt_context *ctx, const ikt_sparse *rows, ikt_sparse_pack *pack) {
    const int64_t entries = rows->start[rows->count];
    IKT_TRY(ikt_alloc(ctx, &pack->first, pack->groups + 1, sizeof *pack->first, purpose));
    IKT_TRY(ikt_alloc(ctx, &pack->column, entries, sizeof *pack->column, purpose));
    for (int64_t g = 0; g < pack->groups; g++)
        pack->first[g + 1] = pack->first[g] + join_columns(rows, g, pack->column + pack->first[g]);
    const int64_t columns = pack->first[pack->groups];
    IKT_TRY(ikt_alloc(ctx, &pack->value, columns * LANES, sizeof *pack->value, purpose));
    for (int64_t g = 0; g < pack->groups; g++)
        place_values(rows, g, pack);
    return IKT_OK;
}

ikt_status ikt_sparse_pack_create(ikt_context *ctx, const ikt_sparse *rows, ikt_sparse_pack *out) {
    *out = (ikt_sparse_pack){.count = rows->count, .groups = (rows->count + LANES - 1) / LANES};
    ikt_status st = create(ctx, rows, out);
    if (st != IKT_OK) ikt_sparse_pack_destroy(out);
    return st;
}

void ikt_sparse_pack_destroy(ikt_sparse_pack *pack) {
    ikt_free(&pack->first);
    ikt_free(&pack->column);
    ikt_free(&pack->value);
    pack->count = pack->groups = 0;
}

int64_t ikt_sparse_pack_bytes(int64_t rows, int64_t entries) {
    return (rows / LANES + 2) * 8 + entries * (4 + 4 * LANES);
}
