/* Rows of a data set: what all sources share, and the source in memory. */
#include "io/source.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/source_ops.h"

size_t ikt_type_size(ikt_type type) {
    static const size_t sizes[] = {sizeof(uint8_t), sizeof(float), sizeof(double)};
    return sizes[type];
}

const char *ikt_type_name(ikt_type type) {
    static const char *const names[] = {"uint8", "float32", "float64"};
    return names[type];
}

ikt_status ikt_source_new(ikt_context *ctx, const char *file, const char *dataset,
                          ikt_source **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "source"));
    (*out)->ctx = ctx;
    size_t length = strlen(file) + strlen(dataset) + 3;
    ikt_status st = ikt_alloc(ctx, &(*out)->name, (int64_t)length, 1, "source");
    if (st == IKT_OK)
        snprintf((*out)->name, length, "%s:%s%s", file, dataset[0] == '/' ? "" : "/", dataset);
    else
        ikt_free(out);
    return st;
}

void ikt_source_close(ikt_source **source) {
    if (!*source) return;
    if ((*source)->ops) (*source)->ops->close(*source);
    ikt_free(&(*source)->name);
    ikt_free(source);
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

ikt_status ikt_source_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    return source->ops->read(source, first, count, rows);
}

ikt_status ikt_source_read_labels(ikt_source *source, const char *dataset, int64_t first,
                                  int64_t count, int64_t *labels, bool *present) {
    return source->ops->read_labels(source, dataset, first, count, labels, present);
}

ikt_status ikt_source_read_marked(ikt_source *source, int64_t **rows, int64_t *count) {
    return source->ops->read_marked(source, rows, count);
}

ikt_status ikt_source_read_text(ikt_source *source, const char *name, char **text) {
    return source->ops->read_text(source, name, text);
}

/* The source in memory: `self` is the caller's array. */

static ikt_status memory_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    size_t row = (size_t)source->d * ikt_type_size(source->type);
    if (count > 0)
        memcpy(rows, (const char *)source->self + (size_t)first * row, (size_t)count * row);
    return IKT_OK;
}

static ikt_status memory_labels(ikt_source *source, const char *dataset, int64_t first,
                                int64_t count, int64_t *labels, bool *present) {
    (void)source, (void)dataset, (void)first, (void)count, (void)labels;
    *present = false;
    return IKT_OK;
}

static ikt_status memory_marked(ikt_source *source, int64_t **rows, int64_t *count) {
    (void)source;
    *rows = NULL;
    *count = 0;
    return IKT_OK;
}

static ikt_status memory_text(ikt_source *source, const char *name, char **text) {
    (void)source, (void)name;
    *text = NULL;
    return IKT_OK;
}

static void memory_close(ikt_source *source) {
    source->self = NULL; /* the array is the caller's */
}

static const ikt_source_ops memory_ops = {memory_read, memory_labels, memory_marked, memory_text,
                                          memory_close};

ikt_status ikt_source_from_memory(ikt_context *ctx, const void *rows, int64_t n, int64_t d,
                                  ikt_type type, ikt_source **out) {
    *out = NULL;
    ikt_status st = ikt_source_new(ctx, "memory", "rows", out);
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) {
        ikt_source_close(out);
        return st;
    }
    (*out)->ops = &memory_ops;
    memcpy(&(*out)->self, &rows, sizeof rows); /* only read; the member is shared with writers */
    (*out)->n = (*out)->n_file = n;
    (*out)->d = d;
    (*out)->type = type;
    return IKT_OK;
}
