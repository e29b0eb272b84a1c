/* Rows of a data set: what all sources share, and opening a file by its content. See source.h. */
#include "io/sources/source.h"

#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/context.h"
#include "base/encoding.h"
#include "base/log.h"
#include "io/sources/source_ops.h"

ikt_status ikt_source_new(ikt_context *ctx, const ikt_source_ops *ops, const char *format,
                          const char *file, const char *dataset, ikt_source **out) {
    const size_t length = strlen(file) + strlen(dataset) + 3;
    ikt_source *source = NULL;
    ikt_status st = ikt_alloc(ctx, &source, 1, sizeof *source, "source");
    if (st == IKT_OK) st = ikt_alloc(ctx, &source->name, (int64_t)length, 1, "source");
    if (st == IKT_OK) st = ikt_alloc(ctx, &source->self, (int64_t)ops->self_bytes, 1, "source");
    *out = source;
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) {
        ikt_source_close(out);
        return st;
    }
    *source = (ikt_source){
        .ctx = ctx, .ops = ops, .format = format, .name = source->name, .self = source->self};
    snprintf(source->name, length, "%s%s%s%s", file, dataset[0] ? ":" : "",
             dataset[0] && dataset[0] != '/' ? "/" : "", dataset);
    return IKT_OK;
}

void ikt_source_close(ikt_source **source) {
    ikt_source *s = *source;
    if (!s) return;
    if (s->ops && s->ops->close) s->ops->close(s);
    ikt_free_all(&s->self, &s->name, &s->label_names);
    ikt_free(source);
}

bool ikt_source_is_any(const char *dataset) {
    return strcmp(dataset, IKT_DATASET_AUTO) == 0 || strcmp(dataset, "X") == 0 ||
           strcmp(dataset, "/X") == 0;
}

ikt_status ikt_source_use_rows(ikt_source *source, int64_t rows) {
    source->n = rows > 0 ? rows : source->n_file;
    if (source->n_file == 0 || source->d == 0)
        return ikt_fail(source->ctx, IKT_ERR_DATA, "%s is empty (%lld x %lld)", source->name,
                        (long long)source->n_file, (long long)source->d);
    if (!source->sparse &&
        (source->n_file < 0 || source->d < 0 || source->d > (INT64_MAX >> 4) / source->n_file))
        return ikt_fail(source->ctx, IKT_ERR_DATA,
                        "%s announces %lld rows of %lld columns, which is more than any file "
                        "holds: is it damaged?",
                        source->name, (long long)source->n_file, (long long)source->d);
    if (source->n > source->n_file)
        return ikt_fail(source->ctx, IKT_ERR_USAGE, "input.rows = %lld, but %s has only %lld rows",
                        (long long)source->n, source->name, (long long)source->n_file);
    return IKT_OK;
}

int64_t ikt_source_rows(const ikt_source *source) {
    return source->n;
}

int64_t ikt_source_columns(const ikt_source *source) {
    return source->d;
}

ikt_type ikt_source_type(const ikt_source *source) {
    return source->type;
}

bool ikt_source_is_half(const ikt_source *source) {
    return source->is_half;
}

const char *ikt_source_name(const ikt_source *source) {
    return source->name;
}

bool ikt_source_is_sparse(const ikt_source *source) {
    return source->sparse;
}

ikt_type ikt_source_stored_type(const ikt_source *source) {
    return source->stored;
}

const char *ikt_source_missing(const ikt_source *source) {
    return source->missing;
}

bool ikt_source_column_name(const ikt_source *source, int64_t column, char *name, size_t size) {
    name[0] = '\0';
    if (!source->ops->name_column && source->from)
        return ikt_source_column_name(source->from, column, name, size);
    return source->ops->name_column && source->ops->name_column(source, column, name, size);
}

int64_t ikt_source_entries(const ikt_source *source) {
    return source->entries;
}

int64_t ikt_source_longest_row(const ikt_source *source) {
    return source->longest;
}

int64_t ikt_source_block_rows(const ikt_source *source) {
    return source->block;
}

