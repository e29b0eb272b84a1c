/* iktsne convert: IDX, NPY, CSV, LIBSVM or HDF5 to the HDF5 that embed reads.
 *
 * Foreign files are read in order by rank 0, block by block; HDF5 is read by all ranks. All take
 * part in the writing and in the outcome. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/option.h"
#include "app/verbs.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "dist/row_map.h"
#include "io/reader.h"
#include "io/source.h"
#include "io/table_writer.h"

enum { TYPE_AUTO = -1 };
static const int64_t block_bytes = (int64_t)8 << 20; /* of a rank, as float64 */

typedef struct {
    char labels[IKT_STRING_MAX], label_column[IKT_STRING_MAX], skip_columns[IKT_STRING_MAX];
    char dataset[IKT_STRING_MAX];
    int type, delimiter, header;
    int64_t rows;
    bool overwrite;
} request;

/* What is to be converted; the same on all ranks. */
typedef struct {
    int64_t n, d;
    ikt_type type;
    bool labels;
} shape;

/* Where rows come from: a reader on rank 0, or an HDF5 source on all. */
typedef struct {
    ikt_context *ctx;
    const request *wish;
    const char *path;
    ikt_reader *rows, *labels; /* rank 0 */
    ikt_source *source;        /* all ranks */
    shape shape;
    ikt_type type; /* of the file written */
} conversion;

/* A block of rows on its way. */
typedef struct {
    void *read, *written; /* as in the input, as in the output */
    int64_t *wide;
    int32_t *labels;
} block;

static ikt_status check_labels(const conversion *c) {
    if (!c->labels) return IKT_OK;
    if (c->labels->d != 1)
        return ikt_fail(c->ctx, IKT_ERR_DATA, "%s: labels must be one column, it has %lld",
                        c->labels->path, (long long)c->labels->d);
    if (c->rows->labels)
        return ikt_fail(c->ctx, IKT_ERR_USAGE,
                        "the rows of %s come with labels (--label-column, or LIBSVM): --labels "
                        "and these exclude each other",
                        c->path);
    if (c->labels->n != c->rows->n)
        return ikt_fail(c->ctx, IKT_ERR_DATA, "%s has %lld labels, but %s has %lld rows",
                        c->labels->path, (long long)c->labels->n, c->rows->path,
                        (long long)c->rows->n);
    return IKT_OK;
}

static ikt_status open_readers(conversion *c) {
    static const char delimiters[] = {0, ',', ';', '\t', ' '};
    const request *wish = c->wish;
    const ikt_reader_options options = {delimiters[wish->delimiter], (ikt_csv_header)wish->header,
                                        wish->label_column, wish->skip_columns};
    const ikt_reader_options plain = {0, IKT_HEADER_AUTO, "", ""};
    IKT_TRY(ikt_reader_open(c->ctx, c->path, &options, &c->rows));
    if (wish->labels[0]) IKT_TRY(ikt_reader_open(c->ctx, wish->labels, &plain, &c->labels));
    IKT_TRY(check_labels(c));
    c->shape = (shape){c->rows->n, c->rows->d, c->rows->type, c->rows->labels || c->labels};
    if (wish->rows > c->shape.n)
        return ikt_fail(c->ctx, IKT_ERR_USAGE, "--rows %lld, but %s has only %lld rows",
                        (long long)wish->rows, c->path, (long long)c->shape.n);
    if (wish->rows > 0) c->shape.n = wish->rows;
    return IKT_OK;
}

static bool is_hdf5(const char *path) {
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char head[8];
    FILE *file = fopen(path, "rb");
    bool same = file && fread(head, 1, 8, file) == 8 && memcmp(head, signature, 8) == 0;
    if (file) fclose(file);
    return same;
}

static ikt_status open_source(conversion *c) {
    int64_t label;
    bool labels;
    const request *wish = c->wish;
    if (wish->label_column[0] || wish->skip_columns[0] || wish->labels[0])
        return ikt_fail(c->ctx, IKT_ERR_USAGE,
                        "%s is an HDF5 file: its labels are the data set 'labels'; --labels, "
                        "--label-column and --skip-columns do not apply",
                        c->path);
    IKT_TRY(ikt_source_open(c->ctx, c->path, wish->dataset, wish->rows, &c->source));
    IKT_TRY(ikt_source_read_labels(c->source, "labels", 0, 0, &label, &labels));
    c->shape = (shape){ikt_source_rows(c->source), ikt_source_columns(c->source),
                       ikt_source_type(c->source), labels};
    return IKT_OK;
}

