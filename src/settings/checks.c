/* The files of a run, and what it refuses before its first long stage. See checks.h. */
#include "settings/checks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/time_limit.h"
#include "io/results/result.h"
#include "io/sources/labels.h"
#include "io/sources/source.h"

/* --- files ------------------------------------------------------------------------------------ */

void ikt_run_files_read(const ikt_settings *settings, ikt_files *files) {
    const ikt_input_settings *input = &settings->input;
    const struct {
        const char *role, *name;
    } read[] = {
        {"the configuration", settings->run.configuration},
        {"input.file", input->file},
        {"input.similarities", input->file[0] ? "" : input->similarities},
        {"input.graph", input->graph},
        {"input.labels", ikt_labels_are_default(input->labels) ? "" : input->labels},
        {ikt_affinity_of(&settings->affinity)->file_key, ikt_affinity_file(&settings->affinity)},
        {"isolation.model_from", settings->isolation.model_from},
        {"layout.init_file", settings->layout.init_file}};
    for (size_t r = 0; r < sizeof read / sizeof *read; r++)
        if (!ikt_borrowed_find(files->ctx, read[r].name))
            ikt_files_add(files, IKT_FILE_READ, read[r].role, read[r].name);
}

void ikt_checkpoint_folder_name(const ikt_settings *settings, char folder[IKT_PATH_MAX]) {
    const char *asked = settings->run.checkpoint;
    folder[0] = '\0';
    if (strcmp(asked, "auto") == 0)
        snprintf(folder, IKT_PATH_MAX, "%s.checkpoint", settings->output.file);
    else if (ikt_run_has_checkpoints(&settings->run))
        snprintf(folder, IKT_PATH_MAX, "%s", asked);
}

void ikt_checkpoint_file_name(const char *folder, ikt_stage stage, bool is_previous,
                              char path[IKT_PATH_MAX]) {
    snprintf(path, IKT_PATH_MAX, "%.4000s/%s%s.h5", folder, ikt_stage_saved(stage),
             is_previous ? ".previous" : "");
}

/* Adds what a run writes: result, picture, model, graph, and the files of its checkpoint. The
 * result of a run that is extended (run.extend) is changed. */
static void add_written(const ikt_settings *settings, ikt_files *files) {
    const ikt_output_settings *output = &settings->output;
    char folder[IKT_PATH_MAX], path[IKT_PATH_MAX];
    ikt_files_add_hdf5(files, settings->run.extend > 0 ? IKT_FILE_CHANGED : IKT_FILE_WRITTEN,
                       "output.file", output->file, ".h5", true);
    ikt_files_add_picture(files, "output.picture", output->picture);
    ikt_files_add_hdf5(files, IKT_FILE_WRITTEN, "output.model", output->model, ".h5", false);
    ikt_files_add_hdf5(files, IKT_FILE_WRITTEN, "output.graph", output->graph, ".h5", false);
    ikt_checkpoint_folder_name(settings, folder);
    ikt_files_add(files, IKT_FILE_CHANGED, "run.checkpoint", folder);
    if (!folder[0]) return;
    IKT_FOR_SAVED_STAGES (s)
        for (int is_previous = 0; is_previous < 2; is_previous++) {
            ikt_checkpoint_file_name(folder, s, is_previous, path);
            ikt_files_add(files, IKT_FILE_CHANGED, "run.checkpoint", path);
        }
}

/* Words by which a reader of the help may mean that there shall be no picture. */
static ikt_status check_picture_name(ikt_context *ctx, const char *picture) {
    static const char *const word[] = {"no", "off", "false"};
    for (size_t w = 0; w < sizeof word / sizeof *word; w++)
        if (strcmp(picture, word[w]) == 0)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "output.picture=%s would be the name of a file: write "
                            "output.picture=none for no picture",
                            picture);
    return IKT_OK;
}

ikt_status ikt_check_apart(ikt_context *ctx, const ikt_settings *settings) {
    ikt_files files = {.ctx = ctx};
    ikt_run_files_read(settings, &files);
    add_written(settings, &files);
    return ikt_files_check(&files);
}

ikt_status ikt_check_outputs(ikt_context *ctx, const ikt_settings *settings, bool needs_file) {
    const ikt_output_settings *output = &settings->output;
    const bool overwrite = output->overwrite;
    if (!output->file[0] && needs_file)
        return ikt_fail(ctx, IKT_ERR_USAGE, "output.file is not set: name the HDF5 file to write");
    IKT_TRY(check_picture_name(ctx, output->picture));
    if (output->file[0]) IKT_TRY(ikt_atomic_check(ctx, output->file, overwrite));
    if (output->picture[0]) IKT_TRY(ikt_atomic_check_stream(ctx, output->picture, overwrite));
    /* Whether output.graph may be written depends on the graph (pipeline/early_outputs.h). */
    return output->model[0] ? ikt_atomic_check(ctx, output->model, overwrite) : IKT_OK;
}

/* --- what has to fit the data ----------------------------------------------------------------- */

ikt_status ikt_check_graph_rows(ikt_context *ctx, const char *name, int64_t rows, int64_t n) {
    if (rows == n) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s has %lld rows, the data has %lld: not the same data",
                    name, (long long)rows, (long long)n);
}

