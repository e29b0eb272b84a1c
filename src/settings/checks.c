/* What a run refuses before its first long stage. See checks.h. */
#include "settings/checks.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "io/results/result.h"
#include "settings/time_limit.h"

/* LOCAL, rank 0. Whether two names lead to one file that is there. */
static bool is_same(const char *a, const char *b) {
    struct stat of_a, of_b;
    if (!a[0] || !b[0] || stat(a, &of_a) != 0 || stat(b, &of_b) != 0) return false;
    return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* LOCAL, rank 0. An output in the place of the data would be the end of them. */
static ikt_status check_apart(ikt_context *ctx, const ikt_settings *s, const char *key,
                              const char *path) {
    const bool is_input = is_same(path, s->input.file);
    if (!is_input && !is_same(path, s->isolation.model_from)) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE, "%s and %s are the same file: %s", key,
                    is_input ? "input.file" : "isolation.model_from", path);
}

/* COLLECTIVE. */
static ikt_status check_apart_all(ikt_context *ctx, const ikt_settings *s, const char *key,
                                  const char *path) {
    return ikt_agree(ctx, ikt_rank(ctx) == 0 ? check_apart(ctx, s, key, path) : IKT_OK);
}

static ikt_status check_output(ikt_context *ctx, const ikt_settings *s, const char *key,
                               const char *path) {
    if (!path[0]) return IKT_OK;
    IKT_TRY(check_apart_all(ctx, s, key, path));
    return path == s->output.picture ? ikt_atomic_check_stream(ctx, path, s->output.overwrite)
                                     : ikt_atomic_check(ctx, path, s->output.overwrite);
}

ikt_status ikt_check_outputs(ikt_context *ctx, const ikt_settings *settings, bool needs_file) {
    const ikt_output_settings *output = &settings->output;
    if (!output->file[0] && needs_file)
        return ikt_fail(ctx, IKT_ERR_USAGE, "output.file is not set: name the HDF5 file to write");
    if (output->file[0] && strcmp(output->file, output->picture) == 0)
        return ikt_fail(ctx, IKT_ERR_USAGE, "output.picture and output.file are the same file: %s",
                        output->file);
    IKT_TRY(check_output(ctx, settings, "output.file", output->file));
    IKT_TRY(check_output(ctx, settings, "output.picture", output->picture));
    /* Whether it may be written depends on the graph (graph_keep.h). */
    IKT_TRY(check_apart_all(ctx, settings, "output.graph", output->graph));
    return check_output(ctx, settings, "output.model", output->model);
}

ikt_status ikt_check_model(ikt_context *ctx, const ikt_settings *settings) {
    const ikt_output_settings *output = &settings->output;
    if (!output->model[0]) return IKT_OK;
    if (settings->affinity.kind != IKT_AFFINITY_ISOLATION)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.model needs affinity.kind = isolation: only its cell codes tell "
                        "where new rows belong");
    if (settings->isolation.form != IKT_FORM_VORONOI)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.model needs isolation.form = voronoi: the file holds centres of "
                        "cells, not trees");
    if (settings->layout.objective == IKT_OBJECTIVE_SNE)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.model does not go with layout.objective = sne: new rows are placed "
                        "by the kernel of t-SNE");
    if (strcmp(output->model, output->file) == 0)
        return ikt_fail(ctx, IKT_ERR_USAGE, "output.model and output.file are the same file: %s",
                        output->file);
    return IKT_OK;
}

ikt_status ikt_check_sparse(ikt_context *ctx, const ikt_settings *settings, bool is_sparse) {
    if (!is_sparse || !settings->output.model[0]) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "output.model needs dense rows, and those of %s are sparse: the file holds "
                    "centres with all their columns",
                    settings->input.file);
}

ikt_status ikt_check_limits(ikt_context *ctx, const ikt_run_settings *run, bool *is_watched,
                            double *seconds) {
    const bool is_limited =
        strcmp(run->max_time, "auto") != 0 && strcmp(run->max_time, "none") != 0;
    *is_watched = strcmp(run->checkpoint, "none") != 0;
    *seconds = INFINITY;
    if (*is_watched) return ikt_time_limit(ctx, run->max_time, seconds);
    if (!is_limited) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "run.max_time needs a checkpoint to stop with, and run.checkpoint is none");
}

int64_t ikt_check_result_bytes(ikt_context *ctx, const ikt_settings *settings, int64_t n) {
    const int64_t q = settings->layout.dimensions;
    const ikt_rows rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    const ikt_part arrays = ikt_part_rows("y", IKT_PART_F32, &rows, q, NULL);
    const ikt_part state[] = {arrays, arrays, arrays}; /* positions, velocities, gains */
    const ikt_result likely = {.rows = rows, .q = (int)q, .state = state, .n_state = 3};
    return ikt_result_bytes(&likely);
}

ikt_status ikt_check_room(ikt_context *ctx, const ikt_settings *settings, int64_t n) {
    if (!settings->output.file[0]) return IKT_OK;
    return ikt_atomic_check_space(ctx, settings->output.file,
                                  ikt_check_result_bytes(ctx, settings, n));
}
