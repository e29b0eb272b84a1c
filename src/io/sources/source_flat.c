/* Rows that stand plainly in a file, NPY, IDX, safetensors, vectors of searches or raw: each rank
 * reads its ranges with pread.
 *
 * One rank learns the layout, from the header by the reader that `convert` uses or from the
 * settings, and tells the others. Numbers of our types and byte order go straight to where they are
 * wanted; others pass through a buffer. An array that stands column after column is read in tiles
 * of some columns and many rows, so that every piece is long in the file, and turned in the cache.
 *
 * Advantage: the speed of the file system, no copy, no library. Disadvantage: no checksums. */
#define _GNU_SOURCE /* pread */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "config/key.h"
#include "io/formats/bytes.h"
#include "io/sources/labels.h"
#include "io/sources/source_ops.h"

typedef struct {
    int file;
    ikt_layout layout;
    const ikt_reader_ops *arrays; /* of a file of several: what lists them; else NULL */
    char path[IKT_PATH_MAX];      /* of such a file */
} flat_self;

enum {
    BUFFER = 1 << 22, /* bytes that are read at a time, and */
    PIECE = 1 << 15   /* elements that a thread converts of them */
};

/* Exactly `bytes` bytes. */
static ikt_status read_bytes(ikt_source *source, int64_t offset, int64_t bytes, void *to) {
    const flat_self *self = source->self;
    const int64_t piece = (int64_t)1 << 30; /* systems transfer a little less than 2 GiB */
    char *at = to;
    while (bytes > 0) {
        ssize_t got = pread(self->file, at, (size_t)(bytes < piece ? bytes : piece), (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return ikt_fail(source->ctx, IKT_ERR_FILE, "%s cannot be read at byte %lld: %s",
                            source->name, (long long)offset, strerror(errno));
        if (got == 0)
            return ikt_fail(source->ctx, IKT_ERR_FILE,
                            "%s is truncated: it ends at byte %lld, within its rows", source->name,
                            (long long)offset);
        at += got;
        offset += got;
        bytes -= got;
    }
    return IKT_OK;
}

static ikt_status inexact(ikt_source *source, int64_t row, int64_t column) {
    return ikt_fail(source->ctx, IKT_ERR_DATA,
                    "%s, row %lld, column %lld: an integer beyond 2^53 loses digits as a floating "
                    "number; store it otherwise",
                    source->name, (long long)row, (long long)column);
}

/* Converts by all threads; returns how many elements before the first that cannot be. */
static int64_t convert(const ikt_source *source, const char *stored, int64_t count, char *values) {
    const ikt_element element = ((const flat_self *)source->self)->layout.element;
    const int64_t value = (int64_t)ikt_type_size(source->type);
    int64_t good = count;
#pragma omp parallel for schedule(static) if (count > PIECE) reduction(min                         \
                                                                       : good)                     \
    num_threads(ikt_threads(source->ctx))
    for (int64_t at = 0; at < count; at += PIECE) {
        const int64_t now = count - at < PIECE ? count - at : PIECE;
        const int64_t done =
            ikt_elements_convert(element, stored + at * element.bytes, now, values + at * value, 1);
        if (done < now && at + done < good) good = at + done;
    }
    return good;
}

/* Elements number first .. first + count - 1, in the order of the file, to values. */
static ikt_status read_elements(ikt_source *source, int64_t first, int64_t count, void *buffer,
                                char *values) {
    const ikt_layout *l = &((const flat_self *)source->self)->layout;
    const int64_t size = l->element.bytes, most = BUFFER / size;
    const int64_t value = (int64_t)ikt_type_size(source->type);
    const bool direct = ikt_element_keeps_type(l->element);
    for (int64_t done = 0; done < count;) {
        int64_t now = direct || count - done < most ? count - done : most;
        void *stored = direct ? values : buffer;
        IKT_TRY(read_bytes(source, l->offset + (first + done) * size, now * size, stored));
        if (!ikt_element_is_native(l->element)) {
            const int64_t good = convert(source, stored, now, values + done * value);
            if (good < now)
                return inexact(source, (first + done + good) / l->d, (first + done + good) % l->d);
        }
        done += now;
    }
    return IKT_OK;
}

/* Rows first .. first + count - 1 of an array stored by columns, in tiles of some columns. */
static ikt_status read_columns(ikt_source *source, int64_t first, int64_t count, char *buffer,
                               char *values) {
    const ikt_layout *l = &((const flat_self *)source->self)->layout;
    const int64_t size = l->element.bytes, value = (int64_t)ikt_type_size(source->type);
    const int64_t wide = l->d < 16 ? l->d : 16, most = BUFFER / (wide * size);
    for (int64_t done = 0; done < count; done += most)
        for (int64_t column = 0; column < l->d; column += wide) {
            const int64_t rows = count - done < most ? count - done : most;
            const int64_t columns = l->d - column < wide ? l->d - column : wide;
            for (int64_t c = 0; c < columns; c++)
                IKT_TRY(read_bytes(source, l->offset + ((column + c) * l->n + first + done) * size,
                                   rows * size, buffer + c * rows * size));
            const int64_t bad = ikt_turn(l->element, buffer, columns, rows,
                                         values + (done * l->d + column) * value, l->d);
            if (bad >= 0) return inexact(source, first + done + bad % rows, column + bad / rows);
        }
    return IKT_OK;
}

/* Rows that something leads, in blocks of whole ones. */
static ikt_status read_led(ikt_source *source, int64_t first, int64_t count, char *buffer,
                           char *values) {
    const ikt_layout *l = &((const flat_self *)source->self)->layout;
    const int64_t row = l->lead + l->d * l->element.bytes, most = row < BUFFER ? BUFFER / row : 1;
    const int64_t made = l->d * (int64_t)ikt_type_size(source->type);
    for (int64_t done = 0; done < count; done += most) {
        const int64_t now = count - done < most ? count - done : most;
        IKT_TRY(read_bytes(source, l->offset + (first + done) * row, now * row, buffer));
        const int64_t good = ikt_rows_convert(l, buffer, now, values + done * made);
        if (good < now)
            return ikt_fail(source->ctx, IKT_ERR_FILE,
                            "%s is damaged: row %lld (counted from 0) announces another number of "
                            "columns than the first, %lld",
                            source->name, (long long)(first + done + good), (long long)l->d);
    }
    return IKT_OK;
}

static ikt_status flat_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    const flat_self *self = source->self;
    const ikt_layout *l = &self->layout;
    const int64_t led = l->lead > 0 ? l->lead + l->d * l->element.bytes : 0; /* a row */
    IKT_ARRAYS(held, source->ctx, "source");
    char *buffer = ikt_claim(&held, led > BUFFER ? led : BUFFER, 1);
    if (held.status == IKT_OK && count > 0)
        held.status = l->lead > 0     ? read_led(source, first, count, buffer, rows)
                      : l->by_columns ? read_columns(source, first, count, buffer, rows)
                                      : read_elements(source, first * source->d, count * source->d,
                                                      buffer, rows);
    return ikt_arrays_agree(&held);
}

