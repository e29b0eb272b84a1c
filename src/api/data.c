/* Data in the memory of a program: what it describes, and sources on its arrays. */
#include <string.h>

#include "api/api.h"
#include "base/comm.h"
#include "base/memory.h"

ikt_status ikt_data_create(ikt_context *ctx, int64_t count, ikt_data **out) {
    *out = NULL;
    ikt_clear(ctx);
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "data"));
    (*out)->count = count;
    return IKT_OK;
}

void ikt_data_destroy(ikt_data **data) {
    ikt_free(data);
}

void ikt_data_rows(ikt_data *data, const void *rows, int64_t columns, ikt_type type) {
    data->has_rows = true;
    data->rows = rows;
    data->columns = columns;
    data->type = type;
}

static ikt_csr_arrays arrays_of(const ikt_data *data, const void *start, const void *column,
                                ikt_index index, const void *value, ikt_type type) {
    return (ikt_csr_arrays){data->count, start, column, value, index, type};
}

void ikt_data_sparse(ikt_data *data, const void *start, const void *column, ikt_index index,
                     const void *value, ikt_type type, int64_t columns) {
    data->has_sparse = true;
    data->sparse = arrays_of(data, start, column, index, value, type);
    data->columns = columns;
}

void ikt_data_graph(ikt_data *data, const void *start, const void *column, ikt_index index,
                    const void *value, ikt_type type) {
    data->has_graph = true;
    data->graph = arrays_of(data, start, column, index, value, type);
}

void ikt_data_pairs(ikt_data *data, const void *values, ikt_type type) {
    data->has_pairs = true;
    data->pairs = values;
    data->pairs_type = type;
}

void ikt_data_labels(ikt_data *data, const int64_t *labels) {
    data->labels = labels;
}

void ikt_data_start(ikt_data *data, const void *positions, int64_t dimensions, ikt_type type) {
    data->has_start = true;
    data->start = positions;
    data->dimensions = dimensions;
    data->start_type = type;
}

/* --- as sources ------------------------------------------------------------------------------- */

/* COLLECTIVE. Ranks that do not describe the same would wait for each other for ever. */
static ikt_status check_same(ikt_context *ctx, const ikt_data *data) {
    const int64_t kinds = data->has_rows + 2 * data->has_sparse + 4 * data->has_graph +
                          8 * data->has_pairs + 16 * data->has_start;
    int64_t most[] = {kinds, -kinds, data->count < 0};
    ikt_max_i64(ctx, most, 3);
    if (most[2] > 0)
        return ikt_fail(ctx, IKT_ERR_USAGE, "a rank gives fewer than 0 rows, which are no rows");
    if (most[0] != -most[1])
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "the ranks do not give the same kinds of data: each describes rows, a graph "
            "or a start, also where it has no rows");
    if (ikt_max_one(ctx, data->has_sparse && data->columns > INT32_MAX) > 0)
        return ikt_fail(ctx, IKT_ERR_USAGE, "sparse rows have fewer than 2^31 columns");
    if (data->has_rows && data->has_sparse)
        return ikt_fail(ctx, IKT_ERR_USAGE, "rows are given twice, dense and sparse");
    if (data->has_graph && data->has_pairs)
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "a sparse graph and a matrix of all pairs are given: one of both is enough");
    return IKT_OK;
}

ikt_status ikt_data_open(ikt_context *ctx, const ikt_data *data, ikt_data_sources *out) {
    *out = (ikt_data_sources){.rows = NULL};
    if (!data) return IKT_OK;
    IKT_TRY(check_same(ctx, data));
    const int64_t count = data->count, n = out->n = ikt_sum_one(ctx, count);
    const int64_t *labels = data->labels;
    if (n == 0) return ikt_fail(ctx, IKT_ERR_DATA, "no rank gives any rows");
    if (data->has_rows)
        IKT_TRY(ikt_source_from_rows(ctx, data->rows, labels, count, data->columns, data->type,
                                     &out->rows));
    if (data->has_sparse)
        IKT_TRY(ikt_source_from_csr(ctx, &data->sparse, labels, data->columns, &out->rows));
    if (data->has_graph)
        IKT_TRY(ikt_source_from_csr(ctx, &data->graph, labels, n, &out->lent.graph));
    if (data->has_pairs)
        IKT_TRY(ikt_source_from_rows(ctx, data->pairs, labels, count, n, data->pairs_type,
                                     &out->lent.pairs));
    if (data->has_start)
        IKT_TRY(ikt_source_from_rows(ctx, data->start, NULL, count, data->dimensions,
                                     data->start_type, &out->lent.start));
    return IKT_OK;
}

void ikt_data_close(ikt_data_sources *sources) {
    ikt_source_close(&sources->rows);
    ikt_source_close(&sources->lent.graph);
    ikt_source_close(&sources->lent.pairs);
    ikt_source_close(&sources->lent.start);
}
