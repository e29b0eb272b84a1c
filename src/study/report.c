/* The report of a study. Read ikt_study_report first. */
#include "study/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/encoding.h"
#include "evaluate/measure.h"
#include "iktsne/version.h"
#include "study/report_parts.h"

enum { CHART_WIDTH = 460, CHART_HEIGHT = 300, CELL_TEXT = 96, ENTRIES_MOST = 24 };

/* What every part is written from; all borrowed. A part that has nothing to say writes nothing;
 * failures are the page's. */
typedef struct {
    ikt_context *ctx;
    const ikt_study *study;
    const ikt_study_plan *plan;
    const ikt_study_result *result;
    const ikt_study_summary *summary;
    ikt_page *page;
} report;

/* --- tables ----------------------------------------------------------------------------------- */

/* Four digits; "-" where it is not finite. */
static void print_number(double value, char text[CELL_TEXT]) {
    if (!isfinite(value))
        snprintf(text, CELL_TEXT, "-");
    else if (fabs(value) >= 1000 || value == floor(value))
        snprintf(text, CELL_TEXT, "%.0f", value);
    else
        snprintf(text, CELL_TEXT, "%.4g", value);
}

/* "isolation.psi 57", or "" where the method has no axes. */
static void print_values(const ikt_study *study, const ikt_study_run *run, char *text,
                         size_t size) {
    const ikt_study_method *method = &study->method[run->method];
    text[0] = '\0';
    for (int a = 0; a < method->axes; a++) {
        const char *dot = strchr(method->axis[a].name, '.');
        ikt_join(text, size, "", "%s%s %s", a > 0 ? ", " : "", dot ? dot + 1 : method->axis[a].name,
                 run->value[a]);
    }
}

static double published(const ikt_study *study, int64_t data, int64_t method, int64_t m) {
    const double *values = study->data[data].published;
    return values ? values[method * study->n_measures + m] : NAN;
}

static bool has_published(const ikt_study *study, int64_t method, int64_t m) {
    for (int64_t i = 0; i < study->n_data; i++)
        if (isfinite(published(study, i, method, m))) return true;
    return false;
}

static int64_t count_entries(const report *r, int64_t data) {
    int64_t count = 0;
    for (int64_t c = 0; c < r->summary->count; c++)
        count += r->summary->cell[c].data == data;
    return count;
}

static void best_table(report *r, int64_t m) {
    const ikt_study *study = r->study;
    char text[CELL_TEXT];
    ikt_page_heading(r->page, 3, "%s: the best of each method (%s is better)", study->measure[m],
                     ikt_measure_way(study->measure[m]) > 0 ? "larger" : "smaller");
    ikt_page_table(r->page, 1);
    ikt_page_row(r->page);
    ikt_page_cell(r->page, "data set");
    ikt_page_cell(r->page, "rows");
    for (int64_t i = 0; i < study->n_methods; i++) {
        if (has_published(study, i, m))
            ikt_page_cell(r->page, "%s, published", study->method[i].name);
        ikt_page_cell(r->page, "%s", study->method[i].name);
    }
    for (int64_t data = 0; data < study->n_data; data++) {
        if (count_entries(r, data) == 0) continue;
        ikt_page_row(r->page);
        ikt_page_cell(r->page, "%s", study->data[data].name);
        print_number((double)r->plan->table[data * study->n_seeds].n, text);
        ikt_page_cell(r->page, "%s", text);
        for (int64_t i = 0; i < study->n_methods; i++) {
            print_number(published(study, data, i, m), text);
            if (has_published(study, i, m)) ikt_page_cell(r->page, "%s", text);
            const ikt_study_cell *best = ikt_study_summary_best(study, r->summary, data, i, m);
            char values[CELL_TEXT] = "";
            print_number(best ? best->median[m] : NAN, text);
            if (best) print_values(study, best->first, values, sizeof values);
            /* "0.4312 (psi 57)" */
            ikt_page_cell(r->page, values[0] ? "%s (%s)" : "%s", text, values);
        }
    }
    ikt_page_table_end(r->page);
}

/* For each measure with a better way: the best of each method, beside what is published. */
static void show_best(report *r) {
    for (int64_t m = 0; m < r->study->n_measures; m++)
        if (ikt_measure_way(r->study->measure[m]) != 0) best_table(r, m);
}

/* On how many data sets method `i` is at least as good as the first, of those where both have a
 * value: as measured here, or as published. */
