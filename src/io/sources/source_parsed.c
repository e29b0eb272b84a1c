/* Rows that must be parsed or unpacked, held in memory, a share on each rank.
 *
 * CSV is parsed by all ranks (csv_file.h), each of which keeps the rows of its part of the file; of
 * a compressed file rank 0 unpacks block after block and each rank keeps its share of it. So are
 * maps in other formats of which one rank reads the bytes (gzipped NPY, NPZ, MATLAB): maps are
 * small. Any range is then an exchange between ranks (dist/row_blocks.h).
 * Advantage: no file between; rows are the same on any ranks, and those of `convert`. Disadvantage:
 * the memory of the rows, 8 bytes a number of CSV. */
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/log.h"
#include "dist/row_blocks.h"
#include "dist/rows.h"
#include "io/formats/csv_file.h"
#include "io/sources/labels.h"
#include "io/sources/source_ops.h"

static const char purpose[] = "parsed rows";
static const int64_t block_bytes = (int64_t)4 << 20;

typedef struct {
    char *path;
    char *rows; /* [blocks: own rows * d] of the source's type */
    ikt_row_blocks blocks;
    ikt_csv_file csv; /* kept open: labels are read when they are asked for */
} parsed_self;

/* COLLECTIVE. Rows that rank 0 brings, block after block, of which each rank keeps its equal share.
 *   next   LOCAL, on rank 0: the next `count` rows */
typedef ikt_status bring(void *self, int64_t count, void *rows);
static ikt_status keep_share(ikt_source *source, bring *next, void *from) {
    parsed_self *self = source->self;
    ikt_context *ctx = source->ctx;
    const ikt_rows own = ikt_rows_make(source->n, ikt_size(ctx), ikt_rank(ctx));
    const int64_t row = source->d * (int64_t)ikt_type_size(source->type);
    const int64_t most = block_bytes / row + 1;
    IKT_ARRAYS(held, ctx, purpose);
    self->rows = ikt_claim_kept(&held, own.count, (size_t)row);
    char *block = ikt_claim(&held, most, (size_t)row);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t first = 0; first < source->n; first += most) {
        const int64_t count = source->n - first < most ? source->n - first : most;
        IKT_TRY(ikt_agree(ctx, ikt_rank(ctx) == 0 ? next(from, count, block) : IKT_OK));
        ikt_broadcast(ctx, block, count * row, 0);
        const int64_t begin = first > own.first ? first : own.first;
        const int64_t last = first + count, end = own.first + own.count;
        const int64_t mine = (end < last ? end : last) - begin;
        if (mine > 0)
            memcpy(self->rows + (begin - own.first) * row, block + (begin - first) * row,
                   (size_t)(mine * row));
    }
    ikt_arrays_free(&held);
    return ikt_row_blocks_create(ctx, own.count, &self->blocks);
}

static ikt_status parsed_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    parsed_self *self = source->self;
    return ikt_row_blocks_read(source->ctx, &self->blocks, self->rows,
                               (size_t)source->d * ikt_type_size(source->type), first, count, rows);
}

static void parsed_close(ikt_source *source) {
    parsed_self *self = source->self;
    ikt_free(&self->rows);
    ikt_free(&self->path);
    ikt_row_blocks_destroy(&self->blocks);
    ikt_csv_file_close(&self->csv);
}

/* COLLECTIVE. Copies the path, which messages and readers may keep. */
static ikt_status keep_path(ikt_source *source, const char *path) {
    parsed_self *self = source->self;
    IKT_TRY(ikt_alloc_all(source->ctx, &self->path, (int64_t)strlen(path) + 1, 1, "source"));
    strcpy(self->path, path);
    return IKT_OK;
}

/* --- CSV -------------------------------------------------------------------------------------- */

static ikt_status csv_bring(void *file, int64_t count, void *rows) {
    return ikt_csv_file_read(file, count, rows, -1, NULL, NULL);
}

static ikt_status parse(ikt_source *source) {
    parsed_self *self = source->self;
    ikt_context *ctx = source->ctx;
    ikt_csv_file *csv = &self->csv;
    if (csv->is_on_root) return keep_share(source, csv_bring, csv);
    IKT_TRY(ikt_alloc_all(ctx, &self->rows, csv->count * source->d, sizeof(double), purpose));
    IKT_TRY(
        ikt_agree(ctx, ikt_csv_file_read(csv, csv->count, (double *)self->rows, -1, NULL, NULL)));
    return ikt_row_blocks_create(ctx, csv->count, &self->blocks);
}