static ikt_status open_input(conversion *c) {
    bool root = ikt_rank(c->ctx) == 0;
    if (ikt_max_one(c->ctx, root && is_hdf5(c->path)) > 0) {
        IKT_TRY(open_source(c));
    } else {
        IKT_TRY(ikt_agree(c->ctx, root ? open_readers(c) : IKT_OK));
        ikt_broadcast(c->ctx, &c->shape, (int64_t)sizeof c->shape, 0);
    }
    c->type = c->wish->type == TYPE_AUTO ? c->shape.type : (ikt_type)c->wish->type;
    return IKT_OK;
}

static double number_at(ikt_type type, const void *values, int64_t i) {
    return type == IKT_TYPE_U8    ? (double)((const uint8_t *)values)[i]
           : type == IKT_TYPE_F32 ? (double)((const float *)values)[i]
                                  : ((const double *)values)[i];
}

/* Whether a number can be stored: floats may round it, but not lose it. What is not finite cannot
 * be embedded, so it is refused here, where the file can still be mended. */
static bool fits(ikt_type type, double value) {
    if (type == IKT_TYPE_U8) return value >= 0 && value <= 255 && value == floor(value);
    return type == IKT_TYPE_F32 ? fabs(value) <= FLT_MAX : isfinite(value);
}

/* Values of the input's type to the output's. `first` is the global row of the first. */
static ikt_status recast(const conversion *c, int64_t first, int64_t count, const block *b) {
    for (int64_t e = 0; e < count * c->shape.d; e++) {
        double value = number_at(c->shape.type, b->read, e);
        if (!fits(c->type, value))
            return ikt_fail(c->ctx, IKT_ERR_DATA,
                            "%s, row %lld, column %lld (counted from 0): %g cannot be stored as %s",
                            c->path, (long long)(first + e / c->shape.d),
                            (long long)(e % c->shape.d), value, ikt_type_name(c->type));
        if (c->type == IKT_TYPE_F32)
            ((float *)b->written)[e] = (float)value;
        else if (c->type == IKT_TYPE_F64)
            ((double *)b->written)[e] = value;
        else
            ((uint8_t *)b->written)[e] = (uint8_t)value;
    }
    return IKT_OK;
}

static ikt_status bad_label(const conversion *c, const char *path, int64_t row, double value) {
    return ikt_fail(c->ctx, IKT_ERR_DATA,
                    "%s, row %lld (counted from 0): %.17g is no label (an integer of 32 bits)",
                    path, (long long)row, value);
}

static ikt_status read_label_file(const conversion *c, int64_t first, int64_t count,
                                  const block *b) {
    IKT_TRY(ikt_reader_read(c->labels, count, b->read, NULL));
    for (int64_t i = 0; i < count; i++) {
        double value = number_at(c->labels->type, b->read, i);
        if (value != floor(value) || fabs(value) >= 2147483648.0)
            return bad_label(c, c->labels->path, first + i, value);
        b->labels[i] = (int32_t)value;
    }
    return IKT_OK;
}

/* A block from the readers of rank 0. */
static ikt_status read_foreign(const conversion *c, int64_t first, int64_t count, const block *b) {
    if (count == 0) return IKT_OK;
    IKT_TRY(ikt_reader_read(c->rows, count, b->read, c->rows->labels ? b->labels : NULL));
    IKT_TRY(recast(c, first, count, b));
    return c->labels ? read_label_file(c, first, count, b) : IKT_OK;
}

static ikt_status narrow_labels(const conversion *c, int64_t first, int64_t count, const block *b) {
    for (int64_t i = 0; i < count; i++) {
        if (b->wide[i] != (int32_t)b->wide[i])
            return bad_label(c, c->path, first + i, (double)b->wide[i]);
        b->labels[i] = (int32_t)b->wide[i];
    }
    return IKT_OK;
}

