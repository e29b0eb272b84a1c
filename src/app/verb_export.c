/* iktsne export: an embedding in the formats of other programs. */
#include <stdio.h>
#include <string.h>

#include "app/embedding_file.h"
#include "app/verb.h"
#include "base/arrays.h"
#include "base/files.h"
#include "base/log.h"
#include "base/sort.h"
#include "io/export/export.h"

typedef struct {
    char columns[IKT_STRING_MAX], anndata[IKT_STRING_MAX], key[IKT_STRING_MAX];
    ikt_export_options how;
    int format;
    bool has_columns;    /* some were asked for */
    const char *path[2]; /* run, output */
} command;

static const char formats[] = "auto|npy|csv|tsv|h5ad|vtkhdf";

static ikt_status choose_format(ikt_context *ctx, const command *w, const ikt_export_format **out,
                                bool *is_gzipped) {
    char name[16], known[128];
    const char *at = formats; /* the word of the choice of that number */
    for (int index = w->format; index > 0; index--)
        at += strcspn(at, "|") + 1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "|"), at);
    *out = ikt_export_find(name, w->path[1], is_gzipped);
    if (*out && *is_gzipped && !(*out)->is_text)
        return ikt_fail(ctx, IKT_ERR_USAGE, "%s: only csv and tsv are compressed as a whole",
                        w->path[1]);
    if (*out) return IKT_OK;
    ikt_export_names(known, sizeof known);
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s: its ending names no format; known are %s (.csv and .tsv also with .gz), "
                    "or say --format",
                    w->path[1], known);
}

/* Options that the format has no place for are refused, not passed over. */
static ikt_status check_options(ikt_context *ctx, const command *w, const ikt_export_format *format,
                                bool is_key_given) {
    const bool is_anndata = format == &ikt_export_h5ad;
    if (!format->has_columns && (w->has_columns || w->how.row_numbers))
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "%s holds the places alone: --columns and --row-numbers are for csv, tsv and vtkhdf",
            format->name);
    if (!format->is_text && w->how.guards_formulas)
        return ikt_fail(ctx, IKT_ERR_USAGE, "--guard-formulas is for csv and tsv, not for %s",
                        format->name);
    if (w->how.in_place && (!is_anndata || w->anndata[0]))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--in-place adds the embedding to OUT, which is an .h5ad file that is "
                        "there; --h5ad names one of which a copy is made");
    if (is_anndata && !w->anndata[0] && !w->how.in_place)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "an AnnData file holds more than an embedding: name the one of which a "
                        "copy gets it, --h5ad DATA.h5ad, or add it to OUT itself, --in-place");
    if (!is_anndata && (w->anndata[0] || is_key_given))
        return ikt_fail(ctx, IKT_ERR_USAGE, "--h5ad and --key are for .h5ad files, not for %s",
                        format->name);
    if (is_anndata && (strchr(w->key, '/') || !w->key[0]))
        return ikt_fail(ctx, IKT_ERR_USAGE, "--key '%s': a name without slashes is needed", w->key);
    return IKT_OK;
}

/* An AnnData file that an embedding is added to keeps all that is in it, which may be read, too. */
static ikt_status check_files(ikt_context *ctx, const command *w, const ikt_export_format *format) {
    const bool is_named = !w->how.in_place; /* now; else it has its name */
    ikt_files files = {.ctx = ctx};
    ikt_files_add(&files, IKT_FILE_READ, "RUN.h5", w->path[0]);
    ikt_files_add(&files, IKT_FILE_READ, "--h5ad", w->anndata);
    ikt_files_add_list(&files, "--columns", w->columns);
    if (is_named)
        ikt_files_add_written(&files, "OUT", w->path[1], format->what, format->own_endings);
    else
        ikt_files_add(&files, IKT_FILE_ADDED_TO, "OUT", w->path[1]);
    return ikt_files_check(&files);
}

/* The columns asked for, each DATASET of the run or FILE.h5:DATASET; by default labels, where there
 * are some. */
static ikt_status add_columns(ikt_context *ctx, const command *w, ikt_export *export) {
    char name[IKT_STRING_MAX], file[IKT_STRING_MAX], dataset[IKT_STRING_MAX];
    const char *own = ikt_result_path(export->file);
    if (!w->has_columns) return ikt_export_add_labels(export);
    if (strcmp(w->columns, "none") == 0) return IKT_OK;
    for (const char *at = w->columns; *at;) {
        const size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (length == 0)
            return ikt_fail(ctx, IKT_ERR_USAGE, "--columns %s: an empty name", w->columns);
        ikt_embedding_name_split(ctx, name, own, file, dataset);
        IKT_TRY(ikt_export_add(export, file, dataset, NULL));
        at += length + (at[length] == ',');
    }
    return IKT_OK;
}