static ikt_status csv_labels(ikt_source *source, const char *name, int64_t first, int64_t count,
                             int64_t *labels, bool *present) {
    parsed_self *self = source->self;
    ikt_csv_file *csv = &self->csv;
    const bool is_default = ikt_labels_are_default(name);
    int64_t column =
        is_default ? csv->columns.label : ikt_csv_find(&csv->columns, name, strlen(name));
    if (is_default && column < 0) column = ikt_csv_find(&csv->columns, "label", strlen("label"));
    *present = column >= 0;
    if (!*present) return IKT_OK;
    IKT_TRY(ikt_csv_file_labels(csv, column, first, count, labels));
    ikt_free(&source->label_names);
    if (!csv->classes) return IKT_OK;
    const int64_t length = (int64_t)strlen(csv->classes) + 1;
    IKT_TRY(ikt_alloc_all(source->ctx, &source->label_names, length, 1, "classes"));
    strcpy(source->label_names, csv->classes);
    return IKT_OK;
}

/* As input.skip_columns takes it, also between quotes in a shell: the heading, or else the number
 * in the file. */
static void csv_setting(const ikt_csv_columns *c, int64_t k, char *name, size_t size) {
    snprintf(name, size, "%s", ikt_csv_heading(c, k));
    if (!name[0] || strpbrk(name, ",'\"") || ikt_csv_find(c, name, strlen(name)) != k)
        snprintf(name, size, "%lld", (long long)k + 1);
}

static bool csv_name_column(const ikt_source *source, int64_t column, char *name, size_t size) {
    const ikt_csv_columns *c = &((const parsed_self *)source->self)->csv.columns;
    for (int64_t k = 0; k < c->columns; k++) { /* numbers of a vector have none */
        if (c->role[k] != IKT_CSV_NUMBER || c->width[k] > 0 || c->place[k] != column + 1) continue;
        csv_setting(c, k, name, size);
        return true;
    }
    return false;
}

static ikt_status csv_name_columns(const ikt_source *source, ikt_text *names) {
    const ikt_csv_columns *c = &((const parsed_self *)source->self)->csv.columns;
    int64_t *at IKT_AT_END(ikt_free) = NULL;
    bool any = false;
    if (c->is_numbered) return IKT_OK; /* headings that only count say nothing */
    IKT_TRY(ikt_alloc(source->ctx, &at, source->d, sizeof *at, purpose));
    for (int64_t k = 0; k < c->columns; k++) {
        if (c->role[k] != IKT_CSV_NUMBER) continue;
        if (c->width[k] > 0) return IKT_OK; /* numbers of a vector have none */
        at[c->place[k] - 1] = k;
        any |= ikt_csv_heading(c, k)[0] != '\0';
    }
    for (int64_t place = 0; any && place < source->d; place++)
        ikt_column_name_add(names, ikt_csv_heading(c, at[place]));
    return IKT_OK;
}

static void csv_describe(const ikt_source *source, ikt_source_content *content) {
    const ikt_csv_columns *c = &((const parsed_self *)source->self)->csv.columns;
    for (int64_t k = 0; k < c->columns && strlen(content->labels) + 160 < sizeof content->labels;
         k++) {
        char name[128];
        if (c->role[k] == IKT_CSV_NUMBER) continue;
        csv_setting(c, k, name, sizeof name);
        ikt_join(content->labels, sizeof content->labels, ", ", "%s", name);
    }
    (void)ikt_csv_describe(c, content->beside, sizeof content->beside);
}

static const ikt_source_ops csv_ops = {.self_bytes = sizeof(parsed_self),
                                       .read = parsed_read,
                                       .read_labels = csv_labels,
                                       .name_column = csv_name_column,
                                       .name_columns = csv_name_columns,
                                       .describe = csv_describe,
                                       .close = parsed_close};

