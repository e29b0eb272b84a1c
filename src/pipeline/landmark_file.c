/* Landmarks as a data set file: some rows that stand for all, to be embedded in their place.
 *
 * The way of LaptSNE (Sun, Han & Fan 2022, section 3.5, algorithm 2) with large data: k-means with
 * as many centres as there shall be landmarks, a map of these, and all other rows placed in it,
 * here by `iktsne transform`. The paper takes the centres themselves; here a landmark is the row
 * that is nearest to a centre, so that it has a label and the type of the data. See pipeline.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/timer.h"
#include "data/missing.h"
#include "iktsne/version.h"
#include "io/convert/table_writer.h"
#include "linalg/blocks.h"
#include "neighbours/central_rows.h"
#include "pipeline/pipeline.h"

static const char purpose[] = "landmarks";

static ikt_status check(ikt_context *ctx, ikt_dataset *data, const ikt_settings *settings,
                        int64_t count) {
    const int metric = settings->preprocess.metric;
    if (!data)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "landmarks are chosen among rows, and %s is a graph: name rows by "
                        "input.file",
                        settings->input.graph);
    if (metric == IKT_METRIC_MANHATTAN || ikt_dataset_pairs(data))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "landmarks are chosen by k-means, which needs coordinates and Euclidean "
                        "distances: preprocess.metric=euclidean, cosine or correlation");
    if (count < ikt_dataset_rows(data)) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%" PRId64 " landmarks of %" PRId64 " rows: choose fewer landmarks than rows, "
                    "or embed all of them",
                    count, ikt_dataset_rows(data));
}

/* The labels of landmarks among the own rows as 32 bits, side by side. */
static ikt_status narrow(ikt_context *ctx, const ikt_rows *rows, const int64_t *labels,
                         const int64_t *row, int64_t count, int32_t *out) {
    for (int64_t l = 0; l < count; l++) {
        const int64_t label = labels[row[l] - rows->first];
        if (label < INT32_MIN || label > INT32_MAX)
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "the label %" PRId64 " of row %" PRId64 " is beyond 32 bits", label,
                            row[l]);
        out[l] = (int32_t)label;
    }
    return IKT_OK;
}

/* COLLECTIVE. Reads the own rows once and writes those that are landmarks, which the first place of
 * a rank's range of them tells. */
static ikt_status write_rows(ikt_context *ctx, ikt_source *source, const ikt_rows *rows,
                             const ikt_central_rows *found, const int64_t *labels,
                             ikt_table_writer *writer) {
    const size_t bytes =
        (size_t)ikt_source_columns(source) * ikt_type_size(ikt_source_type(source));
    const int64_t block = ikt_stream_rows(ikt_source_columns(source), 8);
    const int64_t steps = ikt_stream_steps(ctx, rows->count, block);
    int64_t at;
    IKT_ARRAYS(held, ctx, purpose);
    IKT_FIND_FIRST(at, 0, found->count, found->row[at] >= rows->first);
    char *x = ikt_claim(&held, block, bytes);
    int32_t *label = ikt_claim(&held, block, sizeof *label);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range part =
            ikt_stream_step((ikt_row_range){rows->first, rows->count}, block, step);
        const int64_t first = at, end = part.first + part.count;
        IKT_TRY(ikt_source_read(source, part.count > 0 ? part.first : 0, part.count, x));
        for (; at < found->count && found->row[at] < end; at++)
            memmove(x + (size_t)(at - first) * bytes,
                    x + (size_t)(found->row[at] - part.first) * bytes, bytes);
        if (labels) held.status = narrow(ctx, rows, labels, found->row + first, at - first, label);
        IKT_TRY(ikt_arrays_agree(&held));
        IKT_TRY(ikt_table_write(writer, first, at - first, x, labels ? label : NULL));
    }
    return IKT_OK;
}

/* COLLECTIVE. The numbers of the landmarks in the file, also where rows before them are left out.
 */
static ikt_status write_numbers(ikt_context *ctx, const ikt_source *source,
                                const ikt_central_rows *found, ikt_table_writer *writer) {
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *number = ikt_claim(&held, found->count, sizeof *number);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t l = 0; l < found->count; l++)
        number[l] = ikt_missing_original(source, found->row[l]);
    return ikt_table_origin(writer, number, found->count);
}

