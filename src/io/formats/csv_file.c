/* A file of delimited text, parsed by all ranks. See csv_file.h. */
#include "io/formats/csv_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/log.h"
#include "dist/rows.h"
#include "io/formats/bytes.h"

/* HDF5 keeps texts of fixed length, and what reads them back wants less than this (columns.h). */
enum { TEXT_MOST = 65535 };

/* LOCAL, on rank 0. Size of the file, negative where one rank has all of it; and its columns. */
static ikt_status look_at(ikt_csv_file *file, const ikt_reader_options *options, int64_t *bytes) {
    const char *path = file->records.lines.path;
    ikt_csv_records all = {.lines = {.ctx = file->ctx, .path = path, .end = INT64_MAX}};
    struct stat about;
    unsigned char head[2];
    gzFile opened;
    if (stat(path, &about) != 0)
        return ikt_fail(file->ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    IKT_TRY(ikt_gz_open(file->ctx, path, &opened));
    const bool is_packed = gzread(opened, head, sizeof head) > 0 && !gzdirect(opened);
    gzclose(opened);
    const ikt_status st = ikt_csv_columns_find(&all, options, &file->columns);
    const bool is_whole = is_packed || ikt_csv_is_whole(&file->columns.how);
    *bytes = is_whole ? -1 : (int64_t)about.st_size;
    ikt_csv_free(&all);
    return st;
}

/* LOCAL. Goes back to this rank's first row. */
static ikt_status go_back(ikt_csv_file *file) {
    file->missing = (ikt_csv_missing){0};
    return file->count == 0 ? IKT_OK : ikt_csv_begin(&file->records, file->lead);
}

/* COLLECTIVE. Finds out where the records of this rank begin, and which rows they are. */
static ikt_status find_rows(ikt_csv_file *file, int64_t rows) {
    ikt_context *ctx = file->ctx;
    ikt_csv_records *records = &file->records;
    ikt_csv_passage passage[2];
    const ikt_status st = ikt_csv_survey(records, passage);
    IKT_TRY(ikt_text_lines_agree(&records->lines, st, &records->before));

    /* Whether a range begins within quotes depends on all ranges before it. */
    const int size = ikt_size(ctx), rank = ikt_rank(ctx);
    IKT_ARRAYS(held, ctx, "reader");
    int64_t *ends = ikt_claim(&held, size, sizeof *ends);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_gather_counts(ctx, passage[0].ends_inside | passage[1].ends_inside << 1, ends);
    for (int r = 0; r < rank; r++)
        records->is_inside = (ends[r] >> records->is_inside) & 1;

    int64_t count = passage[records->is_inside].records;
    const int64_t lead = ikt_csv_lead(&file->columns) - ikt_sum_before(ctx, count);
    file->lead = lead < 0 ? 0 : lead < count ? lead : count;
    count -= file->lead;
    file->n = file->n_file = ikt_sum_one(ctx, count);
    file->first = ikt_sum_before(ctx, count);
    file->count = count;
    if (rows == 0 || rows >= file->n) return IKT_OK;
    const int64_t left = rows > file->first ? rows - file->first : 0;
    if (left < file->count) file->count = left;
    if (file->first > rows) file->first = rows;
    file->n = rows;
    return IKT_OK;
}

ikt_status ikt_csv_file_open(ikt_context *ctx, const char *path, const ikt_reader_options *options,
                             int64_t rows, ikt_csv_file *file) {
    int64_t bytes = 0;
    *file = (ikt_csv_file){.ctx = ctx};
    file->records.lines = (ikt_text_lines){.ctx = ctx, .path = path};
    /* Bytes of the file as rank 0 sees it: ranges must not depend on who asks. */
    IKT_TRY(ikt_agree(ctx, ikt_rank(ctx) == 0 ? look_at(file, options, &bytes) : IKT_OK));
    ikt_broadcast(ctx, &bytes, sizeof bytes, 0);
    IKT_TRY(ikt_csv_columns_share(ctx, &file->columns));
    file->is_on_root = bytes < 0;
    file->records.how = file->columns.how;
    file->records.keys = file->columns.names;
    file->records.key_count = file->columns.columns;
    const ikt_rows range = ikt_rows_make(bytes < 0 ? 0 : bytes, ikt_size(ctx), ikt_rank(ctx));
    file->records.lines.begin = range.first;
    file->records.lines.end = range.first + range.count;
    if (file->is_on_root && ikt_rank(ctx) == 0) file->records.lines.end = INT64_MAX;
    IKT_TRY(find_rows(file, rows));
    const int64_t announced = file->columns.how.announced;
    if (announced > 0 && announced != file->n_file)
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s: its first line announces %lld rows, but there are %lld", path,
                        (long long)announced, (long long)file->n_file);
    if (file->n == 0 && options->is_source) /* perhaps a file of another kind */
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s is not an HDF5 file, and read as CSV text it has no rows of numbers",
                        path);
    if (file->n == 0)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s holds no numbers: %lld rows of %lld columns", path,
                        (long long)file->n, (long long)file->columns.numbers);
    return ikt_agree(ctx, go_back(file));
}

