/* What readers of all formats share. See reader.h. */
#include "io/formats/reader.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

ikt_status ikt_reader_new(ikt_context *ctx, const ikt_reader_ops *ops, const char *path,
                          ikt_reader **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "reader"));
    ikt_reader *reader = *out;
    reader->ctx = ctx;
    reader->path = path;
    const ikt_status st = ikt_alloc(ctx, &reader->self, (int64_t)ops->self_bytes, 1, "reader");
    if (st == IKT_OK)
        reader->ops = ops;
    else
        ikt_free(out);
    return st;
}

void ikt_reader_close(ikt_reader **reader) {
    if (!*reader) return;
    if ((*reader)->ops->close) (*reader)->ops->close(*reader);
    ikt_free(&(*reader)->self);
    ikt_free(&(*reader)->classes);
    ikt_free(reader);
}

ikt_status ikt_reader_check_options(ikt_context *ctx, const char *path, const ikt_reader_ops *ops,
                                    const ikt_reader_options *options) {
    const char *article = strchr("IN", ops->name[0]) ? "an" : "a";
    if (ikt_is_given(options->array) && !ops->has_arrays)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s is %s %s file, which holds one table: arrays have names in NPZ and "
                        "MATLAB files",
                        path, article, ops->name);
    if (ops->labels_are &&
        (ikt_is_given(options->label_column) || ikt_is_given(options->skip_columns)))
        return ikt_fail(ctx, IKT_ERR_USAGE, "%s is %s %s file, which has no named columns; %s",
                        path, article, ops->name, ops->labels_are);
    return IKT_OK;
}

ikt_status ikt_reader_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    if (reader->sparse) {
        ikt_sparse_block block = {0};
        const ikt_status st = reader->ops->read_sparse(reader, count, INT64_MAX, &block);
        if (st == IKT_OK) ikt_sparse_block_spread(&block, reader->d, reader->type, rows);
        if (st == IKT_OK && labels) memcpy(labels, block.labels, (size_t)count * sizeof *labels);
        ikt_sparse_block_free(&block);
        IKT_TRY(st);
    } else {
        IKT_TRY(reader->ops->read(reader, count, rows, labels));
    }
    reader->done += count;
    return IKT_OK;
}

ikt_status ikt_reader_read_sparse(ikt_reader *reader, int64_t rows, int64_t entries,
                                  ikt_sparse_block *block) {
    ikt_sparse_block_clear(block);
    IKT_TRY(reader->ops->read_sparse(reader, rows, entries, block));
    reader->done += block->rows;
    return IKT_OK;
}

/* --- which array of several is meant ---------------------------------------------------------- */

static ikt_status refuse(ikt_context *ctx, const char *path, const ikt_array *arrays, int64_t count,
                         const char *what) {
    char list[800] = "";
    size_t used = 0;
    for (int64_t a = 0; a < count && used + 160 < sizeof list; a++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.80s (%.60s)",
                                 a > 0 ? ", " : "", arrays[a].name, arrays[a].shape);
    return ikt_fail(ctx, IKT_ERR_DATA, "%s %s; it holds: %s", path, what,
                    count > 0 ? list : "nothing");
}

static int64_t find(const ikt_array *arrays, int64_t count, const char *name) {
    for (int64_t a = 0; a < count; a++)
        if (strcmp(arrays[a].name, name) == 0) return a;
    return -1;
}

/* The only one of its kind; -1 where there is none or several. */
static int64_t only(const ikt_array *arrays, int64_t count, bool table) {
    int64_t found = -1;
    for (int64_t a = 0; a < count; a++) {
        if (!arrays[a].usable || (table && !arrays[a].table)) continue;
        if (found >= 0) return -1;
        found = a;
    }
    return found;
}

ikt_status ikt_array_choose(ikt_context *ctx, const char *path, const ikt_array *arrays,
                            int64_t count, const char *name, int64_t *out) {
    static const char *const usual[] = {"X",       "x",   "data",     "x_train", "X_train",
                                        "train_x", "fea", "features", "images",  "arr_0"};
    char what[300];
    if (ikt_is_given(name)) {
        *out = find(arrays, count, name);
        if (*out >= 0 && arrays[*out].usable) return IKT_OK;
        if (*out < 0)
            snprintf(what, sizeof what, "has no array '%.200s'", name);
        else
            snprintf(what, sizeof what,
                     "cannot be used: '%.100s' is no array of integers, float32, float64 or truth "
                     "values with rows and columns",
                     name);
        return refuse(ctx, path, arrays, count, what);
    }
    *out = only(arrays, count, false);
    if (*out < 0) *out = only(arrays, count, true);
    for (size_t k = 0; k < sizeof usual / sizeof *usual && *out < 0; k++) {
        const int64_t a = find(arrays, count, usual[k]);
        if (a >= 0 && arrays[a].usable && arrays[a].table) *out = a;
    }
    if (*out >= 0) return IKT_OK;
    return refuse(ctx, path, arrays, count,
                  "does not tell which of its arrays is meant: name it (--array NAME, or "
                  "FILE:NAME for labels and maps)");
}