static ikt_status fill_table(ikt_context *ctx, const ikt_settings *settings, ikt_source *source,
                             const ikt_central_rows *found, const ikt_rows *rows,
                             const ikt_companions *beside, ikt_table_writer *writer) {
    char seed[32], steps[32];
    snprintf(seed, sizeof seed, "%" PRId64, settings->run.seed);
    snprintf(steps, sizeof steps, "%" PRId64, found->steps);
    IKT_TRY(ikt_table_attribute(writer, "program", "iktsne " IKT_VERSION));
    IKT_TRY(ikt_table_attribute(writer, "landmarks_of", ikt_source_name(source)));
    IKT_TRY(ikt_table_attribute(writer, "seed", seed));
    IKT_TRY(ikt_table_attribute(writer, "steps", steps));
    if (beside->label_names)
        IKT_TRY(ikt_table_attribute(writer, "label_names", beside->label_names));
    IKT_TRY(write_numbers(ctx, source, found, writer));
    return write_rows(ctx, source, rows, found, beside->labels, writer);
}

static ikt_status write_file(ikt_context *ctx, const ikt_settings *settings, ikt_source *source,
                             const ikt_central_rows *found) {
    const ikt_rows rows = ikt_rows_make(ikt_source_rows(source), ikt_size(ctx), ikt_rank(ctx));
    const ikt_output_settings *output = &settings->output;
    ikt_companions beside IKT_AT_END(ikt_companions_free) = {.labels = NULL};
    ikt_table_writer *writer = NULL;
    IKT_TRY(ikt_companions_read(ctx, &settings->input, source, &rows, &beside));
    IKT_TRY(ikt_table_create(ctx, output->file, output->overwrite, found->count,
                             ikt_source_columns(source), ikt_source_type(source),
                             beside.labels != NULL, &writer));
    return ikt_table_close(&writer,
                           fill_table(ctx, settings, source, found, &rows, &beside, writer));
}

static void tell(ikt_context *ctx, const char *name, const ikt_landmark_request *request,
                 const ikt_central_rows *found) {
    ikt_log_numbers(
        ctx, IKT_LOG_STAGE,
        IKT_LOG_NUMBERS(IKT_LOG_INT("landmarks", found->count), IKT_LOG_INT("steps", found->steps),
                        IKT_LOG_REAL("distance_drawn", sqrt(found->drawn)),
                        IKT_LOG_REAL("distance", sqrt(found->spread))),
        "%s: %" PRId64 " landmarks, after %" PRId64 " steps of k-means%s, which brought the root "
        "mean square distance of a row to its nearest centre from %.4g to %.4g",
        name, found->count, found->steps, found->has_converged ? ", the last without a change" : "",
        sqrt(found->drawn), sqrt(found->spread));
    if (found->count < request->count)
        ikt_log(ctx, IKT_LOG_WARN,
                "%" PRId64 " of %" PRId64 " centres have no row, because others are as near to "
                "all that they had: there are %" PRId64 " landmarks",
                request->count - found->count, request->count, found->count);
}

/* COLLECTIVE. */
static ikt_status find_and_write(ikt_context *ctx, const ikt_settings *settings,
                                 const ikt_landmark_request *request, ikt_source *source,
                                 ikt_dataset *data, ikt_central_rows *found) {
    const ikt_central_settings central = {request->count, request->steps,
                                          (uint64_t)settings->run.seed};
    IKT_IN_STAGE(ctx, IKT_STAGE_LANDMARKS);
    IKT_TRY(ikt_central_rows_find(ctx, data, &central, found));
    return write_file(ctx, settings, source, found);
}

ikt_status ikt_landmark_file_write(ikt_context *ctx, const ikt_settings *settings,
                                   const ikt_landmark_request *request, int64_t *count) {
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    ikt_dataset *data IKT_AT_END(ikt_dataset_destroy) = NULL;
    ikt_central_rows found IKT_AT_END(ikt_central_rows_destroy) = {.row = NULL};
    *count = 0;
    IKT_TRY(ikt_pipeline_open(ctx, settings, NULL, &source, &data));
    IKT_TRY(check(ctx, data, settings, request->count));
    IKT_TRY(find_and_write(ctx, settings, request, source, data, &found));
    tell(ctx, settings->output.file, request, &found);
    *count = found.count;
    return IKT_OK;
}
