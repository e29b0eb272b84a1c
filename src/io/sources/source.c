/* Rows of a data set: what all sources share, and the source in memory. */
#include "io/sources/source.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/sources/label_file.h"
#include "io/sources/source_ops.h"

enum { MEMORY_ENTRIES = 1 << 20 }; /* of a block of sparse rows */

ikt_status ikt_source_new(ikt_context *ctx, const char *file, const char *dataset,
                          ikt_source **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "source"));
    (*out)->ctx = ctx;
    size_t length = strlen(file) + strlen(dataset) + 3;
    ikt_status st = ikt_alloc(ctx, &(*out)->name, (int64_t)length, 1, "source");
    if (st == IKT_OK)
        snprintf((*out)->name, length, "%s%s%s%s", file, dataset[0] ? ":" : "",
                 dataset[0] && dataset[0] != '/' ? "/" : "", dataset);
    else
        ikt_free(out);
    return st;
}

void ikt_source_close(ikt_source **source) {
    if (!*source) return;
    if ((*source)->ops) (*source)->ops->close(*source);
    ikt_free(&(*source)->name);
    ikt_free(&(*source)->label_names);
    ikt_free(source);
}

ikt_status ikt_source_use_rows(ikt_source *source, int64_t rows) {
    source->n = rows > 0 ? rows : source->n_file;
    if (source->n_file == 0 || source->d == 0)
        return ikt_fail(source->ctx, IKT_ERR_DATA, "%s is empty (%lld x %lld)", source->name,
                        (long long)source->n_file, (long long)source->d);
    if (!source->ops->read_sparse &&
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
    return source->ops->read_sparse != NULL;
}

ikt_type ikt_source_stored_type(const ikt_source *source) {
    return source->stored;
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

/* Writes sparse rows into dense ones of the source's type. */
static void fill(const ikt_source *source, const ikt_sparse_rows *from, char *rows) {
    const size_t value_bytes = ikt_type_size(source->type);
    memset(rows, 0, (size_t)(from->count * source->d) * value_bytes);
    for (int64_t i = 0; i < from->count; i++)
        for (int64_t e = from->start[i]; e < from->start[i + 1]; e++) {
            char *at = rows + (size_t)(i * source->d + from->column[e]) * value_bytes;
            if (source->type == IKT_TYPE_F32)
                *(float *)(void *)at = (float)from->value[e];
            else
                *(double *)(void *)at = from->value[e];
        }
}

/* COLLECTIVE. Dense rows of a sparse source, some at a time. */
static ikt_status read_filled(ikt_source *source, int64_t first, int64_t count, char *rows) {
    const int64_t steps = ikt_max_one(source->ctx, (count + source->block - 1) / source->block);
    const size_t row_bytes = (size_t)source->d * ikt_type_size(source->type);
    ikt_sparse_rows block = {0};
    ikt_status st = IKT_OK;
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const int64_t done = step * source->block < count ? step * source->block : count;
        const int64_t now = count - done < source->block ? count - done : source->block;
        st = ikt_source_read_sparse(source, now > 0 ? first + done : 0, now, &block);
        if (st == IKT_OK && now > 0) fill(source, &block, rows + (size_t)done * row_bytes);
    }
    ikt_sparse_rows_destroy(&block);
    return st;
}

ikt_status ikt_source_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    if (ikt_source_is_sparse(source)) return read_filled(source, first, count, rows);
    return source->ops->read(source, first, count, rows);
}

ikt_status ikt_source_read_labels(ikt_source *source, const char *name, int64_t first,
                                  int64_t count, int64_t *labels, bool *present) {
    if (strlen(name) >= sizeof source->labels_read || strcmp(name, source->labels_read) != 0)
        ikt_free(&source->label_names);
    snprintf(source->labels_read, sizeof source->labels_read, "%s", name);
    source->default_labels = strcmp(name, "labels") == 0 || strcmp(name, "/labels") == 0;
    *present = false;
    if (source->ops->read_labels)
        IKT_TRY(source->ops->read_labels(source, name, first, count, labels, present));
    if (*present || source->default_labels) return IKT_OK;
    return ikt_label_file_read(source->ctx, name, source->n_file, first, count, labels, present,
                               &source->label_names);
}

ikt_status ikt_source_no_labels(ikt_source *source, const char *name, const char *key) {
    ikt_source_content content;
    ikt_source_describe(source, &content);
    return ikt_agree(source->ctx,
                     ikt_fail(source->ctx, IKT_ERR_DATA,
                              "%s has no labels '%s' (%s), and there is no file of that name; it "
                              "has these that could be labels: %s",
                              source->name, name, key,
                              content.labels[0] ? content.labels : "none"));
}

