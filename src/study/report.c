/* The report of a study. Read ikt_study_report first. */
#include "study/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "iktsne/version.h"
#include "study/report_parts.h"

enum { CHART_WIDTH = 460, CHART_HEIGHT = 300 };

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

/* --- curves ----------------------------------------------------------------------------------- */

/* The lines of a chart, and what they point into. */
typedef struct {
    ikt_chart_line *line; /* [n_methods] */
    double *value[4];     /* [cells] each: x, y, low, high */
    int64_t lines, used;
    bool is_ranged, is_wide; /* x spans more than thirtyfold */
    double least, most;      /* of y */
} curves;

/* Adds the entries of a method, of one data set or of all, as a line; by ascending x. */
static void add_line(ikt_report *r, int64_t data, int64_t method, int64_t m, curves *c) {
    double *at[4];
    int64_t count = 0;
    for (int v = 0; v < 4; v++)
        at[v] = c->value[v] + c->used;
    for (int64_t i = 0; i < r->summary->count; i++) {
        const ikt_study_cell *cell = &r->summary->cell[i];
        const double x = r->study->over_rows ? cell->rows : cell->x;
        if (cell->method != method || (!r->study->over_rows && cell->data != data)) continue;
        if (!isfinite(x) || !isfinite(cell->median[m])) continue;
        const double next[4] = {x, cell->median[m], cell->low[m], cell->high[m]};
        int64_t to = count++;
        for (; to > 0 && at[0][to - 1] > x; to--)
            for (int v = 0; v < 4; v++)
                at[v][to] = at[v][to - 1];
        for (int v = 0; v < 4; v++)
            at[v][to] = next[v];
        c->least = fmin(c->least, cell->low[m]);
        c->most = fmax(c->most, cell->high[m]);
        c->is_ranged |= cell->good > 1;
    }
    if (count == 0) return;
    c->is_wide |= at[0][0] > 0 && at[0][count - 1] > 30 * at[0][0];
    c->line[c->lines++] = (ikt_chart_line){.name = r->study->method[method].name,
                                           .x = at[0],
                                           .y = at[1],
                                           .low = at[2],
                                           .high = at[3],
                                           .count = count};
    c->used += count;
}

/* "psi, perplexity": the first axes of the methods, each once. */
static void name_axis(const ikt_study *study, char *text, size_t size) {
    text[0] = '\0';
    for (int64_t m = 0; m < study->n_methods; m++) {
        if (study->method[m].axes == 0) continue;
        const char *name = study->method[m].axis[0].name, *dot = strchr(name, '.');
        if (dot) name = dot + 1;
        if (strstr(text, name)) continue;
        snprintf(text + strlen(text), size - strlen(text), "%s%s", text[0] ? ", " : "", name);
    }
}

static void draw_curves(ikt_report *r, int64_t data, int64_t m, curves *c) {
    char title[IKT_STRING_MAX], axis[IKT_STUDY_NAME * 2] = "rows";
    const ikt_study *study = r->study;
    c->lines = c->used = 0;
    c->is_ranged = c->is_wide = false;
    c->least = INFINITY;
    c->most = -INFINITY;
    for (int64_t i = 0; i < study->n_methods; i++)
        add_line(r, data, i, m, c);
    int64_t points = 0;
    for (int64_t l = 0; l < c->lines; l++)
        points = c->line[l].count > points ? c->line[l].count : points;
    if (points < 2) return;
    for (int64_t l = 0; l < c->lines && !c->is_ranged; l++)
        c->line[l].low = c->line[l].high = NULL;
    if (!study->over_rows) name_axis(study, axis, sizeof axis);
    snprintf(title, sizeof title, "%s%s%s", study->over_rows ? "" : study->data[data].name,
             study->over_rows ? "" : ": ", study->measure[m]);
    const ikt_chart chart = {.title = title,
                             .x_label = axis,
                             .y_label = "", /* the title says it */
                             .log_x = c->is_wide,
                             .log_y = c->least > 0 && c->most > 30 * c->least,
                             .line = c->line,
                             .lines = c->lines,
                             .width = CHART_WIDTH,
                             .height = CHART_HEIGHT};
    ikt_page_chart(r->page, &chart);
}

/* Measures against the values of the first axis, or against the rows. */
static void show_curves(ikt_report *r) {
    const ikt_study *study = r->study;
    const int64_t cells = r->summary->count;
    curves c = {.line = NULL};
    bool has_axis = study->over_rows;
    for (int64_t i = 0; i < cells; i++)
        has_axis |= isfinite(r->summary->cell[i].x);
    if (!has_axis) return;
    ikt_status st = ikt_alloc(r->ctx, &c.line, study->n_methods, sizeof *c.line, "study");
    for (int v = 0; v < 4 && st == IKT_OK; v++)
        st = ikt_alloc(r->ctx, &c.value[v], cells, sizeof *c.value[v], "study");
    r->page->status = st;
    ikt_page_heading(r->page, 2, "Against the %s",
                     study->over_rows ? "number of rows" : "parameter");
    for (int64_t data = 0; data < (study->over_rows ? 1 : study->n_data); data++) {
        ikt_page_side_by_side(r->page);
        for (int64_t m = 0; m < study->n_measures && r->page->status == IKT_OK; m++)
            draw_curves(r, data, m, &c);
        ikt_page_side_by_side_end(r->page);
    }
    ikt_free(&c.line);
    for (int v = 0; v < 4; v++)
        ikt_free(&c.value[v]);
}

