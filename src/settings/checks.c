/* The files of a run, and what it refuses before its first long stage. See checks.h. */
#define _GNU_SOURCE
#include "settings/checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/log.h"
#include "io/results/result.h"
#include "io/sources/labels.h"
#include "io/sources/source.h"

/* --- files ------------------------------------------------------------------------------------ */

void ikt_run_files_read(const ikt_settings *settings, ikt_files *files) {
    const ikt_input_settings *input = &settings->input;
    const struct {
        const char *role, *name;
    } read[] = {{"the configuration", settings->run.configuration},
                {"input.file", input->file},
                {"input.similarities", input->file[0] ? "" : input->similarities},
                {"input.graph", input->graph},
                {"input.labels", ikt_labels_are_default(input->labels) ? "" : input->labels},
                {"fisher.train", settings->affinity.fisher.train},
                {"isolation.model_from", settings->isolation.model_from},
                {"layout.init_file", settings->layout.init_file}};
    for (size_t r = 0; r < sizeof read / sizeof *read; r++)
        if (!ikt_lent_find(files->ctx, read[r].name))
            ikt_files_add(files, IKT_FILE_READ, read[r].role, read[r].name);
}

void ikt_checkpoint_folder_name(const ikt_settings *settings, char folder[IKT_PATH_MAX]) {
    const char *asked = settings->run.checkpoint;
    folder[0] = '\0';
    if (strcmp(asked, "auto") == 0)
        snprintf(folder, IKT_PATH_MAX, "%s.checkpoint", settings->output.file);
    else if (strcmp(asked, "none") != 0)
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
    ikt_files_add(files, settings->run.extend > 0 ? IKT_FILE_CHANGED : IKT_FILE_WRITTEN,
                  "output.file", output->file);
    ikt_files_add(files, IKT_FILE_WRITTEN, "output.picture", output->picture);
    ikt_files_add(files, IKT_FILE_WRITTEN, "output.model", output->model);
    ikt_files_add(files, IKT_FILE_WRITTEN, "output.graph", output->graph);
    ikt_checkpoint_folder_name(settings, folder);
    ikt_files_add(files, IKT_FILE_CHANGED, "run.checkpoint", folder);
    for (int file = 0; file < 2 * IKT_STAGE_COUNT && folder[0]; file++) {
        if (!ikt_stage_saved((ikt_stage)(file / 2))) continue;
        ikt_checkpoint_file_name(folder, (ikt_stage)(file / 2), file % 2 != 0, path);
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

/* --- room ------------------------------------------------------------------------------------- */

int64_t ikt_check_result_bytes(ikt_context *ctx, const ikt_settings *settings, int64_t n) {
    const int64_t q = settings->layout.dimensions;
    const ikt_rows rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    ikt_objective_array form[IKT_LOOP_ARRAYS_MOST];
    ikt_part state[IKT_LOOP_ARRAYS_MOST];
    const int arrays = ikt_loop_arrays(&settings->layout, &rows, form);
    for (int a = 0; a < arrays; a++)
        state[a] = form[a].is_shared
                       ? ikt_part_shared(form[a].name, form[a].type, form[a].count, NULL)
                       : ikt_part_rows(form[a].name, form[a].type, &rows, form[a].count, NULL);
    const ikt_result likely = {.rows = rows, .q = (int)q, .state = state, .n_state = arrays};
    return ikt_result_bytes(&likely);
}

ikt_status ikt_check_room(ikt_context *ctx, const ikt_settings *settings, int64_t n) {
    if (!settings->output.file[0]) return IKT_OK;
    return ikt_atomic_check_space(ctx, settings->output.file,
                                  ikt_check_result_bytes(ctx, settings, n));
}

/* --- time ------------------------------------------------------------------------------------- */

bool ikt_time_parse(const char *text, double *seconds) {
    static const double minutes_first[3][3] = {{60, 0, 0}, {60, 1, 0}, {3600, 60, 1}};
    static const double hours_first[3] = {3600, 60, 1};
    const char *dash = strchr(text, '-');
    double field[3] = {0, 0, 0}, days = 0;
    if (dash) {
        const size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 6 || text + digits != dash) return false;
        days = (double)strtol(text, NULL, 10);
        text = dash + 1;
    }
    int count = 0; /* numbers between colons, at most three */
    for (;; text++) {
        const size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 9 || count == 3) return false;
        field[count++] = (double)strtol(text, NULL, 10);
        text += digits;
        if (*text == '\0') break;
        if (*text != ':') return false;
    }
    const double *unit = dash ? hours_first : minutes_first[count - 1];
    *seconds = 86400 * days;
    for (int i = 0; i < count; i++)
        *seconds += unit[i] * field[i];
    return true;
}

