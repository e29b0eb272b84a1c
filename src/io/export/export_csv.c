/* Delimited text: a heading, and a line a row.
 *
 * Places are the shortest decimals that read back to the same float32. A gzipped file is a sequence
 * of members, one a block, which every reader of gzip takes for one file: so blocks are compressed
 * side by side, and to the same bytes on any number of ranks. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/arrays.h"
#include "base/encoding.h"
#include "base/shared_file.h"
#include "config/value.h"
#include "io/export/export.h"
#include "io/formats/class_labels.h"

/* --- a block of text -------------------------------------------------------------------------- */

enum { CAPACITY_FIRST = 1 << 16, LEVEL = 6, GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8 };

/* A block of delimited text under construction; begin with {ctx}. */
typedef struct {
    ikt_context *ctx;
    char *data; /* [length] of [capacity]; owned */
    int64_t length, capacity;
    ikt_status status; /* of the first failure, after which nothing is added */
} text_block;

/* LOCAL. Appends bytes as they are. */
static void add_bytes(text_block *b, const char *bytes, size_t count) {
    int64_t capacity = b->capacity > 0 ? b->capacity : CAPACITY_FIRST;
    while (capacity - b->length < (int64_t)count)
        capacity *= 2;
    if (b->status == IKT_OK && capacity > b->capacity) {
        b->status = ikt_resize(b->ctx, &b->data, capacity, 1, "text");
        if (b->status == IKT_OK) b->capacity = capacity;
    }
    if (b->status != IKT_OK) return;
    memcpy(b->data + b->length, bytes, count);
    b->length += (int64_t)count;
}

/* LOCAL. Replaces the text by a gzip member of it, without name and time; none of no text. All of
 * it at once, into a buffer as large as a member can get: a piece of zlib's is below 4 GiB, as a
 * block is. Errors: IKT_ERR_RESOURCE. */
static ikt_status compress_block(text_block *b) {
    z_stream z = {.zalloc = Z_NULL};
    if (b->length == 0) return IKT_OK;
    if (b->length > UINT32_MAX / 2)
        return ikt_fail(b->ctx, IKT_ERR_RESOURCE, "a block of text is too large to be compressed");
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return ikt_fail(b->ctx, IKT_ERR_RESOURCE, "out of memory for zlib");
    text_block made = {.ctx = b->ctx, .capacity = (int64_t)deflateBound(&z, (uLong)b->length)};
    ikt_status st = ikt_alloc(b->ctx, &made.data, made.capacity, 1, "text");
    if (st == IKT_OK) {
        z.next_in = (Bytef *)b->data;
        z.avail_in = (uInt)b->length;
        z.next_out = (Bytef *)made.data;
        z.avail_out = (uInt)made.capacity;
        if (deflate(&z, Z_FINISH) != Z_STREAM_END)
            st = ikt_fail(b->ctx, IKT_ERR_RESOURCE, "zlib cannot compress a block of text");
    }
    deflateEnd(&z);
    made.length = (int64_t)z.total_out;
    ikt_free(st == IKT_OK ? &b->data : &made.data);
    if (st == IKT_OK) *b = made;
    return st;
}

/* --- the table -------------------------------------------------------------------------------- */

enum { NUMBER_MOST = 28 };

/* What text is made with; freed as one. */
typedef struct {
    ikt_export *export;
    const ikt_export_options *options;
    char delimiter;
    text_block block;
    int64_t *number;                       /* [IKT_EXPORT_BLOCK] of the rows in the input */
    float *y;                              /* [IKT_EXPORT_BLOCK * q] */
    double *real[IKT_EXPORT_COLUMNS];      /* [IKT_EXPORT_BLOCK] each, of those that are */
    int64_t *whole[IKT_EXPORT_COLUMNS];    /* likewise */
    ikt_texts text[IKT_EXPORT_COLUMNS];    /* of the block, of those that are */
    const char **name[IKT_EXPORT_COLUMNS]; /* [names] lines of class names, NULL: none */
    int64_t names[IKT_EXPORT_COLUMNS];
} table;