static ikt_status next(ikt_csv_file *file) {
    bool end;
    IKT_TRY(ikt_csv_next(&file->records, &end));
    if (end)
        return ikt_fail(file->ctx, IKT_ERR_FILE, "%s became shorter while it was read",
                        file->records.lines.path);
    return IKT_OK;
}

/* --- labels and texts ------------------------------------------------------------------------- */

/* Bytes of a cell as UTF-8, of which Latin-1 takes two for some of its letters. */
static int64_t utf8_bytes(const char *cell, bool *is_latin1) {
    int64_t bytes = (int64_t)strlen(cell);
    if (ikt_utf8_valid(cell)) return bytes;
    *is_latin1 = true;
    for (const char *at = cell; *at; at++)
        bytes += (unsigned char)*at >= 0x80;
    return bytes;
}

/* LOCAL. The label of the record at hand; NULL where it is missing and may be. */
static ikt_status take_label(const ikt_csv_file *file, int64_t column, const char **label) {
    char *cell = file->records.cell[column];
    if (!file->takes_missing) return ikt_csv_label(&file->records, &file->columns, column, label);
    for (char *at = cell; *at; at++)
        if (*at == '\n') *at = ' ';
    *label = ikt_csv_is_missing(cell) ? NULL : cell;
    return IKT_OK;
}

/* LOCAL. Of this rank's rows. */
static ikt_status learn(ikt_csv_file *file, int64_t column, bool wants_text, bool *is_latin1) {
    const ikt_csv_records *r = &file->records;
    const ikt_csv_columns *c = &file->columns;
    for (int64_t i = 0; i < file->count; i++) {
        const char *label = NULL;
        IKT_TRY(next(file));
        IKT_TRY(ikt_csv_check_cells(r, c));
        if (column >= 0) IKT_TRY(take_label(file, column, &label));
        if (label) IKT_TRY(ikt_text_labels_learn(file->ctx, &file->labels, label));
        for (int64_t t = 0; wants_text && t < c->texts; t++) {
            ikt_csv_text *text = &file->text[t];
            const int64_t bytes = utf8_bytes(r->cell[text->column], is_latin1);
            if (bytes > TEXT_MOST)
                return ikt_csv_bad_cell(r, c, text->column,
                                        " ... is a text of more than 65,535 bytes; --skip-columns "
                                        "leaves a column out");
            if (bytes > text->width) text->width = bytes;
            text->bytes += bytes;
        }
    }
    return IKT_OK;
}

/* LOCAL. The pass itself. */
static ikt_status learn_own(ikt_csv_file *file, int64_t column, bool wants_text, bool *is_latin1) {
    const ikt_csv_columns *c = &file->columns;
    if (wants_text)
        IKT_TRY(ikt_alloc(file->ctx, &file->text, c->texts, sizeof *file->text, "reader"));
    for (int64_t k = 0, t = 0; wants_text && k < c->columns; k++)
        if (c->role[k] == IKT_CSV_TEXT) file->text[t++] = (ikt_csv_text){k, 1, 0};
    IKT_TRY(go_back(file));
    return learn(file, column, wants_text, is_latin1);
}