static void flat_close(ikt_source *source) {
    const flat_self *self = source->self;
    if (self->file >= 0) close(self->file);
}

/* --- the arrays of a file of several ---------------------------------------------------------- */

typedef struct {
    const char *name;
    bool is_there, is_list; /* of one axis */
} sought;

static void seek(void *self, const ikt_array *array) {
    sought *one = self;
    if (strcmp(array->name, one->name) != 0) return;
    one->is_there = true;
    one->is_list = array->usable && !array->table;
}

/* COLLECTIVE. Whether the file has an array of that name. */
static ikt_status look_for(ikt_context *ctx, const ikt_reader_ops *arrays, const char *path,
                           sought *one) {
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0) st = arrays->list(ctx, path, seek, one);
    IKT_TRY(ikt_agree(ctx, st));
    one->is_there = ikt_max_one(ctx, one->is_there) > 0;
    one->is_list = ikt_max_one(ctx, one->is_list) > 0;
    return IKT_OK;
}

ikt_status ikt_source_adopt(ikt_context *ctx, const char *path, char dataset[IKT_STRING_MAX]) {
    ikt_reader_content content = {0};
    sought one = {.name = dataset};
    if (ikt_source_is_any(dataset)) return IKT_OK;
    if (ikt_rank(ctx) == 0 && ikt_reader_guess(ctx, path, &content) != IKT_OK) ikt_clear(ctx);
    const bool has_arrays = content.format && content.format->is_flat && content.format->list;
    if (ikt_max_one(ctx, has_arrays && !content.packed) == 0) return IKT_OK;
    IKT_TRY(look_for(ctx, content.format, path, &one));
    if (!one.is_there) strcpy(dataset, IKT_DATASET_AUTO);
    return IKT_OK;
}