ikt_status ikt_check_start(ikt_context *ctx, const ikt_layout_settings *layout, int64_t rows,
                           int64_t dimensions, int64_t n) {
    const char *path = layout->init_file;
    if (rows != n)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s holds %lld positions, the data has %lld rows", path,
                        (long long)rows, (long long)n);
    if (dimensions == layout->dimensions) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s holds positions in %lld dimensions, but layout.dimensions = %lld", path,
                    (long long)dimensions, (long long)layout->dimensions);
}

ikt_status ikt_check_model_columns(ikt_context *ctx, const char *name, int64_t columns,
                                   const char *of_rows, int64_t d) {
    if (columns == d) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s (isolation.model_from) has %lld columns, %s has %lld: centres and rows "
                    "must have the same",
                    name, (long long)columns, of_rows, (long long)d);
}

/* --- room ------------------------------------------------------------------------------------- */

int64_t ikt_check_result_bytes(ikt_context *ctx, const ikt_settings *settings, int64_t n) {
    const int64_t q = settings->layout.dimensions;
    const ikt_rows rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    ikt_objective_array form[IKT_LOOP_ARRAYS_MOST];
    ikt_part state[IKT_LOOP_ARRAYS_MOST];
    const int arrays = ikt_loop_arrays(&settings->layout, &rows, form);
    for (int a = 0; a < arrays; a++)
        state[a] = ikt_loop_part(&form[a], &rows, NULL);
    const ikt_result likely = {.rows = rows, .q = (int)q, .state = state, .n_state = arrays};
    return ikt_result_bytes(&likely);
}

ikt_status ikt_check_room(ikt_context *ctx, const ikt_settings *settings, int64_t n) {
    if (!settings->output.file[0]) return IKT_OK;
    return ikt_atomic_check_space(ctx, settings->output.file,
                                  ikt_check_result_bytes(ctx, settings, n));
}

/* --- time ------------------------------------------------------------------------------------- */

/* What run.max_time says beside times. */
static bool is_word(const ikt_run_settings *run, const char *word) {
    return strcmp(run->max_time, word) == 0;
}

bool ikt_run_has_limit(const ikt_run_settings *run) {
    return !is_word(run, "auto") && !is_word(run, "none");
}

ikt_status ikt_check_time(ikt_context *ctx, const ikt_run_settings *run) {
    double seconds;
    if (!ikt_run_has_limit(run) || ikt_time_parse(run->max_time, &seconds)) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "run.max_time: '%.80s' is no time: write minutes, hours:minutes:seconds, "
                    "days-hours, auto or none",
                    run->max_time);
}

ikt_status ikt_check_limits(ikt_context *ctx, const ikt_run_settings *run, bool is_host,
                            bool *is_watched, double *seconds) {
    *is_watched = ikt_run_has_checkpoints(run);
    *seconds = INFINITY;
    if (!*is_watched || is_word(run, "none")) return IKT_OK;
    if (is_word(run, "auto")) {
        if (ikt_rank(ctx) == 0) *seconds = ikt_slurm_time_left(ctx, !is_host);
        ikt_broadcast(ctx, seconds, (int64_t)sizeof *seconds, 0);
    } else {
        ikt_time_parse(run->max_time, seconds); /* which ikt_check_time has allowed */
    }
    if (isfinite(*seconds))
        ikt_log(ctx, IKT_LOG_DETAIL, "%.0f seconds are left for the run", *seconds);
    return IKT_OK;
}

/* --- runs that go on with other iterations ---------------------------------------------------- */

void ikt_warn_of_iterations(ikt_context *ctx, const ikt_settings *settings, int64_t had,
                            bool has_loop) {
    const ikt_layout_settings *layout = &settings->layout;
    const ikt_objective_kind *kind = ikt_layout_objective(layout);
    const bool falls = kind->is_annealed || (kind->places == IKT_PLACES_BY_TRIPLETS &&
                                             layout->own.triplet.triplets == IKT_TRIPLETS_POOL);
    const struct {
        bool is_so;
        const char *because, *verb;
    } reason[] = {
        {has_loop && settings->affinity.support == IKT_SUPPORT_WHOLE,
         "the last iterations of a run with the whole kernel draw from more partitionings and "
         "take shorter steps",
         had > 0 ? "may" : "will"},
        {has_loop && falls,
         "the steps of such a run become shorter towards its last iteration, which is another one "
         "now",
         had > 0 && !kind->is_annealed ? "may" : "will"},
        {has_loop && layout->tsne_iterations > 0,
         "where layout.tsne_iterations is auto, a run begins with more iterations of t-SNE the "
         "longer it is",
         "may"},
        {layout->init == IKT_INIT_LANDMARK,
         "the landmarks that it started from were embedded in as many iterations as it had then",
         "will"}};
    char before[96] = "";
    if (had > 0)
        snprintf(before, sizeof before,
                 "layout.iterations was %lld at the start before and is %lld now: ", (long long)had,
                 (long long)layout->iterations);
    for (size_t r = 0; r < sizeof reason / sizeof *reason; r++)
        if (reason[r].is_so)
            ikt_log(ctx, IKT_LOG_WARN, "%s%s, so that the embedding %s not be that of one %s run",
                    before, reason[r].because, reason[r].verb,
                    had > layout->iterations ? "shorter" : "longer");
}