ikt_status ikt_source_read_sparse(ikt_source *source, int64_t first, int64_t count,
                                  ikt_sparse_rows *rows) {
    ikt_context *ctx = source->ctx;
    rows->count = 0;
    IKT_TRY(ikt_agree(ctx, ikt_sparse_rows_reserve(ctx, count, 0, rows)));
    IKT_TRY(source->ops->starts(source, first, count, rows->start));
    const int64_t begin = rows->start[0], entries = rows->start[count] - begin;
    IKT_TRY(ikt_agree(ctx, ikt_sparse_rows_reserve(ctx, count, entries, rows)));
    /* Columns are below 2^31, so that it does not matter whether they have a sign. */
    IKT_TRY(source->ops->entries(source, first, count, rows->start, (uint32_t *)rows->column,
                                 rows->value));
    for (int64_t i = 0; i <= count; i++)
        rows->start[i] -= begin;
    rows->count = count;
    return ikt_agree(ctx, ikt_sparse_rows_order(ctx, source->type == IKT_TYPE_F32, rows));
}

ikt_status ikt_source_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    if (!source->sparse) return source->ops->read(source, first, count, rows);
    const int64_t most = source->block, d = source->d; /* dense rows of sparse ones, by blocks */
    const int64_t steps = ikt_max_one(source->ctx, (count + most - 1) / most);
    ikt_sparse_rows block IKT_AT_END(ikt_sparse_rows_destroy) = {0};
    if (count > 0) memset(rows, 0, (size_t)(count * d) * ikt_type_size(source->type));
    for (int64_t step = 0; step < steps; step++) {
        const int64_t done = step * most < count ? step * most : count;
        const int64_t now = count - done < most ? count - done : most;
        IKT_TRY(ikt_source_read_sparse(source, now > 0 ? first + done : 0, now, &block));
        for (int64_t i = 0; i < now; i++)
            for (int64_t e = block.start[i]; e < block.start[i + 1]; e++)
                ikt_number_put(source->type, rows, (done + i) * d + block.column[e],
                               block.value[e]);
    }
    return IKT_OK;
}

ikt_status ikt_source_read_marked(ikt_source *source, int64_t **rows, int64_t *count) {
    *rows = NULL;
    *count = 0;
    if (source->ops->read_marked) return source->ops->read_marked(source, rows, count);
    return source->from ? ikt_source_read_marked(source->from, rows, count) : IKT_OK;
}

void ikt_source_describe(const ikt_source *source, ikt_source_content *content) {
    *content = (ikt_source_content){.format = source->format};
    if (source->ops->describe)
        source->ops->describe(source, content);
    else if (source->from)
        ikt_source_describe(source->from, content);
}

/* --- the formats ------------------------------------------------------------------------------ */

enum { HEAD = 512, NAME_SIZE = 1024 };

/* "data.csv.gz" to "data.h5", beside it. */
static void name_converted(const char *path, char name[NAME_SIZE]) {
    snprintf(name, NAME_SIZE - 16, "%s", path);
    for (int endings = 0; endings < 2; endings++) {
        char *dot = strrchr(name, '.'), *slash = strrchr(name, '/');
        const bool is_packed = dot && strcmp(dot, ".gz") == 0;
        if (dot && dot > (slash ? slash + 1 : name)) *dot = '\0';
        if (!is_packed) break;
    }
    const bool is_taken = strcmp(path + strlen(name), ".h5") == 0;
    strcat(name, is_taken ? "-converted.h5" : ".h5");
}

/* What cannot be read in parallel, with the command that makes it so. */
static ikt_status refuse(ikt_context *ctx, const char *path) {
    ikt_reader_content content;
    char made[NAME_SIZE];
    IKT_TRY(ikt_reader_guess(ctx, path, &content));
    if (content.foreign) return ikt_fail(ctx, IKT_ERR_DATA, "%s %s", path, content.foreign);
    IKT_TRY(ikt_reader_check_packed(ctx, path, &content));
    name_converted(path, made);
    if (!content.format)
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is not an HDF5 file, nor of another known format, and its name is not "
                        "one of vectors of searches (.fvecs, .fbin); raw numbers are read with "
                        "input.columns and input.type",
                        path);
    char from[4 * NAME_SIZE], to[4 * NAME_SIZE];
    return ikt_fail(ctx, IKT_ERR_FILE,
                    "%s is not an HDF5 file but %s%s, which is read from beginning to end; "
                    "`iktsne convert %s %s` makes one",
                    path, content.packed ? "gzipped " : "", content.format->name,
                    ikt_shell_word(path, from, sizeof from), ikt_shell_word(made, to, sizeof to));
}

/* In the order in which they are asked; raw numbers look like nothing. What must be parsed or
 * unpacked is asked for last, of the readers. */
