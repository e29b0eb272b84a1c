/* Delimited text: a heading, and a line a row.
 *
 * Places are the shortest decimals that read back to the same float32. A gzipped file is a sequence
 * of members, one a block, which every reader of gzip takes for one file: so blocks are compressed
 * side by side, and to the same bytes on any number of ranks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/float_text.h"
#include "base/memory.h"
#include "base/shared_file.h"
#include "config/value.h"
#include "io/export/csv_block.h"
#include "io/export/export.h"

enum { NUMBER_MOST = 28 };

/* What text is made with; freed as one. */
typedef struct {
    ikt_export *export;
    const ikt_export_wishes *wishes;
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
    if (t->wishes->row_numbers) ikt_csv_block_text(b, t->delimiter, "row", 3);
    for (int c = 0; c < t->export->q; c++) {
        if (c > 0 || t->wishes->row_numbers) add_delimiter(t);
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
    if (t->wishes->row_numbers) add_whole(t, row);
    for (int c = 0; c < t->export->q; c++) {
        if (c > 0 || t->wishes->row_numbers) add_delimiter(t);
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
    if (st == IKT_OK && t->wishes->is_gzipped) st = ikt_csv_block_compress(&t->block);
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

static ikt_status write_text(ikt_export *export, const ikt_export_wishes *wishes, const char *path,
                             char delimiter) {
    ikt_context *ctx = export->ctx;
    table t = {.export = export,
               .wishes = wishes,
               .delimiter = delimiter,
               .block = {.ctx = ctx, .guards_formulas = wishes->guards_formulas}};
    ikt_shared_file *file;
    IKT_TRY(ikt_shared_begin(ctx, path, wishes->overwrite, 0, &file));
    ikt_status st = ikt_agree(ctx, allocate(&t));
    if (ikt_rank(ctx) == 0) add_heading(&t);
    if (st == IKT_OK) st = append_block(&t, file);
    if (st == IKT_OK) st = append_rows(&t, file);
    destroy(&t);
    return ikt_shared_end(&file, st);
}

static ikt_status write_csv(ikt_export *export, const ikt_export_wishes *wishes, const char *path) {
    return write_text(export, wishes, path, ',');
}

static ikt_status write_tsv(ikt_export *export, const ikt_export_wishes *wishes, const char *path) {
    return write_text(export, wishes, path, '\t');
}

const ikt_export_format ikt_export_csv = {"csv", ".csv", true, true, write_csv};
const ikt_export_format ikt_export_tsv = {"tsv", ".tsv", true, true, write_tsv};