/* COLLECTIVE. Opens the file and takes its rows. */
static ikt_status csv_take(ikt_source *source, const char *path, int64_t rows,
                           const ikt_reader_options *columns) {
    ikt_context *ctx = source->ctx;
    parsed_self *self = source->self;
    IKT_TRY(keep_path(source, path));
    IKT_TRY(ikt_csv_file_open(ctx, self->path, columns, rows, &self->csv));
    const char *unread = self->csv.columns.unread;
    if (self->csv.columns.numbers == 0)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s is not an HDF5 file, and read as CSV text it has no column of numbers"
                        "%s%s",
                        path, *unread ? ": " : "", unread);
    if (*unread && ikt_rank(ctx) == 0) ikt_warn(ctx, "%s: %s", path, unread);
    source->n_file = self->csv.n_file;
    source->d = self->csv.columns.numbers;
    source->type = source->stored = IKT_TYPE_F64;
    IKT_TRY(ikt_source_use_rows(source, rows));
    IKT_TRY(parse(source));
    ikt_csv_free(&self->csv.records); /* until labels are asked for */
    ikt_csv_file_missing(&self->csv, source->missing, sizeof source->missing);
    if (source->missing[0] && ikt_rank(ctx) == 0)
        ikt_warn(ctx, "%s, %s; such cells are read as NaN", path, source->missing);
    return IKT_OK;
}

static ikt_status csv_open(ikt_context *ctx, const ikt_source_format *format, const char *path,
                           const ikt_source_options *options, ikt_source **out) {
    const char *dataset = options->dataset;
    const bool is_all = options->inherited || ikt_source_is_any(dataset);
    const ikt_reader_options columns = {.delimiter = options->delimiter,
                                        .label_column = options->labels,
                                        .label_may_lack = true,
                                        .skip_columns = options->skip,
                                        .skip_may_lack = options->inherited,
                                        .take_columns = is_all ? NULL : dataset,
                                        .keeps_text = true,
                                        .keeps_missing = true,
                                        .is_source = true,
                                        .rounds = options->is_list,
                                        .is_map = options->is_map};
    if (options->transposed == IKT_TRANSPOSED_YES)
        return ikt_fail(ctx, IKT_ERR_USAGE, /* the same on all ranks */
                        "input.transposed: yes is for arrays, and %s is CSV text, whose lines are "
                        "rows",
                        path);
    IKT_TRY(ikt_source_new(ctx, &csv_ops, format->name, path, is_all ? "" : dataset, out));
    const ikt_status st = csv_take(*out, path, options->rows, &columns);
    if (st != IKT_OK) ikt_source_close(out);
    return st;
}

const ikt_source_format ikt_source_csv = {"CSV", NULL, csv_open};

/* --- formats that one rank reads -------------------------------------------------------------- */

static ikt_status reader_bring(void *reader, int64_t count, void *rows) {
    return ikt_reader_read(reader, count, rows, NULL);
}

static const ikt_source_ops packed_ops = {
    .self_bytes = sizeof(parsed_self), .read = parsed_read, .close = parsed_close};

/* COLLECTIVE. Opens the file on rank 0 and takes its rows. */
static ikt_status packed_take(ikt_source *source, const char *path, const char *array,
                              int64_t rows) {
    ikt_context *ctx = source->ctx;
    const ikt_reader_options plain = {.array = array};
    ikt_reader *reader IKT_AT_END(ikt_reader_close) = NULL;
    ikt_status st = IKT_OK;
    IKT_TRY(keep_path(source, path));
    if (ikt_rank(ctx) == 0)
        st = ikt_reader_open(ctx, ((parsed_self *)source->self)->path, &plain, &reader);
    IKT_TRY(ikt_agree(ctx, st));
    int64_t shape[3] = {0, 0, 0};
    if (reader) memcpy(shape, (int64_t[]){reader->n, reader->d, reader->type}, sizeof shape);
    ikt_broadcast(ctx, shape, (int64_t)sizeof shape, 0);
    source->n_file = shape[0];
    source->d = shape[1];
    source->type = source->stored = (ikt_type)shape[2];
    IKT_TRY(ikt_source_use_rows(source, rows));
    return keep_share(source, reader_bring, reader);
}

static ikt_status packed_open(ikt_context *ctx, const ikt_source_format *format, const char *path,
                              const ikt_source_options *options, ikt_source **out) {
    const char *array = ikt_source_is_any(options->dataset) ? NULL : options->dataset;
    IKT_TRY(ikt_source_new(ctx, &packed_ops, format->name, path, array ? array : "", out));
    const ikt_status st = packed_take(*out, path, array, options->rows);
    if (st != IKT_OK) ikt_source_close(out);
    return st;
}

const ikt_source_format ikt_source_packed = {"packed", NULL, packed_open};