static const ikt_source_format *const formats[] = {
    &ikt_source_hdf5, &ikt_source_npy, &ikt_source_vecs, &ikt_source_bin,   &ikt_source_safetensors,
    &ikt_source_idx,  &ikt_source_raw, &ikt_source_csv,  &ikt_source_packed};
enum { HDF5, NPY, VECS, BIN, SAFETENSORS, IDX, RAW, CSV, PACKED };

static bool is_named(const char *path, const char *ending) {
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ending) == 0;
}

/* Whether it is a file that is read into memory: CSV, or of a map whatever a reader knows. */
static ikt_status find_parsed(ikt_context *ctx, const char *path, bool is_map, int64_t *format) {
    ikt_reader_content content;
    IKT_TRY(ikt_reader_guess(ctx, path, &content));
    if (is_named(path, ".yaml") || is_named(path, ".yml"))
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is not an HDF5 file, and its name is one of settings: those are given "
                        "without input.file=",
                        path);
    const bool is_text = content.format == &ikt_reader_csv;
    if (is_text && (is_named(path, ".h5") || is_named(path, ".hdf5") || is_named(path, ".h5ad")))
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is not an HDF5 file, though its name says so: is it damaged?", path);
    if (is_text)
        *format = CSV;
    else if (is_map && content.format)
        *format = PACKED;
    else
        return refuse(ctx, path);
    return IKT_OK;
}

/* Whether a file is of a format that is read where it stands, which gzipped ones of a telling name
 * are not. */
static bool fits(const ikt_source_format *format, const char *path, const unsigned char *head,
                 int64_t bytes) {
    const bool is_packed = bytes >= 2 && head[0] == 0x1f && head[1] == 0x8b;
    return !(is_packed && format->header->endings) &&
           ikt_reader_fits(format->header, path, head, bytes);
}

/* The number of the file's format in the table; on one rank. */
static ikt_status find_format(ikt_context *ctx, const char *path, const ikt_source_options *options,
                              int64_t *format) {
    unsigned char head[HEAD];
    IKT_TRY(ikt_input_check(ctx, path));
    FILE *file = fopen(path, "rb");
    const int64_t bytes = file ? (int64_t)fread(head, 1, HEAD, file) : 0;
    if (file) fclose(file);
    if (bytes == 0) return ikt_fail(ctx, IKT_ERR_DATA, "%s is not an HDF5 file: it is empty", path);
    *format = ikt_source_is_hdf5(path) ? HDF5 : NPY;
    while (*format != HDF5 && *format < RAW && !fits(formats[*format], path, head, bytes))
        ++*format;
    if (options->raw.columns == 0)
        return *format < RAW ? IKT_OK : find_parsed(ctx, path, options->is_map, format);
    if (*format == IDX) *format = RAW; /* by chance */
    if (*format == RAW || options->inherited) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s is %s, which says itself what it holds; input.columns and input.type are "
                    "for raw numbers",
                    path, formats[*format]->name);
}

/* LOCAL. Columns that are left out by name would stay elsewhere, which is refused or warned of; a
 * delimiter changes nothing there. */
static ikt_status check_format(ikt_context *ctx, const char *path,
                               const ikt_source_options *options, int64_t format) {
    const bool skips = options->skip && options->skip[0];
    if (format == CSV || format == PACKED || options->inherited || !skips) return IKT_OK;
    if (options->skip_is_shared) {
        ikt_log(ctx, IKT_LOG_WARN,
                "%s is %s, and input.skip_columns is for CSV text: all its columns are read", path,
                formats[format]->name);
        return IKT_OK;
    }
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s is %s, and input.skip_columns is for CSV text: leave it out, and make a "
                    "file of the data without these columns",
                    path, formats[format]->name);
}

ikt_status ikt_source_open_with(ikt_context *ctx, const char *path,
                                const ikt_source_options *options, ikt_source **out) {
    int64_t format = 0;
    *out = NULL;
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0) st = find_format(ctx, path, options, &format);
    if (ikt_rank(ctx) == 0 && st == IKT_OK) st = check_format(ctx, path, options, format);
    IKT_TRY(ikt_agree(ctx, st));
    ikt_broadcast(ctx, &format, sizeof format, 0);
    return formats[format]->open(ctx, formats[format], path, options, out);
}

ikt_status ikt_source_open(ikt_context *ctx, const char *path, const char *dataset, int64_t rows,
                           ikt_source **out) {
    const ikt_source_options options = {.dataset = dataset, .rows = rows};
    return ikt_source_open_with(ctx, path, &options, out);
}
