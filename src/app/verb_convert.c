/* iktsne convert: IDX, NPY, CSV or HDF5 to the HDF5 that embed reads.
 *
 * Foreign files are read in order by rank 0, block by block; all ranks take part in the writing and
 * in the outcome. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/option.h"
#include "app/verbs.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "io/reader.h"
#include "io/source.h"
#include "io/table_writer.h"

enum { TYPE_AUTO = -1 };
static const int64_t block_bytes = (int64_t)8 << 20;

typedef struct {
    char labels[IKT_STRING_MAX], label_column[IKT_STRING_MAX], skip_columns[IKT_STRING_MAX];
    char dataset[IKT_STRING_MAX];
    int type, delimiter;
    int64_t rows;
    bool overwrite;
} request;

/* What rank 0 found; broadcast. */
typedef struct {
    int64_t n, d;
    int32_t type, labels;
} shape;

/* Where rows come from: a reader on rank 0, or an HDF5 source on all. */
typedef struct {
    ikt_context *ctx;
    const request *wish;
    ikt_reader *rows, *labels; /* rank 0 */
    ikt_source *source;        /* all ranks */
    shape shape;
    ikt_type type; /* of the file written */
} conversion;

static ikt_status check_labels(conversion *c) {
    if (!c->labels) return IKT_OK;
    if (c->labels->d != 1)
        return ikt_fail(c->ctx, IKT_ERR_DATA, "%s: labels must be one column, it has %lld",
                        c->labels->path, (long long)c->labels->d);
    if (c->rows->labels)
        return ikt_fail(c->ctx, IKT_ERR_USAGE, "--labels and --label-column exclude each other");
    if (c->labels->n != c->rows->n)
        return ikt_fail(c->ctx, IKT_ERR_DATA, "%s has %lld labels, but %s has %lld rows",
                        c->labels->path, (long long)c->labels->n, c->rows->path,
                        (long long)c->rows->n);
    return IKT_OK;
}