/* Claims what is held for the whole of the export. */
static void claim(table *t, ikt_arrays *held) {
    const int64_t rows = IKT_EXPORT_BLOCK;
    t->y = ikt_claim(held, rows * t->export->q, sizeof *t->y);
    t->number = ikt_claim(held, rows, sizeof *t->number);
    for (int64_t c = 0; c < t->export->columns; c++) {
        const ikt_export_column *column = &t->export->column[c];
        const char *text = column->names;
        if (column->kind == IKT_EXPORT_TEXTS) continue;
        if (ikt_export_is_real(column)) {
            t->real[c] = ikt_claim(held, rows, sizeof *t->real[c]);
            continue;
        }
        t->whole[c] = ikt_claim(held, rows, sizeof *t->whole[c]);
        if (!text) continue;
        t->names[c] = ikt_label_names_count(text);
        t->name[c] = ikt_claim(held, t->names[c], sizeof *t->name[c]);
        for (int64_t k = 0; t->name[c] && k < t->names[c]; k++) {
            t->name[c][k] = text;
            text += strcspn(text, "\n") + 1;
        }
    }
}

static void table_end(table *t) {
    for (int64_t c = 0; c < t->export->columns; c++)
        ikt_export_texts_free(&t->text[c]);
    ikt_free(&t->block.data);
}

static void add_delimiter(table *t) {
    add_bytes(&t->block, &t->delimiter, 1);
}

