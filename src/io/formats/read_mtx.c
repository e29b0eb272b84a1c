/* Matrix Market files as rows: a sparse matrix or an array, brought into rows in memory. See
 * matrix_market.h.
 *
 * Beside a file `barcodes.tsv` or `barcodes.tsv.gz`, as 10x Genomics and Seurat write it, with a
 * line for each column, the matrix is genes x cells, and its columns are our rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/log.h"
#include "io/formats/bytes.h"
#include "io/formats/matrix_market.h"
#include "io/formats/reader.h"

#define FLOAT_WHOLE 16777216.0 /* up to which float32 holds every whole number */

/* Entries as they are read. */
typedef struct {
    ikt_text_lines lines;
    ikt_matrix_market about;
    int64_t *row, *column; /* [capacity] */
    double *value;
    int64_t count, capacity;
} entries;

static void entries_end(entries *e) {
    ikt_text_lines_free(&e->lines);
    ikt_free_all(&e->row, &e->column, &e->value);
}

static bool mtx_probe(const unsigned char *head, int64_t bytes) {
    static const char banner[] = "%%MatrixMarket";
    const int64_t length = (int64_t)strlen(banner);
    return bytes > length && strncasecmp((const char *)head, banner, (size_t)length) == 0;
}

/* Whether the file is beside `path`, whose folder is put before its name. */
static bool is_beside(const char *path, const char *name, char other[IKT_PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    snprintf(other, IKT_PATH_MAX, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name);
    return access(other, R_OK) == 0;
}

static ikt_status count_lines(ikt_text_lines *lines, int64_t *count) {
    char *line = "";
    int64_t length;
    *count = 0;
    IKT_TRY(ikt_text_lines_open(lines));
    while (line) {
        IKT_TRY(ikt_text_lines_next(lines, &line, &length));
        *count += line && length > 0;
    }
    return IKT_OK;
}

/* Whether the columns are cells: there are as many of them as of barcodes beside the matrix. */
static ikt_status find_cells(ikt_context *ctx, const char *path, const ikt_matrix_market *m,
                             bool *is_turned) {
    char beside[IKT_PATH_MAX];
    int64_t cells;
    *is_turned = false;
    if (!is_beside(path, "barcodes.tsv", beside) && !is_beside(path, "barcodes.tsv.gz", beside))
        return IKT_OK;
    ikt_text_lines lines IKT_AT_END(ikt_text_lines_free) = {
        .ctx = ctx, .path = beside, .end = INT64_MAX};
    const ikt_status st = count_lines(&lines, &cells);
    if (lines.fault.status != IKT_OK) return ikt_text_lines_report(&lines, 0);
    IKT_TRY(st);
    *is_turned = cells == m->columns;
    if (!*is_turned && cells != m->rows)
        return ikt_fail(
            ctx, IKT_ERR_DATA,
            "%s has %lld rows and %lld columns, but %s beside it names %lld cells: move "
            "one of the two files if they do not belong together",
            path, (long long)m->rows, (long long)m->columns, beside, (long long)cells);
    ikt_log(ctx, IKT_LOG_STAGE, "%s: its %s are the %lld cells of %s", path,
            *is_turned ? "columns" : "rows", (long long)cells, beside);
    return IKT_OK;
}

static ikt_status add(ikt_context *ctx, entries *e, int64_t row, int64_t column, double value) {
    if (e->count == e->capacity) {
        const int64_t more = e->capacity ? 2 * e->capacity : 1024;
        IKT_TRY(ikt_resize(ctx, &e->row, more, sizeof *e->row, "sparse matrix"));
        IKT_TRY(ikt_resize(ctx, &e->column, more, sizeof *e->column, "sparse matrix"));
        IKT_TRY(ikt_resize(ctx, &e->value, more, sizeof *e->value, "sparse matrix"));
        e->capacity = more;
    }
    e->row[e->count] = row;
    e->column[e->count] = column;
    e->value[e->count++] = value;
    return IKT_OK;
}

static ikt_status add_value(ikt_context *ctx, entries *e, double value) {
    if (e->count == e->capacity) {
        const int64_t more = e->capacity ? 2 * e->capacity : 1024;
        IKT_TRY(ikt_resize(ctx, &e->value, more, sizeof *e->value, "dense matrix"));
        e->capacity = more;
    }
    e->value[e->count++] = value;
    return IKT_OK;
}

/* All entries, and the mirror images of a symmetric matrix. Faults are left in e->lines. */
static ikt_status read_all(ikt_context *ctx, entries *e, int64_t *found) {
    ikt_matrix_entry entry;
    bool more = true;
    IKT_TRY(ikt_text_lines_open(&e->lines));
    IKT_TRY(ikt_matrix_market_header(&e->lines, true, &e->about));
    for (*found = 0; more; *found += more) {
        IKT_TRY(ikt_matrix_market_next(&e->lines, &e->about, &entry, &more));
        if (!more) continue;
        if (e->about.is_dense) {
            IKT_TRY(add_value(ctx, e, entry.value));
            continue;
        }
        IKT_TRY(add(ctx, e, entry.row, entry.column, entry.value));
        if (e->about.is_symmetric && entry.row != entry.column)
            IKT_TRY(add(ctx, e, entry.column, entry.row, entry.value));
    }
    return IKT_OK;
}

/* float32 where it holds every value: counts. Entries of one place have been added up. */
static ikt_type type_of(const ikt_sparse_block *whole) {
    for (int64_t e = 0; e < whole->entries; e++)
        if (!(fabs(whole->values[e]) <= FLOAT_WHOLE) || whole->values[e] != floor(whole->values[e]))
            return IKT_TYPE_F64;
    return IKT_TYPE_F32;
}

/* Values that an array has in its file; more than any file has where that is no number. */
static int64_t values_of(const ikt_matrix_market *m) {
    const int64_t all = ikt_binary_product(m->rows, m->columns);
    if (all < 0) return INT64_MAX;
    return m->is_symmetric ? (all + m->rows) / 2 : all;
}

/* An array, column after column, of which a row is n values apart. */
typedef struct {
    double *value;      /* [n * d] */
    int64_t step, next; /* from one value of a row to the next, and from a row to the next */
} array;

static ikt_status take_array(ikt_reader *reader, entries *e, bool is_turned) {
    array *self = reader->self;
    const int64_t rows = e->about.rows, all = rows * e->about.columns;
    reader->type = IKT_TYPE_F64;
    self->step = is_turned ? 1 : rows;
    self->next = is_turned ? rows : 1;
    IKT_TRY(ikt_alloc(reader->ctx, &self->value, all, sizeof *self->value, "dense matrix"));
    int64_t from = 0;
    for (int64_t c = 0; c < e->about.columns; c++)
        for (int64_t r = e->about.is_symmetric ? c : 0; r < rows; r++) {
            self->value[c * rows + r] = e->value[from++];
            if (e->about.is_symmetric) self->value[r * rows + c] = self->value[c * rows + r];
        }
    return IKT_OK;
}

static ikt_status mtx_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    const array *self = reader->self;
    double *to = rows;
    (void)labels;
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < reader->d; c++)
            *to++ = self->value[(reader->done + i) * self->next + c * self->step];
    return IKT_OK;
}

