/* Delimited text: a heading, and a line a row.
 *
 * Places are the shortest decimals that read back to the same float32. A gzipped file is a sequence
 * of members, one a block, which every reader of gzip takes for one file: so blocks are compressed
 * side by side, and to the same bytes on any number of ranks. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/encoding.h"
#include "base/memory.h"
#include "base/shared_file.h"
#include "base/status.h"
#include "config/value.h"
#include "io/export/export.h"

/* A block of delimited text under construction. */

/* Start with {ctx}; free with ikt_csv_block_destroy. */
typedef struct {
    ikt_context *ctx;
    char *data; /* [length] of [room]; owned */
    int64_t length, room;
    bool guards_formulas; /* cells of text that a spreadsheet would take for a formula begin with '
                           */
    ikt_status status;    /* of the first failure, after which nothing is added */
} ikt_csv_block;

/* LOCAL. Appends bytes as they are; or a cell, in quotes where it holds what has a meaning. */
void ikt_csv_block_add(ikt_csv_block *block, const char *bytes, size_t count);
void ikt_csv_block_text(ikt_csv_block *block, char delimiter, const char *text, size_t count);

/* LOCAL. Replaces the text by a gzip member of it, without name and time; none of no text. Errors:
 * IKT_ERR_RESOURCE. */
ikt_status ikt_csv_block_compress(ikt_csv_block *block);

void ikt_csv_block_destroy(ikt_csv_block *block);

enum { ROOM_FIRST = 1 << 16, LEVEL = 6, GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8 };

static ikt_status reserve(ikt_csv_block *b, size_t count) {
    if (b->status != IKT_OK || b->room - b->length >= (int64_t)count) return b->status;
    int64_t room = b->room > 0 ? b->room : ROOM_FIRST;
    while (room - b->length < (int64_t)count)
        room *= 2;
    b->status = ikt_resize(b->ctx, &b->data, room, 1, "text");
    if (b->status == IKT_OK) b->room = room;
    return b->status;
}

void ikt_csv_block_add(ikt_csv_block *b, const char *bytes, size_t count) {
    if (reserve(b, count) != IKT_OK) return;
    memcpy(b->data + b->length, bytes, count);
    b->length += (int64_t)count;
}

static int has_meaning(char c, char delimiter) {
    return c == delimiter || c == '"' || c == '\n' || c == '\r';
}

