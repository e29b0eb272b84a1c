/* What a run refuses before its first long stage. See checks.h. */
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
#include "data/missing.h"
#include "io/results/result.h"

ikt_status ikt_check_missing(ikt_context *ctx, const ikt_settings *settings, bool is_guest) {
    const int how = settings->preprocess.missing;
    if (how == IKT_MISSING_DROP && is_guest)
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "preprocess.missing: drop is for files: the embedding of rows in memory has "
            "a place for each of them; take mean or median, or leave these rows out");
    if (how != IKT_MISSING_REFUSE && settings->isolation.model_from[0])
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "preprocess.missing does not go with isolation.model_from, as it would fill "
            "the two data sets by different values; fill them beforehand");
    return IKT_OK;
}

/* SAME-ARGS. A matrix of similarities that was changed where those of new rows cannot be. */
static ikt_status check_spectrum(ikt_context *ctx, const ikt_settings *settings) {
    const int spectrum = settings->input.spectrum;
    if (!settings->input.similarities[0] || (spectrum != IKT_USE_CLIP && spectrum != IKT_USE_FLIP))
        return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "output.model does not go with input.spectrum = %s: similarities of new "
                    "rows are not changed as those of the old ones are; take raw or shift",
                    spectrum == IKT_USE_CLIP ? "clip" : "flip");
}

/* SAME-ARGS. The same of a map of similarities to landmarks. */
static ikt_status check_projection(ikt_context *ctx, const ikt_settings *settings) {
    const ikt_similarity_kind kind = ikt_settings_similarity(settings);
    if (kind != IKT_SIMILARITY_GIVEN && settings->preprocess.metric == IKT_METRIC_PRECOMPUTED)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.model does not go with kernel.kind = %s of a matrix: new rows have "
                        "no coordinates to be compared with landmarks by%s",
                        kind == IKT_SIMILARITY_GAUSSIAN ? "gaussian" : "isolation",
                        settings->input.similarities[0]
                            ? "; leave it out, for the similarities themselves"
                            : "");
    if (kind == IKT_SIMILARITY_ISOLATION && settings->isolation.form != IKT_FORM_VORONOI)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.model needs isolation.form = voronoi: the file holds centres of "
                        "cells, not trees");
    return check_spectrum(ctx, settings);
}

/* SAME-ARGS. By which similarities new rows cannot be compared with a support. */
static ikt_status check_class_model(ikt_context *ctx, const ikt_settings *settings) {
    const ikt_similarity_kind kind = ikt_settings_class_similarity(settings);
    if (kind != IKT_SIMILARITY_LINEAR && kind != IKT_SIMILARITY_GIVEN)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.model of affinity.kind = fisher holds the rows of the support, or "
                        "needs a matrix of similarities (input.similarities): kernel.kind = %s "
                        "does not go with it; embed new rows together with the old ones, without "
                        "a label or outside fisher.train",
                        kind == IKT_SIMILARITY_GAUSSIAN ? "gaussian" : "isolation");
    return check_spectrum(ctx, settings);
}

ikt_status ikt_check_model(ikt_context *ctx, const ikt_settings *settings) {
    const ikt_output_settings *output = &settings->output;
    if (!output->model[0]) return IKT_OK;
    const ikt_objective_kind *objective = ikt_layout_objective(&settings->layout);
    const bool is_isolation = settings->affinity.kind == IKT_AFFINITY_ISOLATION;
    const bool is_fisher = settings->affinity.kind == IKT_AFFINITY_FISHER;
    const bool is_trimap = objective == &ikt_objective_trimap;
    if (ikt_settings_is_kernel_map(settings)) return check_projection(ctx, settings);
    if (!is_trimap && (objective == &ikt_objective_sne || !objective->divergence))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.model does not go with layout.objective = %s: new rows are placed "
                        "by the kernel of t-SNE, by triplets (trimap), or in a map of similarities "
                        "(kpca, kda)",
                        objective->name);
    if (is_fisher) IKT_TRY(check_class_model(ctx, settings));
    if (!is_isolation && !is_trimap && !is_fisher)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.model needs affinity.kind = isolation or fisher: only cell codes "
                        "or the model of the classes tell where new rows belong");
    if (is_isolation && settings->isolation.form != IKT_FORM_VORONOI)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.model needs isolation.form = voronoi: the file holds centres of "
                        "cells, not trees");
    return IKT_OK;
}

