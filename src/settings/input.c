/* Opening what the section `input` names. */
#include "settings/settings.h"

#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/context.h"
#include "base/log.h"
#include "io/formats/reader.h"
#include "similarity/similarity_matrix.h"

/* COLLECTIVE. The file and the data set of input.similarities. */
static void find_matrix(ikt_context *ctx, const ikt_input_settings *input,
                        char file[IKT_STRING_MAX], const char **dataset) {
    const char *name = input->similarities;
    int64_t length = ikt_rank(ctx) == 0 ? (int64_t)ikt_file_name_length(name) : 0;
    *dataset = name;
    snprintf(file, IKT_STRING_MAX, "%s", input->file);
    if (input->file[0]) return;
    ikt_broadcast(ctx, &length, (int64_t)sizeof length, 0);
    snprintf(file, IKT_STRING_MAX, "%.*s", (int)length, name);
    *dataset = name[length] == ':' ? name + length + 1 : "X";
}

static ikt_status open_matrix(ikt_context *ctx, const ikt_input_settings *input, ikt_source **out) {
    char file[IKT_STRING_MAX];
    const char *dataset;
    find_matrix(ctx, input, file, &dataset);
    return ikt_matrix_source_open(ctx, file, dataset, input->symmetrise,
                                  (ikt_spectrum_use)input->spectrum, out);
}

void ikt_input_rename(ikt_input_settings *input, const char *name) {
    char dataset[IKT_STRING_MAX];
    const char *old = input->similarities;
    snprintf(input->file, sizeof input->file, "%s", name);
    if (!old[0] || !name[0]) return;
    const size_t length = ikt_file_name_length(old);
    if (name[ikt_file_name_length(name)] == ':') {
        snprintf(input->similarities, sizeof input->similarities, "%s", name);
        input->file[0] = '\0';
    } else if (old[length] == ':') {
        snprintf(dataset, sizeof dataset, "%s", old + length + 1);
        snprintf(input->similarities, sizeof input->similarities, "%s", dataset);
    }
}

ikt_status ikt_input_look(ikt_context *ctx, const ikt_input_settings *input, ikt_source **out) {
    char file[IKT_STRING_MAX];
    const char *dataset;
    if (!input->similarities[0]) return ikt_input_open(ctx, input, out);
    find_matrix(ctx, input, file, &dataset);
    return ikt_source_open(ctx, file, dataset, 0, out);
}

static const char delimiters[] = IKT_DELIMITERS;

void ikt_input_delimit(const ikt_context *ctx, ikt_input_settings *input) {
    if (input->delimiter != 0 || !input->file[0]) return;
    for (int d = 1; d < (int)sizeof delimiters; d++)
        if (delimiters[d] == ctx->delimiter) input->delimiter = d;
}

/* What was said of another file yields to what the command line says now. */
static char delimiter_of(const ikt_context *ctx, const ikt_input_settings *input) {
    return input->inherited && ctx->delimiter ? ctx->delimiter : delimiters[input->delimiter];
}

ikt_status ikt_input_open(ikt_context *ctx, const ikt_input_settings *input, ikt_source **out) {
    static const ikt_transposed transposed[] = {IKT_TRANSPOSED_AUTO, IKT_TRANSPOSED_YES,
                                                IKT_TRANSPOSED_NO};
    const bool is_raw = input->columns != IKT_AUTO_INT;
    *out = NULL;
    if (input->similarities[0]) return open_matrix(ctx, input, out);
    if (!input->file[0])
        return ikt_fail(ctx, IKT_ERR_USAGE, "input.file is not set: name the file with the data");
    if (is_raw != (input->type != 0) || (!is_raw && (input->skip > 0 || input->byte_order != 0)))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "raw numbers are described by input.columns and input.type together, with "
                        "input.skip and input.byte_order where need be; %s is missing",
                        is_raw             ? "input.type"
                        : input->type != 0 ? "input.columns"
                                           : "input.columns and input.type");
    ikt_source_options options = {.dataset = input->dataset,
                                  .labels = input->labels,
                                  .skip = input->skip_columns,
                                  .delimiter = delimiter_of(ctx, input),
                                  .rows = ikt_chosen(input->rows, 0),
                                  .transposed = transposed[input->transposed],
                                  .skip_is_shared = input->skip_is_shared,
                                  .inherited = input->inherited};
    if (is_raw)
        options.raw = (ikt_raw){ikt_element_numbered(input->type - 1, input->byte_order == 1),
                                input->columns, input->skip};
    return ikt_source_open_with(ctx, input->file, &options, out);
}

ikt_status ikt_input_open_like(ikt_context *ctx, const ikt_input_settings *input, const char *file,
                               const char *dataset, ikt_source **out) {
    ikt_input_settings other = *input;
    snprintf(other.file, sizeof other.file, "%s", file);
    snprintf(other.dataset, sizeof other.dataset, "%s", dataset);
    other.rows = IKT_AUTO_INT;
    other.inherited = true;
    other.similarities[0] = '\0';
    return ikt_input_open(ctx, &other, out);
}

void ikt_input_describe(ikt_context *ctx, const ikt_source *source) {
    ikt_source_content content;
    ikt_source_describe(source, &content);
    if (content.beside[0])
        ikt_log(ctx, IKT_LOG_STAGE, "%s: %lld rows x %lld columns of numbers; %s",
                ikt_source_name(source), (long long)ikt_source_rows(source),
                (long long)ikt_source_columns(source), content.beside);
    const bool tables =
        strcmp(content.format, "AnnData") == 0 || strcmp(content.format, "MATLAB 7.3") == 0;
    if (tables)
        ikt_log(ctx, IKT_LOG_DETAIL, "%s file; input.dataset may be one of: %s", content.format,
                content.tables);
    if (tables && content.labels[0])
        ikt_log(ctx, IKT_LOG_DETAIL, "input.labels may be one of: %s", content.labels);
}