void ikt_csv_block_text(ikt_csv_block *b, char delimiter, const char *text, size_t count) {
    /* What spreadsheets take for the beginning of a formula, which may open files and addresses. */
    const int is_formula =
        b->guards_formulas && count > 0 && strchr("=+-@\t\r", text[0]) && text[0];
    int is_quoted = count > 0 && (text[0] == ' ' || text[count - 1] == ' ');
    for (size_t i = 0; i < count; i++)
        is_quoted |= has_meaning(text[i], delimiter);
    if (!is_quoted) {
        if (is_formula) ikt_csv_block_add(b, "'", 1);
        ikt_csv_block_add(b, text, count);
        return;
    }
    ikt_csv_block_add(b, "\"'", is_formula ? 2 : 1);
    for (size_t i = 0; i < count; i++)
        ikt_csv_block_add(b, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    ikt_csv_block_add(b, "\"", 1);
}

/* All of it at once: the room is as large as a member can get. A piece of zlib's is below 4 GiB, as
 * a block is. */
static ikt_status deflate_into(ikt_csv_block *b, z_stream *z, char **out, int64_t *room) {
    *room = (int64_t)deflateBound(z, (uLong)b->length);
    IKT_TRY(ikt_alloc(b->ctx, out, *room, 1, "text"));
    z->next_in = (Bytef *)b->data;
    z->avail_in = (uInt)b->length;
    z->next_out = (Bytef *)*out;
    z->avail_out = (uInt)*room;
    if (deflate(z, Z_FINISH) == Z_STREAM_END) return IKT_OK;
    return ikt_fail(b->ctx, IKT_ERR_RESOURCE, "zlib cannot compress a block of text");
}

ikt_status ikt_csv_block_compress(ikt_csv_block *b) {
    z_stream z = {.zalloc = Z_NULL};
    char *out = NULL;
    int64_t room = 0;
    if (b->length == 0) return IKT_OK;
    if (b->length > UINT32_MAX / 2)
        return ikt_fail(b->ctx, IKT_ERR_RESOURCE, "a block of text is too large to be compressed");
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return ikt_fail(b->ctx, IKT_ERR_RESOURCE, "out of memory for zlib");
    ikt_status st = deflate_into(b, &z, &out, &room);
    if (st == IKT_OK) {
        ikt_free(&b->data);
        *b = (ikt_csv_block){b->ctx, out, (int64_t)z.total_out, room, b->guards_formulas, IKT_OK};
    } else {
        ikt_free(&out);
    }
    deflateEnd(&z);
    return st;
}

void ikt_csv_block_destroy(ikt_csv_block *block) {
    ikt_free(&block->data);
    block->length = block->room = 0;
}

enum { NUMBER_MOST = 28 };

/* What text is made with; freed as one. */
typedef struct {
    ikt_export *export;
    const ikt_export_options *options;
    char delimiter;
    ikt_csv_block block;
    float *y;                              /* [IKT_EXPORT_BLOCK * q] */
    double *real[IKT_EXPORT_COLUMNS];      /* [IKT_EXPORT_BLOCK] each, of those that are */
    int64_t *whole[IKT_EXPORT_COLUMNS];    /* likewise */
    const char **name[IKT_EXPORT_COLUMNS]; /* [names] lines of class names, NULL: none */
    int64_t names[IKT_EXPORT_COLUMNS];
} table;

/* Where the lines of the names begin. */
static ikt_status index_names(table *t, int64_t c) {
    const char *text = t->export->column[c].names;
    if (!text) return IKT_OK;
    for (const char *at = text; *at; at++)
        t->names[c] += *at == '\n';
    IKT_TRY(ikt_alloc(t->export->ctx, &t->name[c], t->names[c], sizeof *t->name[c], "names"));
    for (int64_t k = 0; k < t->names[c]; k++) {
        t->name[c][k] = text;
        text += strcspn(text, "\n") + 1;
    }
    return IKT_OK;
}

static ikt_status allocate(table *t) {
    ikt_context *ctx = t->export->ctx;
    const int64_t rows = IKT_EXPORT_BLOCK;
    IKT_TRY(ikt_alloc(ctx, &t->y, rows * t->export->q, sizeof *t->y, "block"));
    for (int64_t c = 0; c < t->export->columns; c++) {
        const bool is_real = ikt_column_is_real(t->export->column[c].values);
        if (is_real) IKT_TRY(ikt_alloc(ctx, &t->real[c], rows, sizeof *t->real[c], "block"));
        if (!is_real) IKT_TRY(ikt_alloc(ctx, &t->whole[c], rows, sizeof *t->whole[c], "block"));
        if (!is_real) IKT_TRY(index_names(t, c));
    }
    return IKT_OK;
}

static void destroy(table *t) {
    ikt_free(&t->y);
    for (int64_t c = 0; c < t->export->columns; c++) {
        ikt_free(&t->real[c]);
        ikt_free(&t->whole[c]);
        ikt_free(&t->name[c]);
    }
    ikt_csv_block_destroy(&t->block);
}

static void add_delimiter(table *t) {
    ikt_csv_block_add(&t->block, &t->delimiter, 1);
}

static void add_heading(table *t) {
    static const char *const axes[] = {"x", "y", "z"};
    ikt_csv_block *b = &t->block;
    if (t->options->row_numbers) ikt_csv_block_text(b, t->delimiter, "row", 3);
    for (int c = 0; c < t->export->q; c++) {
        if (c > 0 || t->options->row_numbers) add_delimiter(t);
        ikt_csv_block_text(b, t->delimiter, axes[c], 1);
    }
    for (int64_t c = 0; c < t->export->columns; c++) {
        const char *name = t->export->column[c].name;
        add_delimiter(t);
        ikt_csv_block_text(b, t->delimiter, name, strlen(name));
        if (!t->name[c]) continue;
        add_delimiter(t);
        ikt_csv_block_text(b, t->delimiter, name, strlen(name));
        ikt_csv_block_add(b, "_name", 5);
    }
    ikt_csv_block_add(b, "\n", 1);
}

static void add_whole(table *t, int64_t value) {
    char text[NUMBER_MOST];
    ikt_csv_block_add(&t->block, text, (size_t)snprintf(text, sizeof text, "%" PRId64, value));
}

static void add_real(table *t, double value) {
    char text[IKT_REAL_TEXT];
    if (value - value == 0)
        ikt_real_print(value, text);
    else
        snprintf(text, sizeof text, "%g", value); /* nan, inf */
    ikt_csv_block_add(&t->block, text, strlen(text));
}

/* A label without a name leaves its cell empty. */
static void add_name(table *t, int64_t c, int64_t label) {
    add_delimiter(t);
    if (label < 0 || label >= t->names[c]) return;
    const char *name = t->name[c][label];
    ikt_csv_block_text(&t->block, t->delimiter, name, strcspn(name, "\n"));
}

static void add_row(table *t, int64_t row, int64_t i) {
    char text[IKT_FLOAT_TEXT];
    if (t->options->row_numbers) add_whole(t, row);
    for (int c = 0; c < t->export->q; c++) {
        if (c > 0 || t->options->row_numbers) add_delimiter(t);
        const int length = ikt_float_print(t->y[i * t->export->q + c], text);
        ikt_csv_block_add(&t->block, text, (size_t)length);
    }
    for (int64_t c = 0; c < t->export->columns; c++) {
        add_delimiter(t);
        if (t->real[c])
            add_real(t, t->real[c][i]);
        else
            add_whole(t, t->whole[c][i]);
        if (t->name[c]) add_name(t, c, t->whole[c][i]);
    }
    ikt_csv_block_add(&t->block, "\n", 1);
}

static ikt_status read_block(table *t, int64_t first, int64_t count) {
    IKT_TRY(ikt_result_read_embedding(t->export->file, first, count, t->y));
    for (int64_t c = 0; c < t->export->columns; c++) {
        ikt_column *column = t->export->column[c].values;
        if (t->real[c])
            IKT_TRY(ikt_column_read_reals(column, first, count, t->real[c]));
        else
            IKT_TRY(ikt_column_read_wholes(column, first, count, t->whole[c]));
    }
    return IKT_OK;
}

/* Appends what the block holds, compressed where that is wanted, and empties it. */
static ikt_status append_block(table *t, ikt_shared_file *file) {
    ikt_status st = t->block.status;
    if (st == IKT_OK && t->options->is_gzipped) st = ikt_csv_block_compress(&t->block);
    IKT_TRY(ikt_agree(t->export->ctx, st));
    IKT_TRY(ikt_shared_append(file, t->block.data, t->block.length));
    t->block.length = 0;
    return IKT_OK;
}

static ikt_status append_rows(table *t, ikt_shared_file *file) {
    for (int64_t round = 0; round < ikt_export_rounds(t->export); round++) {
        int64_t first, count;
        ikt_export_share(t->export, round, &first, &count);
        IKT_TRY(read_block(t, first, count));
        for (int64_t i = 0; i < count; i++)
            add_row(t, first + i, i);
        IKT_TRY(append_block(t, file));
    }
    return IKT_OK;
}

static ikt_status write_text(ikt_export *export, const ikt_export_options *options,
                             const char *path, char delimiter) {
    ikt_context *ctx = export->ctx;
    table t = {.export = export,
               .options = options,
               .delimiter = delimiter,
               .block = {.ctx = ctx, .guards_formulas = options->guards_formulas}};
    ikt_shared_file *file;
    IKT_TRY(ikt_shared_begin(ctx, path, options->overwrite, 0, &file));
    ikt_status st = ikt_agree(ctx, allocate(&t));
    if (ikt_rank(ctx) == 0) add_heading(&t);
    if (st == IKT_OK) st = append_block(&t, file);
    if (st == IKT_OK) st = append_rows(&t, file);
    destroy(&t);
    return ikt_shared_end(&file, st);
}

static ikt_status write_csv(ikt_export *export, const ikt_export_options *options,
                            const char *path) {
    return write_text(export, options, path, ',');
}

static ikt_status write_tsv(ikt_export *export, const ikt_export_options *options,
                            const char *path) {
    return write_text(export, options, path, '\t');
}

const ikt_export_format ikt_export_csv = {"csv", ".csv", true, true, true, write_csv};
const ikt_export_format ikt_export_tsv = {"tsv", ".tsv", true, true, true, write_tsv};
