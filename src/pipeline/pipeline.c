/* The pipeline. Read ikt_pipeline_run first: it is the architecture on one screen. */
#include "pipeline/pipeline.h"

#include <string.h>
#include <time.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/timer.h"
#include "io/result.h"
#include "linalg/pca.h"
#include "linalg/thin_reader.h"
#include "pipeline/memory_plan.h"
#include "pipeline/probabilities.h"

ikt_status ikt_pipeline_open(ikt_context *ctx, const ikt_settings *settings, ikt_source **source,
                             ikt_dataset **data) {
    const ikt_input_settings *input = &settings->input;
    *source = NULL;
    *data = NULL;
    if (!input->file[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "input.file is not set: name the HDF5 file with the data");
    ikt_status st = ikt_source_open(ctx, input->file, input->dataset,
                                    input->rows == IKT_AUTO_INT ? 0 : input->rows, source);
    if (st == IKT_OK) st = ikt_dataset_create(ctx, *source, &settings->preprocess, data);
    if (st != IKT_OK) ikt_source_close(source);
    return st;
}

void ikt_pipeline_close(ikt_source **source, ikt_dataset **data) {
    ikt_dataset_destroy(data);
    ikt_source_close(source);
}

/* Everything that can be refused is refused before the first long stage. */
static ikt_status check_outputs(ikt_context *ctx, const ikt_output_settings *output) {
    if (!output->file[0])
        return ikt_fail(ctx, IKT_ERR_USAGE, "output.file is not set: name the HDF5 file to write");
    IKT_TRY(ikt_atomic_check(ctx, output->file, output->overwrite));
    return output->picture[0] ? ikt_atomic_check(ctx, output->picture, output->overwrite) : IKT_OK;
}

static ikt_status check_memory(ikt_context *ctx, const ikt_source *source, ikt_run *run) {
    ikt_workload work;
    const ikt_data_shape shape = {run->map.n, ikt_source_columns(source), ikt_source_type(source)};
    IKT_TRY(ikt_workload_make(ctx, &run->settings, &shape, ikt_size(ctx), ikt_threads(ctx), &work));
    ikt_memory_plan plan = ikt_memory_plan_make(&work, ikt_memory_resident_peak());
    run->predicted_bytes = ikt_max_one(ctx, plan.peak);
    return ikt_memory_plan_check(ctx, &plan);
}

static ikt_status read_labels(ikt_context *ctx, ikt_source *source, ikt_run *run) {
    const ikt_input_settings *input = &run->settings.input;
    bool present = false;
    ikt_status st = ikt_alloc(ctx, &run->labels, run->map.count, sizeof *run->labels, "labels");
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_source_read_labels(source, input->labels, run->map.first, run->map.count,
                                   run->labels, &present));
    if (!present) ikt_free(&run->labels);
    if (!present && strcmp(input->labels, "labels") != 0)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s has no data set '%s' (input.labels)", input->file,
                        input->labels);
    return ikt_source_read_marked(source, &run->marked, &run->n_marked);
}

static ikt_status start_from_pca(ikt_context *ctx, ikt_dataset *data, ikt_run *run) {
    double *scores = NULL;
    ikt_pca *pca = NULL;
    ikt_thin_reader space;
    ikt_row_reader reader = ikt_dataset_reader(data);
    ikt_row_reader sample = ikt_thin_reader_make(ctx, &reader, IKT_START_ROWS, &space);
    ikt_stage_begin(ctx, IKT_STAGE_PCA);
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &scores, 2 * run->map.count, sizeof *scores, "initial"));
    if (st == IKT_OK) st = ikt_pca_fit(ctx, &sample, 2, &pca);
    if (st == IKT_OK)
        st = ikt_pca_scores(ctx, pca, &reader, run->map.first, run->map.count, scores);
    if (st == IKT_OK)
        ikt_initial_from_scores(ctx, &run->map, (uint64_t)run->settings.run.seed, scores, run->y);
    ikt_pca_destroy(&pca);
    ikt_free(&scores);
    ikt_stage_end(ctx, IKT_STAGE_PCA);
    return st;
}

static ikt_status start_from_file(ikt_context *ctx, ikt_run *run) {
    ikt_result_file *file = NULL;
    IKT_TRY(ikt_result_open(ctx, run->settings.layout.init_file, &file));
    ikt_status st = IKT_OK;
    if (ikt_result_rows(file) != run->map.n)
        st = ikt_fail(ctx, IKT_ERR_DATA, "%s holds %lld positions, the data has %lld rows",
                      run->settings.layout.init_file, (long long)ikt_result_rows(file),
                      (long long)run->map.n);
    if (st == IKT_OK) st = ikt_result_read_embedding(file, run->map.first, run->map.count, run->y);
    ikt_result_close(&file);
    return st;
}

static ikt_status start(ikt_context *ctx, ikt_dataset *data, ikt_run *run) {
    ikt_status st = ikt_alloc(ctx, &run->y, 2 * run->map.count, sizeof *run->y, "embedding");
    IKT_TRY(ikt_agree(ctx, st));
    switch (run->settings.layout.init) {
    case IKT_INIT_PCA:
        return start_from_pca(ctx, data, run);
    case IKT_INIT_FILE:
        return start_from_file(ctx, run);
    default:
        ikt_initial_random(ctx, &run->map, (uint64_t)run->settings.run.seed, run->y);
        return IKT_OK;
    }
}