/* Those of a file of one array are in a file of their own; `labels`, which nobody has to ask for,
 * are a list. */
static ikt_status flat_labels(ikt_source *source, const char *name, int64_t first, int64_t count,
                              int64_t *labels, bool *present) {
    const flat_self *self = source->self;
    char place[IKT_PATH_MAX + IKT_STRING_MAX];
    sought one = {.name = name + (name[0] == '/')};
    *present = false;
    if (!self->arrays) return IKT_OK;
    IKT_TRY(look_for(source->ctx, self->arrays, self->path, &one));
    if (!one.is_there || (source->default_labels && !one.is_list)) return IKT_OK;
    snprintf(place, sizeof place, "%s:%s", self->path, one.name);
    return ikt_label_file_read(source->ctx, place, source->n_file, first, count, labels, present,
                               &source->label_names);
}

static void name_labels(void *self, const ikt_array *array) {
    ikt_source_content *content = self;
    if (array->usable && !array->table)
        ikt_join(content->labels, sizeof content->labels, ", ", "%.200s", array->name);
}

static void flat_describe(const ikt_source *source, ikt_source_content *content) {
    const flat_self *self = source->self;
    if (self->arrays && self->arrays->list(source->ctx, self->path, name_labels, content) != IKT_OK)
        ikt_clear(source->ctx);
    ikt_join(content->labels, sizeof content->labels, ", or ", "%s",
             "a file of their own, such as labels.npy or FILE.h5:DATASET");
}

static const ikt_source_ops flat_ops = {.self_bytes = sizeof(flat_self),
                                        .read = flat_read,
                                        .read_labels = flat_labels,
                                        .describe = flat_describe,
                                        .close = flat_close};

/* --- opening ---------------------------------------------------------------------------------- */

/* What the header says, or the settings, of a file without one; on one rank.
 *   array   of a file of several; NULL: the one that can be meant */
static ikt_status find_layout(ikt_context *ctx, const char *path, const char *array,
                              const ikt_raw *raw, ikt_layout *layout) {
    struct stat about;
    if (!raw) {
        const ikt_reader_options plain = {.array = array};
        ikt_reader *reader = NULL;
        IKT_TRY(ikt_reader_open(ctx, path, &plain, &reader));
        *layout = reader->layout;
        ikt_reader_close(&reader);
        if (layout->element.bytes > 0) return IKT_OK;
        return ikt_fail(ctx, IKT_ERR_INTERNAL, "%s has no rows that stand plainly in it", path);
    }
    IKT_TRY(ikt_input_check(ctx, path));
    if (stat(path, &about) != 0)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    const int64_t bytes = (int64_t)about.st_size - raw->skip;
    const int64_t row = raw->columns * raw->element.bytes;
    if (bytes < row || bytes % row != 0)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s has %lld bytes: after the %lld that are skipped these are no whole "
                        "rows of %lld numbers of %d bytes; columns, type or skip are others",
                        path, (long long)about.st_size, (long long)raw->skip,
                        (long long)raw->columns, raw->element.bytes);
    *layout = (ikt_layout){
        .element = raw->element, .offset = raw->skip, .n = bytes / row, .d = raw->columns};
    return IKT_OK;
}

