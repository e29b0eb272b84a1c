/* Pictures of the best embeddings of a study. */
#include "study/pictures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "evaluate/measure.h"
#include "io/results/result.h"
#include "pipeline/pipeline.h"
#include "plot/plot.h"

enum { WIDTH = 760 };

int64_t ikt_study_shown(const ikt_study *study, const ikt_study_plan *plan,
                        const ikt_study_result *result, int64_t data, int64_t *run) {
    for (int64_t m = 0; m < study->n_measures; m++) {
        bool any = false;
        for (int64_t i = 0; i < study->n_methods; i++) {
            run[i] = ikt_study_best_run(study, plan, result, data, i, m);
            any |= run[i] >= 0;
        }
        if (any) return m;
    }
    return -1;
}

typedef struct {
    ikt_rows rows;
    int q;
    float *y;
    int64_t *labels, *marked, n_marked;
    char *class_names;
} subject;

static ikt_status read_subject(ikt_context *ctx, ikt_result_file *file, subject *s) {
    bool present = false;
    s->rows = ikt_rows_make(ikt_result_rows(file), ikt_size(ctx), ikt_rank(ctx));
    s->q = ikt_result_dimensions(file);
    ikt_status st = ikt_alloc(ctx, &s->y, s->q * s->rows.count, sizeof *s->y, "picture");
    if (st == IKT_OK) st = ikt_alloc(ctx, &s->labels, s->rows.count, sizeof *s->labels, "picture");
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_result_read_embedding(file, s->rows.first, s->rows.count, s->y));
    IKT_TRY(
        ikt_result_read_labels(file, "labels", s->rows.first, s->rows.count, s->labels, &present));
    if (!present) ikt_free(&s->labels);
    if (present) IKT_TRY(ikt_result_read_text(file, "label_names", &s->class_names));
    return ikt_result_read_marked(file, &s->marked, &s->n_marked);
}

static ikt_status draw(ikt_context *ctx, const char *embedding, const char *title,
                       const char *path) {
    ikt_result_file *file = NULL;
    subject s = {.y = NULL};
    IKT_TRY(ikt_result_open(ctx, embedding, &file));
    ikt_status st = read_subject(ctx, file, &s);
    if (st == IKT_OK) {
        ikt_plot_settings settings = ikt_plot_defaults();
        settings.width = WIDTH;
        settings.overwrite = true;
        settings.title = title;
        const ikt_plot_points points = {.rows = &s.rows,
                                        .y = s.y,
                                        .q = s.q,
                                        .labels = s.labels,
                                        .class_names = s.class_names,
                                        .marked = s.marked,
                                        .n_marked = s.n_marked};
        st = ikt_plot_embedding(ctx, &settings, &points, path);
    }
    ikt_free(&s.y);
    ikt_free(&s.labels);
    ikt_free(&s.class_names);
    ikt_free(&s.marked);
    ikt_result_close(&file);
    return st;
}

static ikt_status draw_run(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                           const char *output, const char *folder, int64_t run,
                           ikt_study_picture *picture, int64_t *count) {
    char embedding[IKT_STRING_MAX], path[IKT_STRING_MAX], title[IKT_STRING_MAX];
    const ikt_study_run *of = &plan->run[run];
    ikt_study_embedding_file(output, of, embedding);
    if (!ikt_study_embedding_is_there(ctx, embedding)) return IKT_OK;
    ikt_study_run_name(study, of, title, sizeof title);
    picture[*count].run = run;
    snprintf(picture[*count].name, sizeof picture->name, "picture-%" PRId64 ".png", *count + 1);
    snprintf(path, sizeof path, "%.800s/%s", folder, picture[*count].name);
    ++*count;
    return draw(ctx, embedding, title, path);
}

