/* The tables of a report. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evaluate/measure.h"
#include "study/report_parts.h"

enum { ENTRIES_MOST = 24 };

void ikt_report_number(double value, char text[IKT_REPORT_CELL]) {
    if (!isfinite(value))
        snprintf(text, IKT_REPORT_CELL, "-");
    else if (fabs(value) >= 1000 || value == floor(value))
        snprintf(text, IKT_REPORT_CELL, "%.0f", value);
    else
        snprintf(text, IKT_REPORT_CELL, "%.4g", value);
}

void ikt_report_values(const ikt_study *study, const ikt_study_run *run, char *text, size_t size) {
    const ikt_study_method *method = &study->method[run->method];
    text[0] = '\0';
    for (int a = 0; a < method->axes; a++) {
        const char *dot = strchr(method->axis[a].name, '.');
        snprintf(text + strlen(text), size - strlen(text), "%s%s %s", a > 0 ? ", " : "",
                 dot ? dot + 1 : method->axis[a].name, run->value[a]);
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

static int64_t count_entries(const ikt_report *r, int64_t data) {
    int64_t count = 0;
    for (int64_t c = 0; c < r->summary->count; c++)
        count += r->summary->cell[c].data == data;
    return count;
}

/* "0.4312 (psi 57)". */
static void add_best(const ikt_report *r, const ikt_study_cell *best, int64_t m) {
    char number[IKT_REPORT_CELL] = "-", values[IKT_REPORT_CELL] = "";
    if (best) ikt_report_number(best->median[m], number);
    if (best) ikt_report_values(r->study, best->first, values, sizeof values);
    ikt_page_cell(r->page, values[0] ? "%s (%s)" : "%s", number, values);
}

static void best_table(ikt_report *r, int64_t m) {
    const ikt_study *study = r->study;
    char text[IKT_REPORT_CELL];
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
        ikt_report_number((double)r->plan->table[data * study->n_seeds].n, text);
        ikt_page_cell(r->page, "%s", text);
        for (int64_t i = 0; i < study->n_methods; i++) {
            ikt_report_number(published(study, data, i, m), text);
            if (has_published(study, i, m)) ikt_page_cell(r->page, "%s", text);
            add_best(r, ikt_study_summary_best(study, r->summary, data, i, m), m);
        }
    }
    ikt_page_table_end(r->page);
}

void ikt_report_best(ikt_report *r) {
    for (int64_t m = 0; m < r->study->n_measures; m++)
        if (ikt_measure_way(r->study->measure[m]) != 0) best_table(r, m);
}

/* On how many data sets method `i` is at least as good as the first, of those where both have a
 * value: as measured here, or as published. */
static void add_share(const ikt_report *r, int64_t i, int64_t m, bool as_published) {
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

void ikt_report_wins(ikt_report *r) {
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
static void add_median(const ikt_report *r, const ikt_study_cell *cell, int64_t m) {
    const ikt_study *study = r->study;
    char middle[IKT_REPORT_CELL], low[IKT_REPORT_CELL], high[IKT_REPORT_CELL],
        text[IKT_REPORT_CELL];
    const double value = published(study, cell->data, cell->method, m);
    ikt_report_number(cell->median[m], middle);
    ikt_report_number(cell->low[m], low);
    ikt_report_number(cell->high[m], high);
    const bool has_range = cell->good > 1 && isfinite(cell->median[m]);
    snprintf(text, sizeof text, has_range ? "%.20s (%.20s .. %.20s)" : "%.20s", middle, low, high);
    if (ikt_measure_way(study->measure[m]) == 0 && isfinite(value)) {
        const size_t used = strlen(text);
        ikt_report_number(value, middle);
        snprintf(text + used, sizeof text - used, "; published %.20s", middle);
    }
    ikt_page_cell(r->page, "%s", text);
}

/* The entries of a data set, or those of all data sets where `data` is -1 and nothing varies. */
static void entry_table(ikt_report *r, int64_t data) {
    const ikt_study *study = r->study;
    const bool names_data = data < 0;
    char text[IKT_REPORT_CELL];
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
        ikt_report_values(study, cell->first, text, sizeof text);
        if (!names_data) ikt_page_cell(r->page, "%s", text);
        ikt_page_cell(r->page, "%lld", (long long)cell->good);
        for (int64_t m = 0; m < study->n_measures; m++)
            add_median(r, cell, m);
    }
    ikt_page_table_end(r->page);
}

void ikt_report_entries(ikt_report *r) {
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

void ikt_report_failures(ikt_report *r) {
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