ikt_status ikt_csv_file_learn(ikt_csv_file *file, int64_t column, bool wants_text) {
    ikt_context *ctx = file->ctx;
    const char *path = file->records.lines.path;
    bool is_latin1 = false;
    ikt_text_labels_free(&file->labels);
    ikt_free_all(&file->classes, &file->text);
    file->labels = (ikt_text_labels){.are_text = false};
    IKT_TRY(ikt_agree(ctx, learn_own(file, column, wants_text, &is_latin1)));
    for (int64_t t = 0; wants_text && t < file->columns.texts; t++) {
        file->text[t].width = ikt_max_one(ctx, file->text[t].width);
        file->text[t].bytes = ikt_sum_one(ctx, file->text[t].bytes);
    }
    if (ikt_max_one(ctx, is_latin1) > 0 && ikt_rank(ctx) == 0)
        ikt_warn(ctx, "%s holds texts that are not UTF-8; they are read as Latin-1 (ISO 8859-1)",
                 path);
    if (column >= 0) IKT_TRY(ikt_text_labels_join(ctx, path, &file->labels, &file->classes));
    return ikt_agree(ctx, go_back(file));
}

/* COLLECTIVE. Parses the labels of a column, each rank those of its rows. */
static ikt_status parse_labels(ikt_csv_file *file, int64_t column) {
    ikt_context *ctx = file->ctx;
    file->has_labels = false;
    ikt_free(&file->label);
    ikt_row_blocks_destroy(&file->blocks);
    file->takes_missing = true;
    IKT_TRY(ikt_csv_file_learn(file, column, false));
    ikt_status st = ikt_alloc(ctx, &file->label, file->count, sizeof *file->label, "labels");
    if (st == IKT_OK) st = ikt_csv_file_read(file, file->count, NULL, column, file->label, NULL);
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_row_blocks_create(ctx, file->count, &file->blocks));
    file->has_labels = true;
    file->label_column = column;
    return IKT_OK;
}

ikt_status ikt_csv_file_labels(ikt_csv_file *file, int64_t column, int64_t first, int64_t count,
                               int64_t *labels) {
    ikt_context *ctx = file->ctx;
    if (!file->has_labels || file->label_column != column) IKT_TRY(parse_labels(file, column));
    IKT_ARRAYS(held, ctx, "labels");
    int32_t *read = ikt_claim(&held, count, sizeof *read);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_row_blocks_read(ctx, &file->blocks, file->label, sizeof *read, first, count, read));
    for (int64_t i = 0; i < count; i++)
        labels[i] = read[i];
    return IKT_OK;
}

/* LOCAL. Of this rank's rows. */
static ikt_status look_for_text(ikt_csv_file *file, int64_t column, bool *found) {
    IKT_TRY(go_back(file));
    for (int64_t i = 0; i < file->count; i++) {
        IKT_TRY(next(file));
        IKT_TRY(ikt_csv_check_cells(&file->records, &file->columns));
        const char *cell = file->records.cell[column];
        *found |= ikt_csv_is_text(&file->columns.how, cell) || ikt_label_is_code(cell);
    }
    return go_back(file);
}

ikt_status ikt_csv_file_has_text(ikt_csv_file *file, int64_t column, bool *has_text) {
    bool found = false;
    IKT_TRY(ikt_agree(file->ctx, look_for_text(file, column, &found)));
    *has_text = ikt_max_one(file->ctx, found) > 0;
    return IKT_OK;
}