ikt_status ikt_check_fisher(ikt_context *ctx, const ikt_settings *settings) {
    const ikt_objective_kind *objective = ikt_layout_objective(&settings->layout);
    const int metric = settings->preprocess.metric;
    if (settings->affinity.kind != IKT_AFFINITY_FISHER) return IKT_OK;
    if (settings->input.graph[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.kind=fisher compares rows, which input.graph does not hold: give "
                        "input.file alone");
    const ikt_similarity_kind kind = ikt_settings_class_similarity(settings);
    const bool is_matrix = metric == IKT_METRIC_PRECOMPUTED;
    if (kind == IKT_SIMILARITY_LINEAR && (metric == IKT_METRIC_MANHATTAN || is_matrix))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.kind=fisher needs inner products of rows, which "
                        "preprocess.metric=%s does not have: take %s or kernel.kind=isolation",
                        is_matrix ? "precomputed" : "manhattan",
                        is_matrix ? "kernel.kind=gaussian" : "euclidean, cosine, correlation,");
    if (kind == IKT_SIMILARITY_GAUSSIAN && metric == IKT_METRIC_MANHATTAN)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "kernel.kind = gaussian is of Euclidean distances, which "
                        "preprocess.metric=manhattan does not go with: take kernel.kind=isolation");
    if (is_matrix && (settings->affinity.fisher.euclidean > 0 ||
                      settings->affinity.fisher.candidates == IKT_CANDIDATES_EUCLIDEAN))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "fisher.%s takes plain distances of rows, which a matrix of all pairs has "
                        "no rows for: leave it out",
                        settings->affinity.fisher.euclidean > 0 ? "euclidean"
                                                                : "candidates=euclidean");
    if (objective->needs & (IKT_NEEDS_FEATURES | IKT_NEEDS_CODES))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.kind=fisher gives neighbours and weights, but "
                        "layout.objective=%s compares rows by itself: take an objective that works "
                        "on P",
                        objective->name);
    if (settings->layout.init == IKT_INIT_LANDMARK)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.init=landmark does not go with affinity.kind=fisher: landmarks "
                        "would have a model of the classes of their own; take pca, spectral or "
                        "random");
    if (settings->preprocess.missing == IKT_MISSING_DROP && settings->affinity.fisher.train[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "fisher.train numbers the rows of the file, of which "
                        "preprocess.missing=drop leaves some out: take mean or median");
    return IKT_OK;
}

ikt_status ikt_check_whole(ikt_context *ctx, const ikt_settings *settings) {
    const ikt_objective_kind *objective = ikt_layout_objective(&settings->layout);
    if (settings->affinity.support != IKT_SUPPORT_WHOLE) return IKT_OK;
    if (settings->input.graph[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.support = whole works on the cell codes of the rows, which "
                        "input.graph does not hold: take affinity.support=sparse");
    if (settings->affinity.kind != IKT_AFFINITY_ISOLATION)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.support = whole needs affinity.kind = isolation: only that "
                        "kernel is a sum over cells");
    if (settings->output.graph[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.graph needs affinity.support = sparse: the whole kernel is never "
                        "held as a graph");
    if (objective != &ikt_objective_tsne && objective != &ikt_objective_sne)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.support = whole does not go with layout.objective=%s: its "
                        "attraction is not in proportion to P, so that the parts of P that "
                        "iterations draw would not add up to it; take tsne or sne",
                        objective->name);
    if (ikt_layout_has_spectrum(&settings->layout))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s needs affinity.support = sparse or dense: eigenvectors take products "
                        "with P, which the whole kernel is never held as",
                        ikt_layout_spectrum_key(&settings->layout));
    if (settings->layout.stop == IKT_STOP_AUTO)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "affinity.support = whole needs layout.stop = fixed: the last iterations "
                        "draw from more partitionings, and so have to be known beforehand");
    return IKT_OK;
}