ikt_status ikt_study_pictures_draw(ikt_context *ctx, const ikt_study *study,
                                   const ikt_study_plan *plan, const ikt_study_result *result,
                                   const char *output, const char *folder,
                                   ikt_study_picture **picture, int64_t *count) {
    int64_t *run = NULL;
    *picture = NULL;
    *count = 0;
    ikt_status st = ikt_alloc(ctx, &run, study->n_methods, sizeof *run, "study");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, picture, study->n_data * study->n_methods, sizeof **picture, "study");
    st = ikt_agree(ctx, st);
    for (int64_t i = 0; i < study->n_data && st == IKT_OK; i++) {
        if (ikt_study_shown(study, plan, result, i, run) < 0) continue;
        for (int64_t m = 0; m < study->n_methods && st == IKT_OK; m++)
            if (run[m] >= 0)
                st = draw_run(ctx, study, plan, output, folder, run[m], *picture, count);
    }
    ikt_free(&run);
    if (st != IKT_OK) ikt_free(picture);
    return st;
}

/* --- rank curves ------------------------------------------------------------------------------ */

static void thin(const ikt_rank_curve *from, ikt_study_rank_curve *to) {
    const double ratio = pow((double)from->count, 1.0 / (IKT_STUDY_CURVE_POINTS - 1));
    double next = 1;
    for (int64_t k = 1; k <= from->count && to->count < IKT_STUDY_CURVE_POINTS; k++) {
        if ((double)k < next && k < from->count) continue;
        to->k[to->count] = (double)k;
        to->r[to->count++] = from->rescaled[k - 1];
        while (next <= (double)k)
            next *= ratio > 1 ? ratio : 2;
    }
}

static ikt_status measure(ikt_context *ctx, const ikt_settings *settings, const char *embedding,
                          ikt_study_rank_curve *out) {
    ikt_source *source = NULL;
    ikt_dataset *data = NULL;
    ikt_result_file *file = NULL;
    ikt_rank_curve curve = {0};
    float *y = NULL;
    IKT_TRY(ikt_result_open(ctx, embedding, &file));
    const ikt_rows rows = ikt_rows_make(ikt_result_rows(file), ikt_size(ctx), ikt_rank(ctx));
    const int q = ikt_result_dimensions(file);
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &y, q * rows.count, sizeof *y, "measures"));
    if (st == IKT_OK) st = ikt_result_read_embedding(file, rows.first, rows.count, y);
    ikt_result_close(&file);
    if (st == IKT_OK) st = ikt_pipeline_open(ctx, settings, NULL, &source, &data);
    if (st == IKT_OK) {
        const ikt_measure_settings how = ikt_measure_defaults();
        const ikt_measured what = {.rows = rows, .y = y, .q = q, .data = data};
        st = ikt_measure_rank_curve(ctx, &how, &what, &curve);
    }
    if (st == IKT_OK) thin(&curve, out);
    ikt_rank_curve_destroy(&curve);
    ikt_pipeline_close(&source, &data);
    ikt_free(&y);
    return st;
}

static ikt_status add(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                      const char *output, int64_t run, ikt_study_rank_curve *curve,
                      int64_t *count) {
    char embedding[IKT_STRING_MAX];
    ikt_settings settings;
    const ikt_study_run *of = &plan->run[run];
    ikt_study_embedding_file(output, of, embedding);
    if (!ikt_study_embedding_is_there(ctx, embedding) || plan->table[of->table].n < 3)
        return IKT_OK;
    IKT_TRY(ikt_study_run_settings(ctx, study, plan, of, of->table, &settings));
    curve[*count] = (ikt_study_rank_curve){.run = run};
    return measure(ctx, &settings, embedding, &curve[(*count)++]);
}

ikt_status ikt_study_rank_curves_make(ikt_context *ctx, const ikt_study *study,
                                      const ikt_study_plan *plan, const ikt_study_result *result,
                                      const char *output, ikt_study_rank_curve **curve,
                                      int64_t *count) {
    int64_t *run = NULL;
    *curve = NULL;
    *count = 0;
    ikt_status st = ikt_alloc(ctx, &run, study->n_methods, sizeof *run, "study");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, curve, study->n_data * study->n_methods, sizeof **curve, "study");
    st = ikt_agree(ctx, st);
    for (int64_t i = 0; i < study->n_data && st == IKT_OK; i++) {
        if (ikt_study_shown(study, plan, result, i, run) < 0) continue;
        for (int64_t m = 0; m < study->n_methods && st == IKT_OK; m++)
            if (run[m] >= 0) st = add(ctx, study, plan, output, run[m], *curve, count);
    }
    ikt_free(&run);
    if (st != IKT_OK) ikt_free(curve);
    return st;
}