/* The loop works in positions, the run in rows of the input. */
static ikt_status bring(ikt_context *ctx, const ikt_probabilities *p, bool back, float *y) {
    const int64_t bytes = 2 * (int64_t)sizeof *y;
    if (!p->is_ordered) return IKT_OK;
    ikt_stage_begin(ctx, IKT_STAGE_ORDER);
    ikt_status st = back ? ikt_order_restore(ctx, &p->order, y, bytes, y, bytes, bytes)
                         : ikt_order_apply(ctx, &p->order, y, bytes, y, bytes, bytes);
    ikt_stage_end(ctx, IKT_STAGE_ORDER);
    return st;
}

static ikt_status place(ikt_context *ctx, const ikt_probabilities *p, ikt_run *run) {
    ikt_kernelsum *sums = NULL;
    ikt_objective objective = {NULL, NULL, NULL, NULL};
    IKT_TRY(bring(ctx, p, false, run->y));
    ikt_stage_begin(ctx, IKT_STAGE_LAYOUT);
    ikt_status st = ikt_probabilities_objective(ctx, p, &run->settings.layout, &sums, &objective);
    if (st == IKT_OK)
        st = ikt_layout_run(ctx, &run->settings.layout, &run->map, &objective, run->y, &run->trace);
    ikt_objective_destroy(&objective);
    ikt_kernelsum_destroy(&sums);
    ikt_stage_end(ctx, IKT_STAGE_LAYOUT);
    return st == IKT_OK ? bring(ctx, p, true, run->y) : st;
}

static void note_input(const ikt_source *source, ikt_run *run) {
    static const char *const names[] = {"uint8", "float32", "float64"};
    strncat(run->input_name, ikt_source_name(source), sizeof run->input_name - 1);
    run->d = ikt_source_columns(source);
    run->type = names[ikt_source_type(source)];
}

static void note_probabilities(ikt_context *ctx, const ikt_probabilities *p, ikt_run *run) {
    run->orphans = p->orphans;
    run->entries = p->entries;
    run->settings.affinity.neighbours = p->k;
    if (p->psi > 0) {
        run->settings.isolation.psi = p->psi;
        run->settings.isolation.pool = p->pool;
    }
    ikt_log(
        ctx, IKT_LOG_STAGE, "P: %lld entries, %.1f a row, in %.1f s", (long long)p->entries,
        (double)p->entries / (double)run->map.n,
        ikt_stage_seconds(ctx, IKT_STAGE_CODES) + ikt_stage_seconds(ctx, IKT_STAGE_CELLS) +
            ikt_stage_seconds(ctx, IKT_STAGE_ORDER) + ikt_stage_seconds(ctx, IKT_STAGE_NEIGHBOURS) +
            ikt_stage_seconds(ctx, IKT_STAGE_AFFINITY) + ikt_stage_seconds(ctx, IKT_STAGE_GRAPH));
    run->recall = p->recall;
    run->accuracy = p->accuracy;
    if (p->recall.sample > 0)
        ikt_log(ctx, IKT_LOG_STAGE,
                "neighbours: %.1f %% of the similarity of the true ones, %.1f %% of them found "
                "(%lld rows compared with exact search)",
                100 * p->recall.similarity, 100 * p->recall.found, (long long)p->recall.sample);
    if (p->orphans > 0)
        ikt_log(ctx, IKT_LOG_WARN,
                "%lld rows share no cell with any other (isolation.psi = %lld may be too large); "
                "they are tied to their nearest rows by input distance",
                (long long)p->orphans, (long long)p->psi);
}

/* data -> P -> initial positions -> embedding */
static ikt_status embed(ikt_context *ctx, ikt_source *source, ikt_dataset *data, ikt_run *run) {
    ikt_probabilities p;
    memset(&p, 0, sizeof p);
    note_input(source, run);
    run->map = ikt_row_map_make(ikt_dataset_rows(data), ikt_size(ctx), ikt_rank(ctx));
    ikt_log(ctx, IKT_LOG_STAGE, "%s: %lld rows x %lld, %s; %d ranks x %d threads", run->input_name,
            (long long)run->map.n, (long long)run->d, run->type, ikt_size(ctx), ikt_threads(ctx));
    ikt_status st = ikt_layout_resolve(ctx, &run->settings.layout, run->map.n);
    if (st == IKT_OK) st = check_memory(ctx, source, run);
    if (st == IKT_OK) st = read_labels(ctx, source, run);
    if (st == IKT_OK)
        st = ikt_probabilities_compute(ctx, &run->settings, data, &run->map, run->labels, &p);
    if (st == IKT_OK) note_probabilities(ctx, &p, run);
    if (st == IKT_OK) st = start(ctx, data, run);
    if (st == IKT_OK) st = place(ctx, &p, run);
    ikt_probabilities_destroy(&p);
    return st;
}

ikt_status ikt_pipeline_run(ikt_context *ctx, const ikt_settings *settings, ikt_run *out) {
    ikt_source *source = NULL;
    ikt_dataset *data = NULL;
    memset(out, 0, sizeof *out);
    out->settings = *settings;
    out->start_time = (double)time(NULL);
    ikt_status st = check_outputs(ctx, &settings->output);
    if (st == IKT_OK) st = ikt_pipeline_open(ctx, settings, &source, &data);
    if (st == IKT_OK) st = embed(ctx, source, data, out);
    if (st == IKT_OK)
        out->hash = ikt_row_hash(ctx, out->y, out->map.first, out->map.count, 2 * sizeof *out->y);
    ikt_pipeline_close(&source, &data);
    if (st != IKT_OK) ikt_run_destroy(out);
    return st;
}

void ikt_run_destroy(ikt_run *run) {
    ikt_free(&run->y);
    ikt_free(&run->labels);
    ikt_free(&run->marked);
    ikt_trace_destroy(&run->trace);
}