ikt_status ikt_source_read_marked(ikt_source *source, int64_t **rows, int64_t *count) {
    *rows = NULL;
    *count = 0;
    return source->ops->read_marked ? source->ops->read_marked(source, rows, count) : IKT_OK;
}

/* Names of classes that are not those of /labels must not come from the attribute of the file. */
ikt_status ikt_source_read_text(ikt_source *source, const char *name, char **text) {
    const char *own = source->label_names;
    *text = NULL;
    if (strcmp(name, "label_names") != 0 || (!own && source->default_labels))
        return source->ops->read_text ? source->ops->read_text(source, name, text) : IKT_OK;
    if (!own) return IKT_OK;
    const int64_t length = (int64_t)strlen(own) + 1;
    IKT_TRY(ikt_agree(source->ctx, ikt_alloc(source->ctx, text, length, 1, "class names")));
    memcpy(*text, own, (size_t)length);
    return IKT_OK;
}

void ikt_source_describe(const ikt_source *source, ikt_source_content *content) {
    *content = (ikt_source_content){.format = source->format};
    if (source->ops->describe) source->ops->describe(source, content);
}

/* The sources in memory: `self` is the caller's array, or his sparse rows. */

static ikt_status memory_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    size_t row = (size_t)source->d * ikt_type_size(source->type);
    if (count > 0)
        memcpy(rows, (const char *)source->self + (size_t)first * row, (size_t)count * row);
    return IKT_OK;
}

static void memory_close(ikt_source *source) {
    source->self = NULL; /* the array is the caller's */
}

static const ikt_source_ops memory_ops = {.read = memory_read, .close = memory_close};

static ikt_status memory_read_sparse(ikt_source *source, int64_t first, int64_t count,
                                     ikt_sparse_rows *rows) {
    const ikt_sparse_rows *from = source->self;
    const int64_t begin = count > 0 ? from->start[first] : 0;
    const int64_t entries = count > 0 ? from->start[first + count] - begin : 0;
    IKT_TRY(ikt_agree(source->ctx, ikt_sparse_rows_reserve(source->ctx, count, entries, rows)));
    rows->count = count;
    rows->start[0] = 0;
    for (int64_t i = 0; i < count; i++)
        rows->start[i + 1] = from->start[first + i + 1] - begin;
    if (entries == 0) return IKT_OK;
    memcpy(rows->column, from->column + begin, (size_t)entries * sizeof *rows->column);
    memcpy(rows->value, from->value + begin, (size_t)entries * sizeof *rows->value);
    return IKT_OK;
}

static const ikt_source_ops sparse_memory_ops = {.read_sparse = memory_read_sparse,
                                                 .close = memory_close};

/* COLLECTIVE. A source on what `rows` points to, which is only read; the member is shared with
 * writers. */
static ikt_status from_memory(ikt_context *ctx, const ikt_source_ops *ops, const void *rows,
                              int64_t n, int64_t d, ikt_type type, ikt_source **out) {
    *out = NULL;
    ikt_status st = ikt_source_new(ctx, "memory", "rows", out);
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) {
        ikt_source_close(out);
        return st;
    }
    (*out)->ops = ops;
    (*out)->format = "memory";
    memcpy(&(*out)->self, &rows, sizeof rows);
    (*out)->n = (*out)->n_file = n;
    (*out)->d = d;
    (*out)->type = type;
    return IKT_OK;
}

ikt_status ikt_source_from_memory(ikt_context *ctx, const void *rows, int64_t n, int64_t d,
                                  ikt_type type, ikt_source **out) {
    return from_memory(ctx, &memory_ops, rows, n, d, type, out);
}

ikt_status ikt_source_from_sparse(ikt_context *ctx, const ikt_sparse_rows *rows, int64_t d,
                                  ikt_type type, ikt_source **out) {
    IKT_TRY(from_memory(ctx, &sparse_memory_ops, rows, rows->count, d, type, out));
    ikt_source *source = *out;
    source->stored = type;
    source->entries = rows->start[rows->count];
    for (int64_t i = 0; i < rows->count; i++)
        if (rows->start[i + 1] - rows->start[i] > source->longest)
            source->longest = rows->start[i + 1] - rows->start[i];
    source->block = 1;
    while (2 * source->block * source->longest <= MEMORY_ENTRIES && source->block < rows->count)
        source->block *= 2;
    return IKT_OK;
}
