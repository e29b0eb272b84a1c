/* Pictures and rank curves of the best embeddings of a study. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "evaluate/measure.h"
#include "io/results/result.h"
#include "pipeline/pipeline.h"
#include "plot/plot.h"
#include "study/report_parts.h"

enum { WIDTH = 760 };

/* COLLECTIVE. Measures R(k) of an embedding and takes some points of it. */
static ikt_status measure_curve(ikt_context *ctx, const ikt_study_plan *plan,
                                const ikt_plot_points *embedding, ikt_study_picture *to) {
    const ikt_study_run *run = &plan->run[to->run];
    const ikt_measure_settings how = ikt_measure_defaults();
    ikt_settings settings;
    ikt_source *source = NULL;
    ikt_dataset *data = NULL;
    ikt_rank_curve curve IKT_AT_END(ikt_rank_curve_destroy) = {0};
    IKT_TRY(ikt_study_run_settings(ctx, plan, run, run->table, &settings));
    ikt_status st = ikt_pipeline_open(ctx, &settings, NULL, &source, &data);
    const ikt_measured what = {
        .rows = *embedding->rows, .y = embedding->y, .q = embedding->q, .data = data};
    if (st == IKT_OK) st = ikt_measure_rank_curve(ctx, &how, &what, &curve);
    ikt_pipeline_close(&source, &data);
    IKT_TRY(st);
    const double ratio = pow((double)curve.count, 1.0 / (IKT_STUDY_CURVE_POINTS - 1));
    double next = 1;
    for (int64_t k = 1; k <= curve.count && to->points < IKT_STUDY_CURVE_POINTS; k++) {
        if ((double)k < next && k < curve.count) continue;
        to->k[to->points] = (double)k;
        to->r[to->points++] = curve.rescaled[k - 1];
        while (next <= (double)k)
            next *= ratio > 1 ? ratio : 2;
    }
    return IKT_OK;
}

/* COLLECTIVE. Draws the embedding of a run, and measures its curve. */
static ikt_status show(ikt_context *ctx, const ikt_study_plan *plan, const char *embedding,
                       const char *folder, ikt_study_picture *picture) {
    const ikt_study_run *run = &plan->run[picture->run];
    char title[IKT_STRING_MAX], path[IKT_STRING_MAX];
    ikt_result_file *file IKT_AT_END(ikt_result_close) = NULL;
    ikt_companions beside IKT_AT_END(ikt_companions_free) = {.labels = NULL};
    bool has_labels = false;
    IKT_TRY(ikt_result_open(ctx, embedding, &file));
    const ikt_rows rows = ikt_rows_make(ikt_result_rows(file), ikt_size(ctx), ikt_rank(ctx));
    const int q = ikt_result_dimensions(file);
    IKT_ARRAYS(held, ctx, "picture");
    float *y = ikt_claim(&held, q * rows.count, sizeof *y);
    int64_t *labels = ikt_claim(&held, rows.count, sizeof *labels);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_result_read_embedding(file, rows.first, rows.count, y));
    IKT_TRY(ikt_result_read_labels(file, "labels", rows.first, rows.count, labels, &has_labels));
    if (has_labels) IKT_TRY(ikt_result_read_text(file, "label_names", &beside.label_names));
    IKT_TRY(ikt_result_read_marked(file, &beside.marked, &beside.n_marked));
    ikt_study_run_name(plan, run, title, sizeof title);
    snprintf(path, sizeof path, "%.800s/%s", folder, picture->name);
    ikt_plot_settings settings = ikt_plot_defaults();
    settings.width = WIDTH;
    settings.overwrite = true;
    settings.title = title;
    const ikt_plot_points points = {.rows = &rows,
                                    .y = y,
                                    .q = q,
                                    .labels = has_labels ? labels : NULL,
                                    .class_names = beside.label_names,
                                    .marked = beside.marked,
                                    .n_marked = beside.n_marked};
    IKT_TRY(ikt_plot_embedding(ctx, &settings, &points, path));
    const bool has_curve = plan->study->has_rank_curves && plan->table[run->table].n >= 3;
    return has_curve ? measure_curve(ctx, plan, &points, picture) : IKT_OK;
}

ikt_status ikt_study_pictures_draw(ikt_context *ctx, const ikt_study_plan *plan,
                                   const ikt_study_result *result, const char *folder,
                                   ikt_study_picture **picture, int64_t *count) {
    const ikt_study *study = plan->study;
    const int64_t methods = study->n_methods;
    *picture = NULL;
    *count = 0;
    IKT_TRY(ikt_alloc_all(ctx, picture, study->n_data * methods, sizeof **picture, "study"));
    ikt_status st = IKT_OK;
    for (int64_t i = 0; i < study->n_data; i++) {
        int64_t m = -1;
        bool any = false;
        while (!any && ++m < study->n_measures)
            for (int64_t k = 0; k < methods; k++)
                any |= ikt_study_best_run(plan, result, i, k, m) >= 0;
        for (int64_t k = 0; k < methods && any && st == IKT_OK; k++) {
            const int64_t run = ikt_study_best_run(plan, result, i, k, m);
            char embedding[IKT_STRING_MAX];
            int64_t is_there = 0;
            if (run < 0) continue;
            ikt_study_embedding_file(plan, result[run].id, embedding);
            if (ikt_rank(ctx) == 0) is_there = access(embedding, R_OK) == 0;
            if (ikt_max_one(ctx, is_there) == 0) continue;
            ikt_study_picture *next = &(*picture)[(*count)++];
            *next = (ikt_study_picture){.run = run, .measure = m};
            snprintf(next->name, sizeof next->name, "%016" PRIx64 ".png", result[run].id);
            st = show(ctx, plan, embedding, folder, next);
        }
    }
    if (st != IKT_OK) ikt_free(picture);
    return st;
}