/* LOCAL. Opens the file on this rank, whose layout is known. */
static ikt_status open_own(ikt_source *source, const char *path,
                           const ikt_source_options *options) {
    ikt_context *ctx = source->ctx;
    flat_self *self = source->self;
    ikt_layout *l = &self->layout;
    struct stat about;
    self->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would keep us waiting */
    if (self->file < 0 || fstat(self->file, &about) != 0)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be opened on rank %d: %s", source->name,
                        ikt_rank(ctx), strerror(errno));
    if ((int64_t)about.st_size < l->offset + l->n * (l->lead + l->d * l->element.bytes))
        return ikt_fail(ctx, IKT_ERR_FILE, /* other nodes may see another file */
                        "%s is shorter on rank %d than on rank 0: %lld bytes", source->name,
                        ikt_rank(ctx), (long long)about.st_size);
    if (l->is_list && !options->is_list && !options->is_map)
        return ikt_fail(
            ctx, IKT_ERR_DATA,
            "%s is a list of %lld numbers (one axis), where rows of columns are needed: "
            "numpy's x.reshape(-1, columns) makes them, x[:, None] rows of one number",
            source->name, (long long)l->n);
    if (options->transposed == IKT_TRANSPOSED_YES && l->lead > 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "input.transposed: yes is for arrays, and the rows of %s stand apart",
                        source->name);
    if (options->transposed == IKT_TRANSPOSED_YES)
        *l = (ikt_layout){l->element, l->offset, l->d, l->n, !l->by_columns, l->is_list, 0};
    source->n_file = l->n;
    source->d = l->d;
    source->type = ikt_element_type(l->element);
    source->is_half = l->element.kind == 'f' && l->element.bytes == 2;
    return ikt_source_use_rows(source, options->rows);
}

static ikt_status flat_open(ikt_context *ctx, const ikt_source_format *format, const char *path,
                            const ikt_source_options *options, ikt_source **out) {
    const char *dataset = options->dataset;
    const bool is_any = ikt_source_is_any(dataset);
    const bool has_arrays = format->header && format->header->has_arrays;
    if (!options->inherited && !is_any && !has_arrays)
        return ikt_fail(ctx, IKT_ERR_USAGE, /* the same on all ranks */
                        "%s is %s, which holds one array: there is no data set '%s' to choose",
                        path, format->name, dataset);
    const char *array = has_arrays && !is_any ? dataset : "";
    IKT_TRY(ikt_source_new(ctx, &flat_ops, format->name, path, array, out));
    flat_self *self = (*out)->self;
    ikt_layout *l = &self->layout;
    ikt_status st = IKT_OK;
    self->file = -1;
    self->arrays = has_arrays ? format->header : NULL;
    snprintf(self->path, sizeof self->path, "%s", path);
    if (ikt_rank(ctx) == 0)
        st = find_layout(ctx, path, array, format->header ? NULL : &options->raw, l);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        ikt_broadcast(ctx, l, (int64_t)sizeof *l, 0);
        st = ikt_agree(ctx, open_own(*out, path, options));
    }
    if (st != IKT_OK) ikt_source_close(out);
    return st;
}

const ikt_source_format ikt_source_npy = {"NPY", &ikt_reader_npy, flat_open};
const ikt_source_format ikt_source_idx = {"IDX", &ikt_reader_idx, flat_open};
const ikt_source_format ikt_source_vecs = {"vecs", &ikt_reader_vecs, flat_open};
const ikt_source_format ikt_source_bin = {"bin", &ikt_reader_bin, flat_open};
const ikt_source_format ikt_source_safetensors = {"safetensors", &ikt_reader_safetensors,
                                                  flat_open};
const ikt_source_format ikt_source_raw = {"raw", NULL, flat_open};