static void add_share(const report *r, int64_t i, int64_t m, bool as_published) {
    const ikt_study *study = r->study;
    const int way = ikt_measure_way(study->measure[m]);
    int64_t wins = 0, of = 0;
    for (int64_t data = 0; data < study->n_data; data++) {
        double first = published(study, data, 0, m), other = published(study, data, i, m);
        const ikt_study_cell *a = ikt_study_summary_best(study, r->summary, data, 0, m),
                             *b = ikt_study_summary_best(study, r->summary, data, i, m);
        if (!a || !b) continue; /* what is published counts where there is something to compare */
        if (!as_published) first = a->median[m], other = b->median[m];
        if (!isfinite(first) || !isfinite(other)) continue;
        of++;
        wins += way * (other - first) >= 0;
    }
    ikt_page_cell(r->page, of > 0 ? "%lld of %lld" : "-", (long long)wins, (long long)of);
}

/* How often each method is at least as good as the first one. */
static void show_wins(report *r) {
    const ikt_study *study = r->study;
    if (study->n_methods < 2) return;
    ikt_page_heading(r->page, 3, "Data sets on which a method is at least as good as %s",
                     study->method[0].name);
    ikt_page_table(r->page, 2);
    ikt_page_row(r->page);
    ikt_page_cell(r->page, "method");
    ikt_page_cell(r->page, "measure");
    ikt_page_cell(r->page, "here");
    ikt_page_cell(r->page, "published");
    for (int64_t i = 1; i < study->n_methods; i++)
        for (int64_t m = 0; m < study->n_measures; m++) {
            if (ikt_measure_way(study->measure[m]) == 0) continue;
            ikt_page_row(r->page);
            ikt_page_cell(r->page, "%s", study->method[i].name);
            ikt_page_cell(r->page, "%s", study->measure[m]);
            add_share(r, i, m, false);
            add_share(r, i, m, true);
        }
    ikt_page_table_end(r->page);
}

/* "0.43 (0.41 .. 0.44)". Published values of measures that have a better way stand in tables of
 * their own. */
static void add_median(const report *r, const ikt_study_cell *cell, int64_t m) {
    const ikt_study *study = r->study;
    char middle[CELL_TEXT], low[CELL_TEXT], high[CELL_TEXT], text[CELL_TEXT];
    const double value = published(study, cell->data, cell->method, m);
    print_number(cell->median[m], middle);
    print_number(cell->low[m], low);
    print_number(cell->high[m], high);
    const bool has_range = cell->good > 1 && isfinite(cell->median[m]);
    snprintf(text, sizeof text, has_range ? "%.20s (%.20s .. %.20s)" : "%.20s", middle, low, high);
    if (ikt_measure_way(study->measure[m]) == 0 && isfinite(value)) {
        print_number(value, middle);
        ikt_join(text, sizeof text, "", "; published %.20s", middle);
    }
    ikt_page_cell(r->page, "%s", text);
}

/* The entries of a data set, or those of all data sets where `data` is -1 and nothing varies. */
static void entry_table(report *r, int64_t data) {
    const ikt_study *study = r->study;
    const bool names_data = data < 0;
    char text[CELL_TEXT];
    ikt_page_table(r->page, 2);
    ikt_page_row(r->page);
    if (names_data) ikt_page_cell(r->page, "data set");
    ikt_page_cell(r->page, "method");
    if (!names_data) ikt_page_cell(r->page, "values");
    ikt_page_cell(r->page, "runs");
    for (int64_t m = 0; m < study->n_measures; m++)
        ikt_page_cell(r->page, "%s", study->measure[m]);
    for (int64_t c = 0; c < r->summary->count; c++) {
        const ikt_study_cell *cell = &r->summary->cell[c];
        if (!names_data && cell->data != data) continue;
        ikt_page_row(r->page);
        if (names_data) ikt_page_cell(r->page, "%s", study->data[cell->data].name);
        ikt_page_cell(r->page, "%s", study->method[cell->method].name);
        print_values(study, cell->first, text, sizeof text);
        if (!names_data) ikt_page_cell(r->page, "%s", text);
        ikt_page_cell(r->page, "%lld", (long long)cell->good);
        for (int64_t m = 0; m < study->n_measures; m++)
            add_median(r, cell, m);
    }
    ikt_page_table_end(r->page);
}

