/* Rows of a data set: what all sources share. See source.h. */
#include "io/sources/source.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/sources/source_ops.h"

ikt_status ikt_source_new(ikt_context *ctx, const ikt_source_ops *ops, const char *format,
                          const char *file, const char *dataset, ikt_source **out) {
    const size_t length = strlen(file) + strlen(dataset) + 3;
    ikt_source *source = NULL;
    ikt_status st = ikt_alloc(ctx, &source, 1, sizeof *source, "source");
    if (st == IKT_OK) st = ikt_alloc(ctx, &source->name, (int64_t)length, 1, "source");
    if (st == IKT_OK) st = ikt_alloc(ctx, &source->self, (int64_t)ops->self_bytes, 1, "source");
    if (st == IKT_OK) {
        source->ctx = ctx;
        source->format = format;
        snprintf(source->name, length, "%s%s%s%s", file, dataset[0] ? ":" : "",
                 dataset[0] && dataset[0] != '/' ? "/" : "", dataset);
    }
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        source->ops = ops;
    else
        ikt_source_close(&source);
    *out = source;
    return st;
}

void ikt_source_close(ikt_source **source) {
    if (!*source) return;
    if ((*source)->ops && (*source)->ops->close) (*source)->ops->close(*source);
    ikt_free(&(*source)->self);
    ikt_free(&(*source)->name);
    ikt_free(&(*source)->label_names);
    ikt_free(source);
}

bool ikt_source_is_any(const char *dataset) {
    return strcmp(dataset, IKT_DATASET_AUTO) == 0 || strcmp(dataset, "X") == 0 ||
           strcmp(dataset, "/X") == 0;
}

ikt_status ikt_source_use_rows(ikt_source *source, int64_t rows) {
    source->n = rows > 0 ? rows : source->n_file;
    if (source->n_file == 0 || source->d == 0)
        return ikt_fail(source->ctx, IKT_ERR_DATA, "%s is empty (%lld x %lld)", source->name,
                        (long long)source->n_file, (long long)source->d);
    if (!source->sparse &&
        (source->n_file < 0 || source->d < 0 || source->d > (INT64_MAX >> 4) / source->n_file))
        return ikt_fail(source->ctx, IKT_ERR_DATA,
                        "%s announces %lld rows of %lld columns, which is more than any file "
                        "holds: is it damaged?",
                        source->name, (long long)source->n_file, (long long)source->d);
    if (source->n > source->n_file)
        return ikt_fail(source->ctx, IKT_ERR_USAGE, "input.rows = %lld, but %s has only %lld rows",
                        (long long)source->n, source->name, (long long)source->n_file);
    return IKT_OK;
}

int64_t ikt_source_rows(const ikt_source *source) {
    return source->n;
}

int64_t ikt_source_columns(const ikt_source *source) {
    return source->d;
}

ikt_type ikt_source_type(const ikt_source *source) {
    return source->type;
}

const char *ikt_source_name(const ikt_source *source) {
    return source->name;
}

bool ikt_source_is_sparse(const ikt_source *source) {
    return source->sparse;
}

ikt_type ikt_source_stored_type(const ikt_source *source) {
    return source->stored;
}

const char *ikt_source_missing(const ikt_source *source) {
    return source->missing;
}

int64_t ikt_source_entries(const ikt_source *source) {
    return source->entries;
}

int64_t ikt_source_longest_row(const ikt_source *source) {
    return source->longest;
}

int64_t ikt_source_block_rows(const ikt_source *source) {
    return source->block;
}

ikt_status ikt_source_read_sparse(ikt_source *source, int64_t first, int64_t count,
                                  ikt_sparse_rows *rows) {
    return source->ops->read_sparse(source, first, count, rows);
}

ikt_status ikt_source_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    if (!source->sparse) return source->ops->read(source, first, count, rows);
    const int64_t most = source->block, d = source->d; /* dense rows of sparse ones, by blocks */
    const int64_t steps = ikt_max_one(source->ctx, (count + most - 1) / most);
    ikt_sparse_rows block = {0};
    ikt_status st = IKT_OK;
    if (count > 0) memset(rows, 0, (size_t)(count * d) * ikt_type_size(source->type));
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const int64_t done = step * most < count ? step * most : count;
        const int64_t now = count - done < most ? count - done : most;
        st = ikt_source_read_sparse(source, now > 0 ? first + done : 0, now, &block);
        for (int64_t i = 0; st == IKT_OK && i < now; i++)
            for (int64_t e = block.start[i]; e < block.start[i + 1]; e++)
                ikt_number_put(source->type, rows, (done + i) * d + block.column[e],
                               block.value[e]);
    }
    ikt_sparse_rows_destroy(&block);
    return st;
}

ikt_status ikt_source_read_marked(ikt_source *source, int64_t **rows, int64_t *count) {
    *rows = NULL;
    *count = 0;
    return source->ops->read_marked ? source->ops->read_marked(source, rows, count) : IKT_OK;
}

void ikt_source_describe(const ikt_source *source, ikt_source_content *content) {
    *content = (ikt_source_content){.format = source->format};
    if (source->ops->describe) source->ops->describe(source, content);
}