/* A cell of text, in quotes where it holds what has a meaning. */
static void add_text(table *t, const char *text, size_t count) {
    /* What spreadsheets take for the beginning of a formula, which may open files and addresses. */
    const bool is_formula =
        t->options->guards_formulas && count > 0 && strchr("=+-@\t\r", text[0]) && text[0];
    bool is_quoted = count > 0 && (text[0] == ' ' || text[count - 1] == ' ');
    for (size_t i = 0; i < count; i++)
        is_quoted |=
            text[i] == t->delimiter || text[i] == '"' || text[i] == '\n' || text[i] == '\r';
    if (is_quoted) add_bytes(&t->block, "\"", 1);
    if (is_formula) add_bytes(&t->block, "'", 1);
    for (size_t i = 0; is_quoted && i < count; i++)
        add_bytes(&t->block, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    add_bytes(&t->block, is_quoted ? "\"" : text, is_quoted ? 1 : count);
}

static void add_heading(table *t) {
    static const char *const axes[] = {"x", "y", "z"};
    if (t->options->row_numbers) add_text(t, "row", 3);
    for (int c = 0; c < t->export->q; c++) {
        if (c > 0 || t->options->row_numbers) add_delimiter(t);
        add_text(t, axes[c], 1);
    }
    for (int64_t c = 0; c < t->export->columns; c++) {
        const char *name = t->export->column[c].name;
        add_delimiter(t);
        add_text(t, name, strlen(name));
        if (!t->name[c] || t->export->column[c].kind == IKT_EXPORT_CLASSES) continue;
        add_delimiter(t);
        add_text(t, name, strlen(name));
        add_bytes(&t->block, "_name", 5);
    }
    add_bytes(&t->block, "\n", 1);
}

static void add_whole(table *t, int64_t value) {
    char text[NUMBER_MOST];
    add_bytes(&t->block, text, (size_t)snprintf(text, sizeof text, "%" PRId64, value));
}

static void add_row(table *t, int64_t i) {
    char text[IKT_REAL_TEXT], place[IKT_FLOAT_TEXT];
    if (t->options->row_numbers) add_whole(t, t->number[i]);
    for (int c = 0; c < t->export->q; c++) {
        if (c > 0 || t->options->row_numbers) add_delimiter(t);
        const int length = ikt_float_print(t->y[i * t->export->q + c], place);
        add_bytes(&t->block, place, (size_t)length);
    }
    for (int64_t c = 0; c < t->export->columns; c++) {
        add_delimiter(t);
        if (t->real[c]) {
            const double value = t->real[c][i];
            if (isfinite(value))
                ikt_real_print(value, text);
            else
                snprintf(text, sizeof text, "%g", value); /* nan, inf */
            add_bytes(&t->block, text, strlen(text));
            continue;
        }
        if (t->text[c].text) {
            add_text(t, t->text[c].text[i], strlen(t->text[c].text[i]));
            continue;
        }
        /* Classes are known by their names; labels of a run by both. One without a name leaves its
         * cell empty. */
        const int64_t label = t->whole[c][i];
        const bool is_class = t->export->column[c].kind == IKT_EXPORT_CLASSES;
        if (!is_class) add_whole(t, label);
        if (!t->name[c]) continue;
        if (!is_class) add_delimiter(t);
        if (label >= 0 && label < t->names[c])
            add_text(t, t->name[c][label], strcspn(t->name[c][label], "\n"));
    }
    add_bytes(&t->block, "\n", 1);
}

static ikt_status read_block(table *t, int64_t first, int64_t count) {
    IKT_TRY(ikt_result_read_embedding(t->export->file, first, count, t->y));
    if (t->options->row_numbers) ikt_export_numbers(t->export, first, count, t->number);
    for (int64_t c = 0; c < t->export->columns; c++) {
        ikt_export_texts_free(&t->text[c]);
        if (t->real[c])
            IKT_TRY(ikt_export_reals(t->export, c, first, count, t->real[c]));
        else if (t->whole[c])
            IKT_TRY(ikt_export_wholes(t->export, c, first, count, t->whole[c]));
        else
            IKT_TRY(ikt_export_texts(t->export, c, first, count, &t->text[c]));
    }
    return IKT_OK;
}

/* Appends what the block holds, compressed where that is wanted, and empties it. */
static ikt_status append_block(table *t, ikt_shared_file *file) {
    ikt_status st = t->block.status;
    if (st == IKT_OK && t->options->is_gzipped) st = compress_block(&t->block);
    IKT_TRY(ikt_agree(t->export->ctx, st));
    IKT_TRY(ikt_shared_append(file, t->block.data, t->block.length));
    t->block.length = 0;
    return IKT_OK;
}

static ikt_status write_rows(table *t, ikt_shared_file *file) {
    ikt_export *export = t->export;
    IKT_ARRAYS(held, export->ctx, "block");
    claim(t, &held);
    IKT_TRY(ikt_arrays_agree(&held));
    if (ikt_rank(export->ctx) == 0) add_heading(t);
    IKT_TRY(append_block(t, file));
    for (int64_t round = 0; round < ikt_export_rounds(export); round++) {
        int64_t first, count;
        ikt_export_share(export, round, &first, &count);
        IKT_TRY(read_block(t, first, count));
        for (int64_t i = 0; i < count; i++)
            add_row(t, i);
        IKT_TRY(append_block(t, file));
    }
    return IKT_OK;
}

static ikt_status write_text(ikt_export *export, const ikt_export_options *options,
                             const char *path, char delimiter) {
    table t IKT_AT_END(table_end) = {.export = export,
                                     .options = options,
                                     .delimiter = delimiter,
                                     .block = {.ctx = export->ctx}};
    ikt_shared_file *file;
    IKT_TRY(ikt_shared_begin(export->ctx, path, options->overwrite, 0, &file));
    return ikt_shared_end(&file, write_rows(&t, file));
}

static ikt_status write_csv(ikt_export *export, const ikt_export_options *options,
                            const char *path) {
    return write_text(export, options, path, ',');
}

static ikt_status write_tsv(ikt_export *export, const ikt_export_options *options,
                            const char *path) {
    return write_text(export, options, path, '\t');
}

const ikt_export_format ikt_export_csv = {"csv", ".csv", "CSV text", ".csv .txt .gz",
                                          true,  true,   true,       write_csv};
const ikt_export_format ikt_export_tsv = {"tsv", ".tsv", "TSV text", ".tsv .txt .gz",
                                          true,  true,   true,       write_tsv};