static ikt_status open_readers(conversion *c, const char *path) {
    static const char delimiters[] = {0, ',', ';', '\t', ' '};
    const ikt_reader_options options = {delimiters[c->wish->delimiter], c->wish->label_column,
                                        c->wish->skip_columns};
    const ikt_reader_options plain = {0, "", ""};
    IKT_TRY(ikt_reader_open(c->ctx, path, &options, &c->rows));
    if (c->wish->labels[0]) IKT_TRY(ikt_reader_open(c->ctx, c->wish->labels, &plain, &c->labels));
    IKT_TRY(check_labels(c));
    c->shape =
        (shape){c->rows->n, c->rows->d, (int32_t)c->rows->type, c->rows->labels || c->labels};
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

static ikt_status open_source(conversion *c, const char *path) {
    int64_t label;
    bool labels;
    const request *wish = c->wish;
    if (wish->label_column[0] || wish->skip_columns[0] || wish->labels[0])
        return ikt_fail(c->ctx, IKT_ERR_USAGE,
                        "%s is an HDF5 file: its labels are the data set 'labels'; --labels, "
                        "--label-column and --skip-columns do not apply",
                        path);
    IKT_TRY(ikt_source_open(c->ctx, path, wish->dataset, 0, &c->source));
    IKT_TRY(ikt_source_read_labels(c->source, "labels", 0, 0, &label, &labels));
    c->shape = (shape){ikt_source_rows(c->source), ikt_source_columns(c->source),
                       (int32_t)ikt_source_type(c->source), labels};
    return IKT_OK;
}

static ikt_status open_input(conversion *c, const char *path) {
    bool root = ikt_rank(c->ctx) == 0;
    int64_t hdf5 = ikt_max_one(c->ctx, root && is_hdf5(path));
    if (hdf5) {
        IKT_TRY(open_source(c, path));
    } else {
        ikt_status st = IKT_OK;
        if (root) st = open_readers(c, path);
        IKT_TRY(ikt_agree(c->ctx, st));
        ikt_broadcast(c->ctx, &c->shape, (int64_t)sizeof c->shape, 0);
    }
    c->type = c->wish->type == TYPE_AUTO ? (ikt_type)c->shape.type : (ikt_type)c->wish->type;
    if (c->wish->rows > 0 && c->wish->rows < c->shape.n) c->shape.n = c->wish->rows;
    return IKT_OK;
}

static double number_at(ikt_type type, const void *values, int64_t i) {
    return type == IKT_TYPE_U8    ? (double)((const uint8_t *)values)[i]
           : type == IKT_TYPE_F32 ? (double)((const float *)values)[i]
                                  : ((const double *)values)[i];
}

/* Values of one type to another; a byte must hold the value exactly. */
static ikt_status recast(conversion *c, const void *from, int64_t first, int64_t count, void *to) {
    ikt_type type = (ikt_type)c->shape.type;
    for (int64_t e = 0; e < count * c->shape.d; e++) {
        double value = number_at(type, from, e);
        if (c->type == IKT_TYPE_F32)
            ((float *)to)[e] = (float)value;
        else if (c->type == IKT_TYPE_F64)
            ((double *)to)[e] = value;
        else if (value >= 0 && value <= 255 && value == floor(value))
            ((uint8_t *)to)[e] = (uint8_t)value;
        else
            return ikt_fail(
                c->ctx, IKT_ERR_DATA, "row %lld, column %lld: %g does not fit --type uint8",
                (long long)(first + e / c->shape.d), (long long)(e % c->shape.d), value);
    }
    return IKT_OK;
}

static ikt_status read_label_file(conversion *c, int64_t first, int64_t count, void *scratch,
                                  int32_t *labels) {
    IKT_TRY(ikt_reader_read(c->labels, count, scratch, NULL));
    for (int64_t i = 0; i < count; i++) {
        double value = number_at(c->labels->type, scratch, i);
        if (value != floor(value) || fabs(value) >= 2147483648.0)
            return ikt_fail(c->ctx, IKT_ERR_DATA, "%s, row %lld: %g is no label (an integer)",
                            c->labels->path, (long long)(first + i), value);
        labels[i] = (int32_t)value;
    }
    return IKT_OK;
}

/* A block from the readers of rank 0. */
static ikt_status read_block(conversion *c, int64_t first, int64_t count, void *native,
                             void *converted, int32_t *labels) {
    IKT_TRY(ikt_reader_read(c->rows, count, native, c->rows->labels ? labels : NULL));
    IKT_TRY(recast(c, native, first, count, converted));
    return c->labels ? read_label_file(c, first, count, native, labels) : IKT_OK;
}

/* A block from the HDF5 source; collective. */
static ikt_status read_source(conversion *c, int64_t first, int64_t count, void *native,
                              void *converted, int64_t *wide, int32_t *labels) {
    bool present;
    IKT_TRY(ikt_source_read(c->source, first, count, native));
    IKT_TRY(ikt_agree(c->ctx, recast(c, native, first, count, converted)));
    if (!c->shape.labels) return IKT_OK;
    IKT_TRY(ikt_source_read_labels(c->source, "labels", first, count, wide, &present));
    for (int64_t i = 0; i < count; i++)
        labels[i] = (int32_t)wide[i];
    return IKT_OK;
}

static ikt_status copy_blocks(conversion *c, ikt_table_writer *writer, int64_t rows, void *native,
                              void *converted, int64_t *wide, int32_t *labels) {
    /* Foreign files are read by rank 0 alone; the others write nothing. */
    bool mine = ikt_rank(c->ctx) == 0;
    for (int64_t first = 0; first < c->shape.n; first += rows) {
        int64_t left = c->shape.n - first, count = left < rows ? left : rows;
        int64_t own = mine ? count : 0;
        ikt_status st = IKT_OK;
        if (c->source)
            st = read_source(c, own ? first : 0, own, native, converted, wide, labels);
        else if (mine)
            st = read_block(c, first, count, native, converted, labels);
        IKT_TRY(ikt_agree(c->ctx, st));
        IKT_TRY(ikt_table_write(writer, own ? first : 0, own, converted,
                                c->shape.labels ? labels : NULL));
        ikt_progress(c->ctx, "rows", first + count, c->shape.n, NULL);
    }
    return IKT_OK;
}

static ikt_status copy(conversion *c, ikt_table_writer *writer) {
    int64_t rows = block_bytes / (8 * c->shape.d) + 1, *wide = NULL;
    void *native = NULL, *converted = NULL;
    int32_t *labels = NULL;
    ikt_status st = ikt_alloc(c->ctx, &native, rows * c->shape.d, 8, "blocks");
    if (st == IKT_OK) st = ikt_alloc(c->ctx, &converted, rows * c->shape.d, 8, "blocks");
    if (st == IKT_OK) st = ikt_alloc(c->ctx, &labels, rows, sizeof *labels, "blocks");
    if (st == IKT_OK) st = ikt_alloc(c->ctx, &wide, rows, sizeof *wide, "blocks");
    st = ikt_agree(c->ctx, st);
    if (st == IKT_OK) st = copy_blocks(c, writer, rows, native, converted, wide, labels);
    ikt_free(&native);
    ikt_free(&converted);
    ikt_free(&labels);
    ikt_free(&wide);
    return st;
}

/* Names of text classes travel from rank 0 to the attribute that all write. */
static ikt_status write_classes(conversion *c, ikt_table_writer *writer) {
    char *names = NULL;
    int64_t bytes = c->rows && c->rows->classes ? (int64_t)strlen(c->rows->classes) + 1 : 0;
    bytes = ikt_max_one(c->ctx, bytes);
    if (bytes == 0 || bytes > 60000) return IKT_OK; /* more does not fit an attribute */
    ikt_status st = ikt_agree(c->ctx, ikt_alloc(c->ctx, &names, bytes, 1, "class names"));
    if (st == IKT_OK) {
        if (c->rows) strcpy(names, c->rows->classes);
        ikt_broadcast(c->ctx, names, bytes, 0);
        st = ikt_table_attribute(writer, "label_names", names);
    }
    ikt_free(&names);
    return st;
}

static ikt_status convert(ikt_context *ctx, const request *wish, const char *in, const char *out) {
    conversion c = {.ctx = ctx, .wish = wish};
    ikt_table_writer *writer = NULL;
    ikt_status st = open_input(&c, in);
    if (st == IKT_OK)
        st = ikt_table_create(ctx, out, wish->overwrite, c.shape.n, c.shape.d, c.type,
                              c.shape.labels, &writer);
    if (st == IKT_OK) st = copy(&c, writer);
    if (st == IKT_OK) st = write_classes(&c, writer);
    if (st == IKT_OK) st = ikt_table_attribute(writer, "source", in);
    st = ikt_table_close(&writer, st);
    if (st == IKT_OK)
        ikt_log(ctx, IKT_LOG_STAGE, "%s: %lld rows x %lld columns, %s, %s labels", out,
                (long long)c.shape.n, (long long)c.shape.d, ikt_type_name(c.type),
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
         "in the order of its sorted values",
         wish.label_column},
        {"skip-columns", IKT_KEY_STRING, "LIST", "", 0, 0, NULL,
         "Columns of a CSV file to leave out, names or numbers with commas between",
         wish.skip_columns},
        {"delimiter", IKT_KEY_CHOICE, "NAME", "auto", 0, 0, "auto|comma|semicolon|tab|blank",
         "What separates the cells of a CSV file", &wish.delimiter},
        {"type", IKT_KEY_CHOICE, "TYPE", "auto", 0, 0, "auto|uint8|float32|float64",
         "Type of the numbers written; auto keeps that of the input (CSV: float64)", &wish.type},
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
                                   "Convert IDX, NPY, CSV (each also gzipped) or HDF5 to a data "
                                   "set that embed reads",
                                   run};