/* A block from the HDF5 source; collective. */
static ikt_status read_source(const conversion *c, int64_t first, int64_t count, const block *b) {
    bool present;
    IKT_TRY(ikt_source_read(c->source, first, count, b->read));
    if (c->shape.labels)
        IKT_TRY(ikt_source_read_labels(c->source, "labels", first, count, b->wide, &present));
    IKT_TRY(recast(c, first, count, b));
    return c->shape.labels ? narrow_labels(c, first, count, b) : IKT_OK;
}

/* Rows of this rank out of `count` from `first` on: its share, or all on rank 0 alone. */
static ikt_row_map share_of(const conversion *c, int64_t first, int64_t count) {
    int size = c->source ? ikt_size(c->ctx) : 1, rank = ikt_rank(c->ctx);
    ikt_row_map share = {.first = first, .count = 0};
    if (rank < size) share = ikt_row_map_make(count, size, rank);
    if (rank < size) share.first += first;
    return share;
}

static ikt_status copy_blocks(const conversion *c, ikt_table_writer *writer, int64_t rows,
                              const block *b) {
    int64_t step = c->source ? rows * ikt_size(c->ctx) : rows;
    for (int64_t first = 0; first < c->shape.n; first += step) {
        int64_t left = c->shape.n - first, count = left < step ? left : step;
        ikt_row_map own = share_of(c, first, count);
        ikt_status st = c->source ? read_source(c, own.first, own.count, b)
                                  : read_foreign(c, own.first, own.count, b);
        IKT_TRY(ikt_agree(c->ctx, st));
        IKT_TRY(ikt_table_write(writer, own.first, own.count, b->written,
                                c->shape.labels ? b->labels : NULL));
        ikt_progress(c->ctx, "rows", first + count, c->shape.n, NULL);
    }
    return IKT_OK;
}

static ikt_status copy_rows(const conversion *c, ikt_table_writer *writer) {
    int64_t rows = block_bytes / (8 * c->shape.d) + 1;
    if (rows > c->shape.n) rows = c->shape.n;
    block b = {NULL, NULL, NULL, NULL};
    ikt_status st = ikt_alloc(c->ctx, &b.read, rows * c->shape.d, 8, "blocks");
    if (st == IKT_OK) st = ikt_alloc(c->ctx, &b.written, rows * c->shape.d, 8, "blocks");
    if (st == IKT_OK) st = ikt_alloc(c->ctx, &b.labels, rows, sizeof *b.labels, "blocks");
    if (st == IKT_OK) st = ikt_alloc(c->ctx, &b.wide, rows, sizeof *b.wide, "blocks");
    st = ikt_agree(c->ctx, st);
    if (st == IKT_OK) st = copy_blocks(c, writer, rows, &b);
    ikt_free(&b.read);
    ikt_free(&b.written);
    ikt_free(&b.labels);
    ikt_free(&b.wide);
    return st;
}

/* The names of text classes, "a\nb\n", on every rank; NULL where labels have none. */
static ikt_status share_class_names(const conversion *c, char **names) {
    const char *own = c->rows ? c->rows->classes : NULL;
    *names = NULL;
    if (c->source) return ikt_source_read_text(c->source, "label_names", names);
    int64_t bytes = ikt_max_one(c->ctx, own ? (int64_t)strlen(own) + 1 : 0);
    if (bytes == 0) return IKT_OK;
    ikt_status st = ikt_agree(c->ctx, ikt_alloc(c->ctx, names, bytes, 1, "class names"));
    if (st == IKT_OK && own) strcpy(*names, own);
    if (st == IKT_OK)
        ikt_broadcast(c->ctx, *names, bytes, 0);
    else
        ikt_free(names);
    return st;
}

static ikt_status copy_class_names(const conversion *c, ikt_table_writer *writer) {
    char *names;
    IKT_TRY(share_class_names(c, &names));
    ikt_status st = names ? ikt_table_attribute(writer, "label_names", names) : IKT_OK;
    ikt_free(&names);
    return st;
}

static ikt_status copy_marked(const conversion *c, ikt_table_writer *writer) {
    int64_t *rows, count;
    if (!c->source) return IKT_OK;
    IKT_TRY(ikt_source_read_marked(c->source, &rows, &count));
    ikt_status st = count > 0 ? ikt_table_marked(writer, rows, count) : IKT_OK;
    ikt_free(&rows);
    return st;
}

