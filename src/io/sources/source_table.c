/* The formats that are read directly, and opening a file by its content. */
#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "io/sources/source_ops.h"

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
    name_converted(path, made);
    if (!content.format)
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is not an HDF5 file, nor of another known format; raw numbers are read "
                        "with input.columns and input.type",
                        path);
    return ikt_fail(ctx, IKT_ERR_FILE,
                    "%s is not an HDF5 file but %s%s, which is read from beginning to end; "
                    "`iktsne convert %s %s` makes one",
                    path, content.packed ? "gzipped " : "", content.format->name, path, made);
}

/* In the order in which they are asked; raw numbers look like nothing. What must be parsed or
 * unpacked is asked for last, of the readers. */
static const ikt_source_format *const formats[] = {&ikt_source_hdf5, &ikt_source_npy,
                                                   &ikt_source_idx,  &ikt_source_raw,
                                                   &ikt_source_csv,  &ikt_source_packed};
enum { HDF5, NPY, IDX, RAW, CSV, PACKED };

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

/* The number of the file's format in the table; on one rank. */
static ikt_status find_format(ikt_context *ctx, const char *path, const ikt_source_options *options,
                              int64_t *format) {
    unsigned char head[HEAD];
    IKT_TRY(ikt_input_check(ctx, path));
    FILE *file = fopen(path, "rb");
    const int64_t bytes = file ? (int64_t)fread(head, 1, HEAD, file) : 0;
    if (file) fclose(file);
    if (bytes == 0) return ikt_fail(ctx, IKT_ERR_FILE, "%s is not an HDF5 file: it is empty", path);
    *format = ikt_source_is_hdf5(path) ? HDF5 : NPY;
    while (*format != HDF5 && *format < RAW && !formats[*format]->header->probe(head, bytes))
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

ikt_status ikt_source_open_with(ikt_context *ctx, const char *path,
                                const ikt_source_options *options, ikt_source **out) {
    int64_t format = 0;
    *out = NULL;
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0) st = find_format(ctx, path, options, &format);
    IKT_TRY(ikt_agree(ctx, st));
    ikt_broadcast(ctx, &format, sizeof format, 0);
    return formats[format]->open(ctx, formats[format], path, options, out);
}

ikt_status ikt_source_open(ikt_context *ctx, const char *path, const char *dataset, int64_t rows,
                           ikt_source **out) {
    const ikt_source_options options = {.dataset = dataset, .rows = rows};
    return ikt_source_open_with(ctx, path, &options, out);
}
