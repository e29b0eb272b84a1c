/* The report of a study. Read ikt_study_report first. */
#include "study/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "iktsne/version.h"
#include "study/pictures.h"
#include "study/report_parts.h"

static void introduce(ikt_report *r) {
    const ikt_study *study = r->study;
    int64_t good = 0, failed = 0;
    double seconds = 0;
    char text[2 * IKT_STRING_MAX];
    for (int64_t i = 0; i < r->plan->n_runs; i++) {
        good += r->result[i].is_good;
        failed += r->result[i].is_done && !r->result[i].is_good;
        if (isfinite(r->result[i].number[IKT_RUN_SECONDS]))
            seconds += r->result[i].number[IKT_RUN_SECONDS];
    }
    if (study->about[0]) ikt_page_paragraph(r->page, study->about);
    snprintf(text, sizeof text,
             "%" PRId64 " runs: %" PRId64 " succeeded, %" PRId64 " failed, %" PRId64
             " are not made; %.0f seconds of embedding in all. Made by iktsne " IKT_VERSION
             " from %s.",
             r->plan->n_runs, good, failed, r->plan->n_runs - good - failed, seconds,
             strrchr(study->path, '/') ? strrchr(study->path, '/') + 1 : study->path);
    ikt_page_paragraph(r->page, text);
}

static const ikt_study_picture *find(const ikt_study_picture *picture, int64_t count, int64_t run) {
    for (int64_t i = 0; i < count; i++)
        if (picture[i].run == run) return &picture[i];
    return NULL;
}

static void describe(const ikt_report *r, int64_t run, char *text, size_t size) {
    char values[IKT_REPORT_CELL], number[IKT_REPORT_CELL];
    const ikt_study_run *of = &r->plan->run[run];
    ikt_report_values(r->study, of, values, sizeof values);
    snprintf(text, size, "%s%s%s, seed %" PRId64, r->study->method[of->method].name,
             values[0] ? ", " : "", values, of->seed);
    for (int64_t m = 0; m < r->study->n_measures && strlen(text) < size - IKT_REPORT_CELL; m++) {
        if (!isfinite(r->result[run].number[ikt_study_number(r->study, m)])) continue;
        ikt_report_number(r->result[run].number[ikt_study_number(r->study, m)], number);
        snprintf(text + strlen(text), size - strlen(text), "; %s %s", r->study->measure[m], number);
    }
}

/* The best embedding of each method side by side. */
static void show(ikt_report *r, const ikt_study_picture *picture, int64_t count) {
    int64_t *run = NULL;
    if (count == 0) return;
    ikt_status st = ikt_alloc(r->ctx, &run, r->study->n_methods, sizeof *run, "study");
    if (st != IKT_OK) r->page->status = st;
    ikt_page_heading(r->page, 2, "The best embeddings");
    for (int64_t data = 0; data < r->study->n_data && st == IKT_OK; data++) {
        char text[IKT_STRING_MAX];
        const int64_t m = ikt_study_shown(r->study, r->plan, r->result, data, run);
        if (m < 0) continue;
        snprintf(text, sizeof text, "%s: best by %s", r->study->data[data].name,
                 r->study->measure[m]);
        ikt_page_heading(r->page, 3, text);
        ikt_page_side_by_side(r->page);
        for (int64_t i = 0; i < r->study->n_methods; i++) {
            const ikt_study_picture *of = run[i] < 0 ? NULL : find(picture, count, run[i]);
            if (!of) continue;
            describe(r, run[i], text, sizeof text);
            ikt_page_picture(r->page, of->name, text);
        }
        ikt_page_side_by_side_end(r->page);
    }
    ikt_free(&run);
}

/* R(k) of the embeddings shown, a chart for each data set. */
static void show_rank_curves(ikt_report *r, const ikt_study_rank_curve *curve, int64_t count) {
    ikt_chart_line *line = NULL;
    if (count == 0) return;
    r->page->status = ikt_alloc(r->ctx, &line, count, sizeof *line, "study");
    ikt_page_heading(r->page, 2, "Neighbourhoods of every size: R(k) of the best embeddings");
    ikt_page_side_by_side(r->page);
    for (int64_t data = 0; data < r->study->n_data && r->page->status == IKT_OK; data++) {
        ikt_chart chart = {.title = r->study->data[data].name,
                           .x_label = "k",
                           .y_label = "R(k)",
                           .log_x = true,
                           .line = line,
                           .width = 460,
                           .height = 300};
        for (int64_t c = 0; c < count; c++) {
            const ikt_study_run *run = &r->plan->run[curve[c].run];
            if (run->data != data) continue;
            line[chart.lines++] = (ikt_chart_line){.name = r->study->method[run->method].name,
                                                   .x = curve[c].k,
                                                   .y = curve[c].r,
                                                   .count = curve[c].count,
                                                   .is_smooth = true};
        }
        if (chart.lines > 0) ikt_page_chart(r->page, &chart);
    }
    ikt_page_side_by_side_end(r->page);
    ikt_free(&line);
}

/* What ranks made together before one of them writes. */
typedef struct {
    ikt_study_picture *picture;  /* [pictures] */
    ikt_study_rank_curve *curve; /* [curves] */
    int64_t pictures, curves;
} material;

/* LOCAL, rank 0. */
static ikt_status write_report(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                               const ikt_study_result *result, const char *folder,
                               const material *made) {
    ikt_study_summary summary;
    IKT_TRY(ikt_study_summary_make(ctx, study, plan, result, &summary));
    ikt_page page = ikt_page_begin(ctx, folder, study->title);
    ikt_report r = {ctx, study, plan, result, &summary, &page};
    introduce(&r);
    ikt_page_heading(&page, 2, "Results");
    ikt_report_wins(&r);
    ikt_report_best(&r);
    ikt_report_entries(&r);
    ikt_report_curves(&r);
    show(&r, made->picture, made->pictures);
    show_rank_curves(&r, made->curve, made->curves);
    ikt_report_failures(&r);
    ikt_status st = ikt_page_end(&page);
    ikt_study_summary_destroy(&summary);
    return st;
}

ikt_status ikt_study_report(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                            const char *output, char path[IKT_STRING_MAX]) {
    char folder[IKT_STRING_MAX];
    ikt_study_result *result = NULL;
    material made = {NULL, NULL, 0, 0};
    snprintf(folder, sizeof folder, "%.900s/report", output);
    snprintf(path, IKT_STRING_MAX, "%.1000s/report.html", folder);
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &result, plan->n_runs, sizeof *result, "study"));
    if (st == IKT_OK) st = ikt_study_make_folder(ctx, folder);
    if (st == IKT_OK) st = ikt_study_results_load(ctx, study, plan, output, result);
    if (st == IKT_OK)
        st = ikt_study_pictures_draw(ctx, study, plan, result, output, folder, &made.picture,
                                     &made.pictures);
    if (st == IKT_OK && study->has_rank_curves)
        st =
            ikt_study_rank_curves_make(ctx, study, plan, result, output, &made.curve, &made.curves);
    if (st == IKT_OK) {
        ikt_status root = IKT_OK;
        if (ikt_rank(ctx) == 0) root = write_report(ctx, study, plan, result, folder, &made);
        st = ikt_agree(ctx, root);
    }
    ikt_free(&made.picture);
    ikt_free(&made.curve);
    ikt_free(&result);
    return st;
}