ikt_status ikt_check_objective(ikt_context *ctx, const ikt_settings *settings) {
    const ikt_objective_kind *objective = ikt_layout_objective(&settings->layout);
    if (!objective->needs_sparse || settings->affinity.support == IKT_SUPPORT_SPARSE) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "affinity.support = %s does not go with layout.objective=%s, which goes along "
                    "the entries of a sparse P: take affinity.support=sparse",
                    settings->affinity.support == IKT_SUPPORT_DENSE ? "dense" : "whole",
                    objective->name);
}

ikt_status ikt_check_precomputed(ikt_context *ctx, ikt_settings *settings) {
    ikt_affinity_settings *affinity = &settings->affinity;
    ikt_isolation_settings *isolation = &settings->isolation;
    if (settings->preprocess.metric != IKT_METRIC_PRECOMPUTED) return IKT_OK;
    const char *wrong =
        settings->output.model[0] && affinity->kind != IKT_AFFINITY_FISHER &&
                !ikt_settings_is_kernel_map(settings)
            ? "output.model keeps the coordinates of rows or centres"
        : isolation->model_from[0] ? "isolation.model_from names rows of another file"
        : settings->input.graph[0] ? "input.graph takes the place of the distances"
        : settings->layout.init == IKT_INIT_LANDMARK
            ? "layout.init = landmark places rows by their coordinates"
        : isolation->form == IKT_FORM_FOREST ? "isolation.form = forest splits columns"
        : affinity->search == IKT_SEARCH_APPROXIMATE
            ? "affinity.search = approximate looks into cells of near coordinates"
        : isolation->search == IKT_CELLS_APPROXIMATE
            ? "isolation.search = approximate looks into cells of near coordinates"
            : NULL;
    if (wrong)
        return ikt_fail(ctx, IKT_ERR_USAGE, "%s, and %s only: leave it out", wrong,
                        settings->input.similarities[0]
                            ? "input.similarities gives similarities"
                            : "preprocess.metric = precomputed gives distances");
    if (affinity->support != IKT_SUPPORT_DENSE) affinity->search = IKT_SEARCH_EXACT;
    if (affinity->kind == IKT_AFFINITY_ISOLATION) isolation->search = IKT_CELLS_EXACT;
    return IKT_OK;
}

ikt_status ikt_check_similarities(ikt_context *ctx, ikt_settings *settings) {
    const ikt_input_settings *input = &settings->input;
    ikt_preprocess_settings *rows = &settings->preprocess;
    ikt_layout_settings *layout = &settings->layout;
    const ikt_objective_kind *objective = ikt_layout_objective(layout);
    const bool is_usual = rows->metric == IKT_METRIC_EUCLIDEAN && rows->matrix == 0;
    const bool is_same =
        rows->metric == IKT_METRIC_PRECOMPUTED && rows->matrix == IKT_MATRIX_SIMILARITIES;
    if (!input->similarities[0]) return IKT_OK;
    const char *wrong =
        input->graph[0]                                      ? "input.graph is another input"
        : input->columns != IKT_AUTO_INT || input->type != 0 ? "raw numbers have no labels beside"
        : input->rows != IKT_AUTO_INT ? "input.rows would leave columns without their rows"
        : input->skip_columns[0] || input->transposed != 0
            ? "input.skip_columns and input.transposed are for rows of a table"
        : rows->missing != IKT_MISSING_REFUSE
            ? "preprocess.missing fills in columns of rows with coordinates"
        : rows->pca > 0 ? "preprocess.pca reduces rows with coordinates (take kpca)"
        : rows->normalise != IKT_NORMALISE_AUTO && rows->normalise != IKT_NORMALISE_NONE
            ? "preprocess.normalise scales the columns of rows with coordinates"
        : !is_usual && !is_same ? "preprocess.metric is a distance of rows with coordinates"
        : objective == &ikt_objective_pca
            ? "layout.objective = pca needs rows with coordinates (take kpca)"
        : layout->init == IKT_INIT_PCA
            ? "layout.init = pca needs rows with coordinates (take kpca or random)"
        : layout->init == IKT_INIT_LANDMARK
            ? "layout.init = landmark places rows by their coordinates (take kpca or random)"
            : NULL;
    if (wrong)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s, and input.similarities gives similarities only: leave it out", wrong);
    rows->metric = IKT_METRIC_PRECOMPUTED;
    rows->matrix = IKT_MATRIX_SIMILARITIES;
    if (layout->init == IKT_INIT_AUTO && !layout->init_file[0] && !objective->is_start &&
        layout->preset == IKT_PRESET_DEFAULT)
        layout->init = IKT_INIT_KPCA;
    return IKT_OK;
}