static void mtx_close(ikt_reader *reader) {
    ikt_free(&((array *)reader->self)->value);
}

static ikt_status mtx_open(ikt_reader *reader, const ikt_reader_options *options) {
    ikt_context *ctx = reader->ctx;
    entries e IKT_AT_END(entries_end) = {
        .lines = {.ctx = ctx, .path = reader->path, .end = INT64_MAX}};
    int64_t found = 0;
    bool is_turned;
    (void)options;
    const ikt_status st = read_all(ctx, &e, &found);
    if (e.lines.fault.status != IKT_OK) return ikt_text_lines_report(&e.lines, 0);
    IKT_TRY(st);
    if (e.about.is_dense) e.about.entries = values_of(&e.about);
    if (e.about.is_dense && found != e.about.entries)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s announces %lld x %lld values%s, but has %lld",
                        reader->path, (long long)e.about.rows, (long long)e.about.columns,
                        e.about.is_symmetric ? " (half of them, as it is symmetric)" : "",
                        (long long)found);
    if (found != e.about.entries)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s announces %lld entries, but has %lld", reader->path,
                        (long long)e.about.entries, (long long)found);
    IKT_TRY(find_cells(ctx, reader->path, &e.about, &is_turned));
    reader->n = is_turned ? e.about.columns : e.about.rows;
    reader->d = is_turned ? e.about.rows : e.about.columns;
    if (e.about.is_dense) return take_array(reader, &e, is_turned);
    reader->sparse = true;
    if (reader->n < 1 || reader->d < 1) return IKT_OK; /* refused by who opens */
    const ikt_sparse_triplets all = {.path = reader->path,
                                     .n = reader->n,
                                     .d = reader->d,
                                     .entries = e.count,
                                     .rows = is_turned ? e.column : e.row,
                                     .columns = is_turned ? e.row : e.column,
                                     .values = e.value};
    IKT_TRY(ikt_sparse_whole(ctx, &all, &reader->whole));
    reader->type = type_of(&reader->whole);
    reader->entries = reader->whole.entries;
    return IKT_OK;
}

const ikt_reader_ops ikt_reader_mtx = {
    .name = "Matrix Market",
    .self_bytes = sizeof(array),
    .labels_are = "give labels as a file of their own (--labels)",
    .probe = mtx_probe,
    .open = mtx_open,
    .read = mtx_read,
    .close = mtx_close,
};