/* --- the best embeddings ---------------------------------------------------------------------- */

static void describe(const ikt_report *r, int64_t run, char *text, size_t size) {
    char values[IKT_REPORT_CELL], number[IKT_REPORT_CELL];
    const ikt_study_run *of = &r->plan->run[run];
    ikt_report_values(r->study, of, values, sizeof values);
    snprintf(text, size, "%s%s%s, seed %" PRId64, r->study->method[of->method].name,
             values[0] ? ", " : "", values, of->seed);
    for (int64_t m = 0; m < r->study->n_measures && strlen(text) < size - IKT_REPORT_CELL; m++) {
        const double value = r->result[run].number[ikt_study_number(r->study, m)];
        if (!isfinite(value)) continue;
        ikt_report_number(value, number);
        snprintf(text + strlen(text), size - strlen(text), "; %s %s", r->study->measure[m], number);
    }
}

/* The best embedding of each method side by side. */
static void show_pictures(ikt_report *r, const ikt_study_picture *picture, int64_t count) {
    int64_t data = -1;
    if (count == 0) return;
    ikt_page_heading(r->page, 2, "The best embeddings");
    for (int64_t p = 0; p < count; p++) {
        char text[IKT_STRING_MAX];
        if (r->plan->run[picture[p].run].data != data) {
            if (p > 0) ikt_page_side_by_side_end(r->page);
            data = r->plan->run[picture[p].run].data;
            ikt_page_heading(r->page, 3, "%s: best by %s", r->study->data[data].name,
                             r->study->measure[picture[p].measure]);
            ikt_page_side_by_side(r->page);
        }
        describe(r, picture[p].run, text, sizeof text);
        ikt_page_picture(r->page, picture[p].name, text);
    }
    ikt_page_side_by_side_end(r->page);
}

/* R(k) of the embeddings shown, a chart for each data set. */
static void show_rank_curves(ikt_report *r, const ikt_study_picture *picture, int64_t count) {
    ikt_chart_line *line = NULL;
    int64_t lines = 0;
    for (int64_t p = 0; p < count; p++)
        lines += picture[p].points > 0;
    if (lines == 0 || r->page->status != IKT_OK) return;
    r->page->status = ikt_alloc(r->ctx, &line, lines, sizeof *line, "study");
    ikt_page_heading(r->page, 2, "Neighbourhoods of every size: R(k) of the best embeddings");
    ikt_page_side_by_side(r->page);
    for (int64_t data = 0; data < r->study->n_data && r->page->status == IKT_OK; data++) {
        ikt_chart chart = {.title = r->study->data[data].name,
                           .x_label = "k",
                           .y_label = "R(k)",
                           .log_x = true,
                           .line = line,
                           .width = CHART_WIDTH,
                           .height = CHART_HEIGHT};
        for (int64_t p = 0; p < count; p++) {
            const ikt_study_run *run = &r->plan->run[picture[p].run];
            if (run->data != data || picture[p].points == 0) continue;
            line[chart.lines++] = (ikt_chart_line){.name = r->study->method[run->method].name,
                                                   .x = picture[p].k,
                                                   .y = picture[p].r,
                                                   .count = picture[p].points,
                                                   .is_smooth = true};
        }
        if (chart.lines > 0) ikt_page_chart(r->page, &chart);
    }
    ikt_page_side_by_side_end(r->page);
    ikt_free(&line);
}

/* LOCAL, rank 0. */
static ikt_status write_report(ikt_context *ctx, const ikt_study_plan *plan,
                               const ikt_study_result *result, const char *folder,
                               const ikt_study_picture *picture, int64_t pictures) {
    ikt_study_summary summary;
    IKT_TRY(ikt_study_summary_make(ctx, plan, result, &summary));
    ikt_page page = ikt_page_begin(ctx, folder, plan->study->title);
    ikt_report r = {ctx, plan->study, plan, result, &summary, &page};
    introduce(&r);
    ikt_page_heading(&page, 2, "Results");
    ikt_report_wins(&r);
    ikt_report_best(&r);
    ikt_report_entries(&r);
    show_curves(&r);
    show_pictures(&r, picture, pictures);
    show_rank_curves(&r, picture, pictures);
    ikt_report_failures(&r);
    ikt_status st = ikt_page_end(&page);
    ikt_study_summary_destroy(&summary);
    return st;
}

ikt_status ikt_study_report(ikt_context *ctx, const ikt_study_plan *plan,
                            char path[IKT_STRING_MAX]) {
    char folder[IKT_STRING_MAX];
    ikt_study_result *result = NULL;
    ikt_study_picture *picture = NULL;
    int64_t pictures = 0;
    snprintf(folder, sizeof folder, "%.900s/report", plan->output);
    snprintf(path, IKT_STRING_MAX, "%.1000s/report.html", folder);
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &result, plan->n_runs, sizeof *result, "study"));
    if (st == IKT_OK) st = ikt_study_make_folder(ctx, folder);
    if (st == IKT_OK) st = ikt_study_results_load(ctx, plan, result);
    if (st == IKT_OK) st = ikt_study_pictures_draw(ctx, plan, result, folder, &picture, &pictures);
    if (st == IKT_OK) {
        if (ikt_rank(ctx) == 0) st = write_report(ctx, plan, result, folder, picture, pictures);
        st = ikt_agree(ctx, st);
    }
    ikt_free(&picture);
    ikt_free(&result);
    return st;
}