static ikt_status write_export(ikt_context *ctx, command *w, bool is_key_given) {
    const ikt_export_format *format;
    ikt_export export IKT_AT_END(ikt_export_close) = {.file = NULL};
    IKT_TRY(choose_format(ctx, w, &format, &w->how.is_gzipped));
    IKT_TRY(check_options(ctx, w, format, is_key_given));
    IKT_TRY(check_files(ctx, w, format));
    const bool replaces = w->how.overwrite || w->how.in_place;
    if (w->how.in_place) snprintf(w->anndata, sizeof w->anndata, "%s", w->path[1]);
    IKT_TRY(format->is_stream ? ikt_atomic_check_stream(ctx, w->path[1], replaces)
                              : ikt_atomic_check(ctx, w->path[1], replaces));
    IKT_TRY(ikt_export_open(ctx, w->path[0], &export));
    if (format->has_columns) IKT_TRY(add_columns(ctx, w, &export));
    IKT_TRY(format->write(&export, &w->how, w->path[1]));
    ikt_log_numbers(ctx, IKT_LOG_STAGE, IKT_LOG_NUMBERS(IKT_LOG_INT("rows", export.n)),
                    "%s: %lld rows in %d dimension%s, %s", w->path[1], (long long)export.n,
                    export.q, ikt_plural(export.q), format->name);
    return IKT_OK;
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    command w = {.how = {.anndata = w.anndata, .key = w.key}};
    bool help;
    const ikt_option options[] = {
        {"format", IKT_CHOICE("FORMAT", "auto", formats, &w.format),
         "The format of OUT; auto takes it from the ending of the name. npy holds n x dimensions "
         "numbers of type float32; csv and tsv are text, compressed where OUT ends in .gz; h5ad is "
         "a copy of an AnnData file with the embedding added; vtkhdf is for ParaView and VTK"},
        {"columns", IKT_TEXT("LIST", "", w.columns),
         "The data sets of n numbers, classes or texts to write beside the positions, separated by "
         "commas: DATASET of RUN.h5, FILE.h5:DATASET or FILE.csv:COLUMN of another file, or none. "
         "Of an AnnData file columns of obs have names alone. By default labels are written where "
         "RUN.h5, or a column of MAP.csv, has them"},
        {"row-numbers", IKT_FLAG(&w.how.row_numbers),
         "Write the number of each row in the input, from 0, as a column"},
        {"guard-formulas", IKT_FLAG(&w.how.guards_formulas),
         "In csv and tsv files, write an apostrophe before names of classes and columns that begin "
         "with =, +, - or @, so that no spreadsheet takes them for a formula; numbers stay as they "
         "are"},
        {"h5ad", IKT_TEXT("DATA.h5ad", "", w.anndata),
         "The AnnData file with the same rows, which is copied; the copy gets the embedding"},
        {"in-place", IKT_FLAG(&w.how.in_place),
         "Add the embedding to OUT.h5ad itself, which is there already. The file is replaced by a "
         "complete copy in the end, so that it is never half written; where the file system can "
         "(btrfs, XFS) the copy takes no time and no space"},
        {"key", IKT_TEXT("NAME", IKT_EXPORT_KEY, w.key),
         "The name of the embedding in obsm of the AnnData file. Facts of the run are written to "
         "uns/iktsne, and with another name to uns/iktsne_NAME"},
        {"overwrite", IKT_FLAG(&w.how.overwrite),
         "Replace OUT where it exists, and an embedding of that name in its obsm"},
        {0}};
    IKT_TRY(
        ikt_options_parse(ctx, &ikt_verb_export, options, argc, argv, w.path, 2, 2, NULL, &help));
    if (help) return IKT_OK;
    w.has_columns = w.columns[0] != '\0';
    return write_export(ctx, &w, ikt_option_given("key", argc, argv));
}

const ikt_verb ikt_verb_export = {
    "export", "RUN.h5 OUT [options]", "Write an embedding for other programs",
    "The formats are NPY (numpy), CSV and TSV, an AnnData file or a copy of one (scanpy), and "
    "VTKHDF (ParaView). RUN.h5 may be " IKT_MAP_HELP,
    run};