ikt_status ikt_check_kernel_map(ikt_context *ctx, const ikt_settings *settings, bool has_rows) {
    const ikt_preprocess_settings *rows = &settings->preprocess;
    const ikt_similarity_kind kind = ikt_settings_similarity(settings);
    const bool is_product = kind == IKT_SIMILARITY_LINEAR || kind == IKT_SIMILARITY_GAUSSIAN;
    if (!ikt_settings_has_kernel_map(settings)) return IKT_OK;
    if (!has_rows)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "kpca and kda compare rows, which input.graph alone does not hold: give "
                        "input.file or input.similarities");
    if (kind == IKT_SIMILARITY_LINEAR && rows->metric == IKT_METRIC_PRECOMPUTED)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "kernel.kind = linear takes inner products of rows with coordinates, which "
                        "a matrix does not give: %s",
                        rows->matrix == IKT_MATRIX_SIMILARITIES
                            ? "leave it out, for the similarities themselves"
                            : "take gaussian or isolation");
    if (is_product && rows->metric == IKT_METRIC_MANHATTAN)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "kernel.kind = linear and gaussian take inner products of the rows, which "
                        "preprocess.metric=manhattan does not go with: take kernel.kind=isolation");
    return IKT_OK;
}

ikt_status ikt_check_sparse(ikt_context *ctx, const ikt_settings *settings, bool is_sparse) {
    if (!is_sparse || !settings->output.model[0]) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "output.model needs dense rows, and those of %s are sparse: the file holds "
                    "centres with all their columns",
                    settings->input.file);
}

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
    if (is_told && strcmp(answer, "UNLIMITED") == 0) {
        *seconds = INFINITY;
        return true;
    }
    return is_told && ikt_time_parse(answer, seconds);
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
    if (array && index)
        snprintf(job, sizeof job, "%s_%s", array, index);
    else
        snprintf(job, sizeof job, "%s", id);
    if (!is_guest && ikt_cpu_may_fork() && ask_slurm(job, &seconds)) {
        snprintf(text, sizeof text, "%.0f", isfinite(seconds) ? now + seconds : 0);
        setenv("SLURM_JOB_END_TIME", text, 1);
    } else {
        ikt_log(ctx, IKT_LOG_WARN,
                "Slurm does not say when the job ends: set run.max_time for the run to stop in "
                "time with a checkpoint");
    }
    return seconds;
}

ikt_status ikt_check_limits(ikt_context *ctx, const ikt_run_settings *run, bool is_guest,
                            bool *is_watched, double *seconds) {
    const char *limit = run->max_time;
    const bool is_auto = strcmp(limit, "auto") == 0, is_none = strcmp(limit, "none") == 0;
    *is_watched = strcmp(run->checkpoint, "none") != 0;
    *seconds = INFINITY;
    if (!*is_watched && !is_auto && !is_none)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "run.max_time needs a checkpoint to stop with, and run.checkpoint is none");
    if (!*is_watched || is_none) return IKT_OK;
    if (is_auto) {
        if (ikt_rank(ctx) == 0) *seconds = slurm_limit(ctx, is_guest);
        ikt_broadcast(ctx, seconds, (int64_t)sizeof *seconds, 0);
    } else if (!ikt_time_parse(limit, seconds)) {
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "run.max_time: '%.80s' is no time: write minutes, hours:minutes:seconds, "
                        "days-hours, auto or none",
                        limit);
    }
    if (isfinite(*seconds))
        ikt_log(ctx, IKT_LOG_DETAIL, "%.0f seconds are left for the run", *seconds);
    return IKT_OK;
}