/* Every entry of a data set that has few. */
static void show_entries(report *r) {
    bool any = false, varies = false;
    for (int64_t m = 0; m < r->study->n_methods; m++)
        varies |= r->study->method[m].axes > 0;
    for (int64_t data = 0; data < r->study->n_data; data++) {
        const int64_t count = count_entries(r, data);
        if (count == 0 || count > ENTRIES_MOST) continue;
        if (!any) ikt_page_heading(r->page, 2, "All values: median over the seeds (range)");
        any = true;
        if (!varies) { /* all data sets share a table */
            entry_table(r, -1);
            return;
        }
        ikt_page_heading(r->page, 3, "%s", r->study->data[data].name);
        entry_table(r, data);
    }
}

static void show_failures(report *r) {
    bool any = false;
    for (int64_t i = 0; i < r->plan->n_runs; i++) {
        char name[IKT_STRING_MAX];
        if (!r->result[i].is_done || r->result[i].is_good) continue;
        if (!any) {
            ikt_page_heading(r->page, 2, "Runs that failed");
            ikt_page_table(r->page, 2);
            ikt_page_row(r->page);
            ikt_page_cell(r->page, "run");
            ikt_page_cell(r->page, "message");
        }
        any = true;
        ikt_study_run_name(r->plan, &r->plan->run[i], name, sizeof name);
        ikt_page_row(r->page);
        ikt_page_cell(r->page, "%s", name);
        ikt_page_cell(r->page, "%s", r->result[i].message);
    }
    if (any) ikt_page_table_end(r->page);
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
static void add_line(report *r, int64_t data, int64_t method, int64_t m, curves *c) {
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
        ikt_join(text, size, "", "%s%s", text[0] ? ", " : "", name);
    }
}