static ikt_status write_output(const conversion *c, const char *path) {
    ikt_table_writer *writer = NULL;
    ikt_status st = ikt_table_create(c->ctx, path, c->wish->overwrite, c->shape.n, c->shape.d,
                                     c->type, c->shape.labels, &writer);
    if (st == IKT_OK) st = copy_rows(c, writer);
    if (st == IKT_OK) st = copy_class_names(c, writer);
    if (st == IKT_OK) st = copy_marked(c, writer);
    if (st == IKT_OK) st = ikt_table_attribute(writer, "source", c->path);
    return ikt_table_close(&writer, st);
}

static ikt_status convert(ikt_context *ctx, const request *wish, const char *in, const char *out) {
    conversion c = {.ctx = ctx, .wish = wish, .path = in};
    IKT_TRY(ikt_atomic_check(ctx, out, wish->overwrite)); /* before a long input is read */
    ikt_status st = open_input(&c);
    if (st == IKT_OK) st = write_output(&c, out);
    if (st == IKT_OK)
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        (ikt_log_number[]){
                            IKT_LOG_INT("rows", c.shape.n), IKT_LOG_INT("columns", c.shape.d), {0}},
                        "%s: %lld rows x %lld columns, %s, %s labels", out, (long long)c.shape.n,
                        (long long)c.shape.d, ikt_type_name(c.type),
                        c.shape.labels ? "with" : "without");
    ikt_reader_close(&c.rows);
    ikt_reader_close(&c.labels);
    ikt_source_close(&c.source);
    return st;
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    request wish;
    bool help;
    const ikt_option options[] = {
        {"labels", IKT_KEY_STRING, "FILE", "", 0, 0, NULL,
         "File with one integer a row (IDX, NPY or CSV)", wish.labels},
        {"label-column", IKT_KEY_STRING, "COLUMN", "", 0, 0, NULL,
         "Column of a CSV file that holds the labels, by name or number from 1; text is numbered "
         "in the order of its sorted values, whose names go to the attribute label_names",
         wish.label_column},
        {"skip-columns", IKT_KEY_STRING, "LIST", "", 0, 0, NULL,
         "Columns of a CSV file to leave out, names or numbers with commas between",
         wish.skip_columns},
        {"delimiter", IKT_KEY_CHOICE, "NAME", "auto", 0, 0, "auto|comma|semicolon|tab|blank",
         "What separates the cells of a CSV file", &wish.delimiter},
        {"header", IKT_KEY_CHOICE, "WHETHER", "auto", 0, 0, "auto|yes|no",
         "Whether the first line of a CSV file names the columns; auto: when it holds a text where "
         "a number should be",
         &wish.header},
        {"type", IKT_KEY_CHOICE, "TYPE", "auto", 0, 0, "auto|uint8|float32|float64",
         "Type of the numbers written; auto keeps that of the input (CSV: float64, "
         "LIBSVM: float32)",
         &wish.type},
        {"rows", IKT_KEY_INT, "N", "0", 0, 1e15, NULL, "Take the first N rows only; 0 is all",
         &wish.rows},
        {"dataset", IKT_KEY_STRING, "NAME", "X", 0, 0, NULL, "Data set of an HDF5 input",
         wish.dataset},
        {"overwrite", IKT_KEY_BOOL, NULL, "no", 0, 0, NULL, "Replace the output if it exists",
         &wish.overwrite}};
    const char *path[2];
    int count;
    IKT_TRY(ikt_options_parse(ctx, &ikt_verb_convert, options, sizeof options / sizeof *options,
                              argc, argv, path, 2, 2, &count, &help));
    if (help) return IKT_OK;
    wish.type--; /* auto is -1, the types follow in their order */
    return convert(ctx, &wish, path[0], path[1]);
}

const ikt_verb ikt_verb_convert = {"convert", "INPUT OUTPUT.h5 [options]",
                                   "Convert IDX, NPY, CSV, LIBSVM (each also gzipped) or HDF5 to "
                                   "a data set that embed reads",
                                   run};
