/* Embedding for programs of others: the verb `embed` as a function. */
#include "iktsne/embed.h"

#include <math.h>
#include <string.h>

#include "api/own.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/timer.h"
#include "io/hdf5/h5.h"
#include "pipeline/outcome.h"
#include "settings/settings.h"

/* Rows in memory, as the caller gave them. */
typedef struct {
    const void *rows;
    int64_t count, columns;
    ikt_type type;
    const int64_t *labels;
} caller_rows;

/* COLLECTIVE. Ranks that do not want the same would wait for each other for ever. */
static ikt_status check_equal(ikt_context *ctx, const ikt_parameters *parameters) {
    ikt_settings copy = parameters->settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char *text = NULL;
    ikt_settings_parts(&copy, parts);
    IKT_TRY(ikt_agree(ctx, ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, &text)));
    const int64_t hash = (int64_t)(ikt_hash_bytes(text, strlen(text), 0) >> 1);
    int64_t most[] = {hash, -hash};
    ikt_free(&text);
    ikt_max_i64(ctx, most, 2);
    if (most[0] == -most[1]) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE, "the parameters are not the same on all ranks");
}

/* Keys of a file do not go with rows in memory, and none is ignored. */
static ikt_status open_rows(ikt_context *ctx, const ikt_input_settings *input,
                            const caller_rows *given, ikt_source **source) {
    if (!given) return ikt_input_open(ctx, input, source);
    if (input->file[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the rows come from memory, but input.file is '%.200s': leave it empty",
                        input->file);
    if (input->rows != IKT_AUTO_INT)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the rows come from memory, but input.rows is %lld: leave it auto and give "
                        "fewer rows",
                        (long long)input->rows);
    return ikt_source_from_rows(ctx, given->rows, given->labels, given->count, given->columns,
                                given->type, source);
}

/* COLLECTIVE. The rows are opened, embedded and closed; the files that the parameters name, and the
 * measures, are made as `iktsne embed` makes them. */
static ikt_status make(ikt_embedding *embedding, const ikt_settings *settings,
                       const caller_rows *given) {
    ikt_context *ctx = embedding->ctx;
    ikt_run *run = &embedding->run;
    ikt_source *source = NULL;
    IKT_TRY(ikt_memory_check_start(ctx));
    IKT_TRY(open_rows(ctx, &settings->input, given, &source));
    ikt_stage_begin(ctx, IKT_STAGE_TOTAL);
    ikt_status st = ikt_pipeline_run(ctx, settings, source, run);
    if (st == IKT_OK && run->settings.output.file[0]) st = ikt_run_write(ctx, run);
    if (st == IKT_OK) st = ikt_run_model_end(ctx, run);
    if (st == IKT_OK) st = ikt_run_picture(ctx, run);
    if (st == IKT_OK) ikt_run_finish(ctx, run);
    if (st == IKT_OK) st = ikt_run_measures(ctx, run, &embedding->measures);
    ikt_stage_end(ctx, IKT_STAGE_TOTAL);
    if (st == IKT_OK) {
        const ikt_trace *trace = &run->embedding.trace;
        run->settings.output.state = false; /* the state of the loop is gone */
        embedding->is_run = true;
        embedding->q = (int)run->settings.layout.dimensions;
        embedding->hash = run->hash;
        embedding->objective = trace->count > 0 ? ikt_trace_last(trace) : NAN;
        embedding->iterations = trace->end;
        embedding->zero_similarity = run->embedding.zero_similarity;
        st = ikt_agree(ctx, ikt_run_configuration(ctx, run, &embedding->yaml));
    }
    if (st == IKT_OK)
        st = ikt_embedding_hand_over(embedding, given ? given->count : run->rows.count);
    run->given = NULL;
    ikt_source_close(&source);
    return st;
}

static ikt_status embed(ikt_context *ctx, const ikt_parameters *parameters,
                        const caller_rows *given, ikt_embedding **out) {
    const ikt_h5_host host = ikt_h5_host_keep();
    *out = NULL;
    ikt_clear(ctx);
    IKT_TRY(check_equal(ctx, parameters));
    IKT_TRY(ikt_embedding_new(ctx, out));
    const ikt_run_settings *own = &parameters->settings.run;
    if (own->threads != IKT_AUTO_INT) ikt_context_set_threads((*out)->ctx, (int)own->threads);
    if (own->log == IKT_LOG_JSON) ikt_context_set_log_format((*out)->ctx, IKT_LOG_JSON);
    const ikt_status st = ikt_embedding_report(*out, make(*out, &parameters->settings, given));
    if (st != IKT_OK) ikt_embedding_destroy(out);
    ikt_h5_host_restore(&host);
    return st;
}

ikt_status ikt_embed_rows(ikt_context *ctx, const ikt_parameters *parameters, const void *rows,
                          int64_t count, int64_t columns, ikt_type type, const int64_t *labels,
                          ikt_embedding **out) {
    const caller_rows given = {rows, count, columns, type, labels};
    return embed(ctx, parameters, &given, out);
}

ikt_status ikt_embed_file(ikt_context *ctx, const ikt_parameters *parameters, ikt_embedding **out) {
    return embed(ctx, parameters, NULL, out);
}