static void draw_curves(report *r, int64_t data, int64_t m, curves *c) {
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
static void show_curves(report *r) {
    const ikt_study *study = r->study;
    const int64_t cells = r->summary->count, sets = study->over_rows ? 1 : study->n_data;
    bool has_axis = study->over_rows;
    for (int64_t i = 0; i < cells; i++)
        has_axis |= isfinite(r->summary->cell[i].x);
    if (!has_axis) return;
    IKT_ARRAYS(held, r->ctx, "study");
    curves c = {.line = ikt_claim(&held, study->n_methods, sizeof *c.line)};
    for (int v = 0; v < 4; v++)
        c.value[v] = ikt_claim(&held, cells, sizeof *c.value[v]);
    r->page->status = held.status;
    ikt_page_heading(r->page, 2, "Against the %s",
                     study->over_rows ? "number of rows" : "parameter");
    for (int64_t data = 0; data < sets; data++) {
        ikt_page_side_by_side(r->page);
        for (int64_t m = 0; m < study->n_measures && r->page->status == IKT_OK; m++)
            draw_curves(r, data, m, &c);
        ikt_page_side_by_side_end(r->page);
    }
}

/* --- the best embeddings ---------------------------------------------------------------------- */

/* The best embedding of each method side by side. */
static void show_pictures(report *r, const ikt_study_picture *picture, int64_t count) {
    int64_t data = -1;
    if (count == 0) return;
    ikt_page_heading(r->page, 2, "The best embeddings");
    for (int64_t p = 0; p < count; p++) {
        char text[IKT_STRING_MAX], values[CELL_TEXT], number[CELL_TEXT];
        if (r->plan->run[picture[p].run].data != data) {
            if (p > 0) ikt_page_side_by_side_end(r->page);
            data = r->plan->run[picture[p].run].data;
            ikt_page_heading(r->page, 3, "%s: best by %s", r->study->data[data].name,
                             r->study->measure[picture[p].measure]);
            ikt_page_side_by_side(r->page);
        }
        const ikt_study_run *of = &r->plan->run[picture[p].run];
        print_values(r->study, of, values, sizeof values);
        snprintf(text, sizeof text, "%s%s%s, seed %" PRId64, r->study->method[of->method].name,
                 values[0] ? ", " : "", values, of->seed);
        for (int64_t m = 0; m < r->study->n_measures && strlen(text) < sizeof text - CELL_TEXT;
             m++) {
            const double value = r->result[picture[p].run].number[ikt_study_number(r->study, m)];
            if (!isfinite(value)) continue;
            print_number(value, number);
            ikt_join(text, sizeof text, "", "; %s %s", r->study->measure[m], number);
        }
        ikt_page_picture(r->page, picture[p].name, text);
    }
    ikt_page_side_by_side_end(r->page);
}

/* R(k) of the embeddings shown, a chart for each data set. */
static void show_rank_curves(report *r, const ikt_study_picture *picture, int64_t count) {
    int64_t lines = 0;
    for (int64_t p = 0; p < count; p++)
        lines += picture[p].points > 0;
    if (lines == 0 || r->page->status != IKT_OK) return;
    IKT_ARRAYS(held, r->ctx, "study");
    ikt_chart_line *line = ikt_claim(&held, lines, sizeof *line);
    r->page->status = held.status;
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
}

/* Which builds of the program made the results, where they are not all of this one. */
static void show_builds(report *r) {
    const ikt_study_result *result = r->result;
    const int64_t runs = r->plan->n_runs;
    char text[2 * IKT_STRING_MAX] = "";
    bool others = false;
    for (int64_t i = 0; i < runs; i++) {
        int64_t first = 0, count = 0; /* the first run of the same build, and how many there are */
        if (!result[i].is_done) continue;
        others |= !result[i].is_own;
        while (!result[first].is_done || result[first].made_by != result[i].made_by)
            first++;
        for (int64_t k = first; k < runs; k++)
            count += result[k].is_done && result[k].made_by == result[i].made_by;
        if (first == i && strlen(text) < sizeof text / 2)
            ikt_join(text, sizeof text, "", "%s%" PRId64 " by %s",
                     text[0] ? ", "
                             : "Not all results are of the same build of iktsne, or of the "
                               "one that made this report, so that differences between them "
                               "may be those of the program: ",
                     count, result[i].build);
    }
    if (others) ikt_page_paragraph(r->page, text);
}

/* LOCAL, rank 0. */
static ikt_status write_report(ikt_context *ctx, const ikt_study_plan *plan,
                               const ikt_study_result *result, const char *folder,
                               const ikt_study_picture *picture, int64_t pictures) {
    const ikt_study *study = plan->study;
    ikt_study_summary summary;
    int64_t good = 0, failed = 0;
    double seconds = 0;
    char text[2 * IKT_STRING_MAX];
    IKT_TRY(ikt_study_summary_make(ctx, plan, result, &summary));
    ikt_page page = ikt_page_begin(ctx, folder, study->title);
    report r = {ctx, study, plan, result, &summary, &page};
    for (int64_t i = 0; i < plan->n_runs; i++) {
        good += result[i].is_good;
        failed += result[i].is_done && !result[i].is_good;
        if (isfinite(result[i].number[IKT_RUN_SECONDS]))
            seconds += result[i].number[IKT_RUN_SECONDS];
    }
    if (study->about[0]) ikt_page_paragraph(&page, study->about);
    snprintf(text, sizeof text,
             "%" PRId64 " runs: %" PRId64 " succeeded, %" PRId64 " failed, %" PRId64
             " are not made; %.0f seconds of embedding in all. Made by iktsne " IKT_VERSION
             " from %s.",
             plan->n_runs, good, failed, plan->n_runs - good - failed, seconds,
             ikt_study_base(study->path));
    ikt_page_paragraph(&page, text);
    show_builds(&r);
    ikt_page_heading(&page, 2, "Results");
    show_wins(&r);
    show_best(&r);
    show_entries(&r);
    show_curves(&r);
    show_pictures(&r, picture, pictures);
    show_rank_curves(&r, picture, pictures);
    show_failures(&r);
    ikt_status st = ikt_page_end(&page);
    ikt_study_summary_destroy(&summary);
    return st;
}

ikt_status ikt_study_report(ikt_context *ctx, const ikt_study_plan *plan,
                            char path[IKT_STRING_MAX]) {
    char folder[IKT_STRING_MAX];
    ikt_study_picture *picture = NULL;
    int64_t pictures = 0;
    ikt_status st = IKT_OK;
    snprintf(folder, sizeof folder, "%.900s/report", plan->output);
    snprintf(path, IKT_STRING_MAX, "%.1000s/report.html", folder);
    IKT_ARRAYS(held, ctx, "study");
    ikt_study_result *result = ikt_claim(&held, plan->n_runs, sizeof *result);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_study_make_folder(ctx, folder));
    IKT_TRY(ikt_study_results_load(ctx, plan, result));
    IKT_TRY(ikt_study_pictures_draw(ctx, plan, result, folder, &picture, &pictures));
    ikt_arrays_take(&held, picture);
    if (ikt_rank(ctx) == 0) st = write_report(ctx, plan, result, folder, picture, pictures);
    return ikt_agree(ctx, st);
}
