/* Pictures and rank curves of the best embeddings of a study. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/memory.h"
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
    ikt_rank_curve curve = {0};
    IKT_TRY(ikt_study_run_settings(ctx, plan, run, run->table, &settings));
    ikt_status st = ikt_pipeline_open(ctx, &settings, NULL, &source, &data);
    if (st == IKT_OK) {
        const ikt_measured what = {
            .rows = *embedding->rows, .y = embedding->y, .q = embedding->q, .data = data};
        st = ikt_measure_rank_curve(ctx, &how, &what, &curve);
    }
    const double ratio = pow((double)curve.count, 1.0 / (IKT_STUDY_CURVE_POINTS - 1));
    double next = 1;
    for (int64_t k = 1; k <= curve.count && to->points < IKT_STUDY_CURVE_POINTS; k++) {
        if ((double)k < next && k < curve.count) continue;
        to->k[to->points] = (double)k;
        to->r[to->points++] = curve.rescaled[k - 1];
        while (next <= (double)k)
            next *= ratio > 1 ? ratio : 2;
    }
    ikt_rank_curve_destroy(&curve);
    ikt_pipeline_close(&source, &data);
    return st;
}

/* COLLECTIVE. Draws the embedding of a run, and measures its curve. */
static ikt_status show(ikt_context *ctx, const ikt_study_plan *plan, const char *embedding,
                       const char *folder, ikt_study_picture *picture) {
    const ikt_study_run *run = &plan->run[picture->run];
    char title[IKT_STRING_MAX], path[IKT_STRING_MAX], *class_names = NULL;
    ikt_result_file *file = NULL;
    float *y = NULL;
    int64_t *labels = NULL, *marked = NULL, n_marked = 0;
    bool has_labels = false;
    IKT_TRY(ikt_result_open(ctx, embedding, &file));
    const ikt_rows rows = ikt_rows_make(ikt_result_rows(file), ikt_size(ctx), ikt_rank(ctx));
    const int q = ikt_result_dimensions(file);
    ikt_status st = ikt_alloc(ctx, &y, q * rows.count, sizeof *y, "picture");
    if (st == IKT_OK) st = ikt_alloc(ctx, &labels, rows.count, sizeof *labels, "picture");
    IKT_TRY_GOTO(st, done, ikt_agree(ctx, st));
    IKT_TRY_GOTO(st, done, ikt_result_read_embedding(file, rows.first, rows.count, y));
    IKT_TRY_GOTO(
        st, done,
        ikt_result_read_labels(file, "labels", rows.first, rows.count, labels, &has_labels));
    if (has_labels) IKT_TRY_GOTO(st, done, ikt_result_read_text(file, "label_names", &class_names));
    IKT_TRY_GOTO(st, done, ikt_result_read_marked(file, &marked, &n_marked));
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
                                    .class_names = class_names,
                                    .marked = marked,
                                    .n_marked = n_marked};
    IKT_TRY_GOTO(st, done, ikt_plot_embedding(ctx, &settings, &points, path));
    if (plan->study->has_rank_curves && plan->table[run->table].n >= 3)
        st = measure_curve(ctx, plan, &points, picture);
done:
    ikt_free(&y);
    ikt_free(&labels);
    ikt_free(&class_names);
    ikt_free(&marked);
    ikt_result_close(&file);
    return st;
}

ikt_status ikt_study_pictures_draw(ikt_context *ctx, const ikt_study_plan *plan,
                                   const ikt_study_result *result, const char *folder,
                                   ikt_study_picture **picture, int64_t *count) {
    const ikt_study *study = plan->study;
    const int64_t methods = study->n_methods;
    *picture = NULL;
    *count = 0;
    IKT_TRY(ikt_agree(ctx,
                      ikt_alloc(ctx, picture, study->n_data * methods, sizeof **picture, "study")));
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