ikt_status ikt_csv_file_read(ikt_csv_file *file, int64_t count, double *rows, int64_t column,
                             int32_t *labels, char **texts) {
    const ikt_csv_records *r = &file->records;
    const ikt_csv_columns *c = &file->columns;
    for (int64_t i = 0; i < count; i++) {
        IKT_TRY(next(file));
        if (rows)
            IKT_TRY(ikt_csv_numbers(r, c, rows + i * c->numbers, &file->missing));
        else
            IKT_TRY(ikt_csv_check_cells(r, c));
        const char *label = NULL;
        if (labels) IKT_TRY(take_label(file, column, &label));
        if (labels)
            labels[i] = label ? ikt_text_labels_number(&file->labels, label) : IKT_LABEL_MISSING;
        for (int64_t t = 0; texts && t < c->texts; t++) {
            const ikt_csv_text *text = &file->text[t];
            char *to = texts[t] + i * text->width, copy[2 * TEXT_MOST + 1];
            const char *cell = r->cell[text->column];
            if (strlen(cell) > (size_t)TEXT_MOST)
                return ikt_csv_bad_cell(r, c, text->column, " ... was shorter before");
            if (!ikt_utf8_valid(cell)) {
                (void)ikt_utf8_copy(cell, copy, sizeof copy);
                cell = copy;
            }
            const int64_t bytes = (int64_t)strlen(cell);
            memset(to, 0, (size_t)text->width);
            memcpy(to, cell, (size_t)(bytes < text->width ? bytes : text->width));
        }
    }
    return IKT_OK;
}

void ikt_csv_file_missing(const ikt_csv_file *file, char *text, size_t size) {
    ikt_context *ctx = file->ctx;
    const ikt_csv_missing *own = &file->missing;
    const int64_t all = ikt_sum_one(ctx, own->count);
    int64_t first = own->count > 0 ? own->line : INT64_MAX, column;
    ikt_min_i64(ctx, &first, 1);
    column = own->count > 0 && own->line == first ? own->column : -1;
    column = ikt_max_one(ctx, column);
    text[0] = '\0';
    if (all == 0) return;
    const char *name = ikt_csv_heading(&file->columns, column);
    snprintf(text, size, "%s %lld, column %lld%s%.60s%s: the cell is missing",
             ikt_text_lines_unit(&file->records.lines), (long long)first, (long long)column + 1,
             *name ? " ('" : "", name, *name ? "')" : "");
    if (all > 1) ikt_join(text, size, ", ", "the first of %lld", (long long)all);
}

void ikt_csv_file_close(ikt_csv_file *file) {
    ikt_csv_free(&file->records);
    ikt_csv_columns_free(&file->columns);
    ikt_text_labels_free(&file->labels);
    ikt_free_all(&file->classes, &file->text, &file->label);
    ikt_row_blocks_destroy(&file->blocks);
}

/* --- a column as texts ------------------------------------------------------------------------ */

ikt_status ikt_csv_visit_column(ikt_context *ctx, const char *path, const char *column,
                                ikt_csv_visitor *visit, void *self) {
    const ikt_reader_options options = {.label_column = column, .keeps_text = true};
    ikt_csv_file file IKT_AT_END(ikt_csv_file_close) = {
        .ctx = ctx, .count = 1}; /* at least: from its beginning to its end */
    ikt_csv_records *records = &file.records;
    bool end = false;
    records->lines = (ikt_text_lines){.ctx = ctx, .path = path, .end = INT64_MAX};
    IKT_TRY(ikt_csv_columns_find(records, &options, &file.columns));
    file.lead = ikt_csv_lead(&file.columns);
    IKT_TRY(go_back(&file));
    IKT_TRY(ikt_csv_next(records, &end));
    for (int64_t row = 0; !end; row++) {
        IKT_TRY(ikt_csv_check_cells(records, &file.columns));
        IKT_TRY(visit(self, row, records->cell[file.columns.label]));
        IKT_TRY(ikt_csv_next(records, &end));
    }
    return IKT_OK;
}

/* --- among the formats ------------------------------------------------------------------------ */

static bool csv_probe(const unsigned char *head, int64_t bytes) {
    int64_t rows, columns;
    if (ikt_csv_are_words((const char *)head, bytes, &rows, &columns)) return true;
    for (int64_t b = 0; b < bytes; b++)
        if (head[b] < 9 || (head[b] > 13 && head[b] < 32)) return false;
    return true;
}

const ikt_reader_ops ikt_reader_csv = {.name = "CSV", .probe = csv_probe};