/* Asks Slurm for the time that is left; false where it does not say. */
static bool ask_slurm(const char *job, double *seconds) {
    char command[128], answer[64] = "";
    if (strlen(job) > 32 || job[strspn(job, "0123456789_")] != '\0') return false;
    snprintf(command, sizeof command, "squeue -h -j %s -o %%L 2>/dev/null", job);
    FILE *pipe = popen(command, "r");
    if (!pipe) return false;
    const bool is_told = fgets(answer, sizeof answer, pipe) != NULL;
    pclose(pipe);
    answer[strcspn(answer, "\n")] = '\0';
    *seconds = INFINITY;
    return is_told && (strcmp(answer, "UNLIMITED") == 0 || ikt_time_parse(answer, seconds));
}

/* LOCAL, rank 0. What Slurm has said is put where newer ones say it themselves: it is asked once,
 * however many runs a study has. */
static double slurm_limit(ikt_context *ctx, bool is_guest) {
    const char *id = getenv("SLURM_JOB_ID"), *end = getenv("SLURM_JOB_END_TIME");
    const char *array = getenv("SLURM_ARRAY_JOB_ID"), *index = getenv("SLURM_ARRAY_TASK_ID");
    const double now = (double)time(NULL);
    double seconds = INFINITY;
    char job[64], text[32];
    if (!id) return INFINITY;
    if (end) return strtod(end, NULL) > 0 ? strtod(end, NULL) - now : INFINITY;
    /* The number of one task of an array is also that of the whole array, for which Slurm would
     * list all tasks. */
    const bool is_task = array && index;
    snprintf(job, sizeof job, "%s%s%s", is_task ? array : id, is_task ? "_" : "",
             is_task ? index : "");
    if (is_guest || !ikt_cpu_may_fork() || !ask_slurm(job, &seconds)) {
        ikt_log(ctx, IKT_LOG_WARN,
                "Slurm does not say when the job ends: set run.max_time for the run to stop in "
                "time with a checkpoint");
        return INFINITY;
    }
    snprintf(text, sizeof text, "%.0f", isfinite(seconds) ? now + seconds : 0);
    setenv("SLURM_JOB_END_TIME", text, 1);
    return seconds;
}

/* What run.max_time says beside times. */
static bool is_word(const ikt_run_settings *run, const char *word) {
    return strcmp(run->max_time, word) == 0;
}

ikt_status ikt_check_time(ikt_context *ctx, const ikt_run_settings *run) {
    double seconds;
    if (is_word(run, "auto") || is_word(run, "none") || ikt_time_parse(run->max_time, &seconds))
        return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "run.max_time: '%.80s' is no time: write minutes, hours:minutes:seconds, "
                    "days-hours, auto or none",
                    run->max_time);
}

ikt_status ikt_check_limits(ikt_context *ctx, const ikt_run_settings *run, bool is_guest,
                            bool *is_watched, double *seconds) {
    *is_watched = strcmp(run->checkpoint, "none") != 0;
    *seconds = INFINITY;
    if (!*is_watched || is_word(run, "none")) return IKT_OK;
    if (is_word(run, "auto")) {
        if (ikt_rank(ctx) == 0) *seconds = slurm_limit(ctx, is_guest);
        ikt_broadcast(ctx, seconds, (int64_t)sizeof *seconds, 0);
    } else {
        ikt_time_parse(run->max_time, seconds); /* which ikt_check_time has allowed */
    }
    if (isfinite(*seconds))
        ikt_log(ctx, IKT_LOG_DETAIL, "%.0f seconds are left for the run", *seconds);
    return IKT_OK;
}
