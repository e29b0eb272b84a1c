/* The tables of a report. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evaluate/measure.h"
#include "study/report_parts.h"

enum { COLUMNS_MOST = 64, ENTRIES_MOST = 24 };

typedef struct {
    char text[COLUMNS_MOST][IKT_REPORT_CELL];
    const char *cell[COLUMNS_MOST];
    int64_t count;
} row;

static void add(row *r, const char *text) {
    if (r->count == COLUMNS_MOST) return;
    snprintf(r->text[r->count], sizeof r->text[0], "%s", text);
    r->cell[r->count] = r->text[r->count];
    r->count++;
}

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
static void describe_best(const ikt_report *r, const ikt_study_cell *best, int64_t m,
                          char text[IKT_REPORT_CELL]) {
    char number[IKT_REPORT_CELL], values[IKT_REPORT_CELL / 2];
    if (!best) {
        snprintf(text, IKT_REPORT_CELL, "-");
        return;
    }
    ikt_report_number(best->median[m], number);
    ikt_report_values(r->study, best->first, values, sizeof values);
    snprintf(text, IKT_REPORT_CELL, values[0] ? "%.40s (%s)" : "%.40s", number, values);
}

static void best_table(ikt_report *r, int64_t m) {
    const ikt_study *study = r->study;
    char title[IKT_STRING_MAX], text[IKT_REPORT_CELL];
    row cells;
    snprintf(title, sizeof title, "%s: the best of each method (%s is better)", study->measure[m],
             ikt_measure_way(study->measure[m]) > 0 ? "larger" : "smaller");
    ikt_page_heading(r->page, 3, title);
    cells.count = 0;
    add(&cells, "data set");
    add(&cells, "rows");
    for (int64_t i = 0; i < study->n_methods; i++) {
        snprintf(text, sizeof text, "%s, published", study->method[i].name);
        if (has_published(study, i, m)) add(&cells, text);
        add(&cells, study->method[i].name);
    }
    ikt_page_table(r->page, cells.cell, cells.count, 1);
    for (int64_t data = 0; data < study->n_data; data++) {
        if (count_entries(r, data) == 0) continue;
        cells.count = 0;
        add(&cells, study->data[data].name);
        ikt_report_number((double)r->plan->table[data * study->n_seeds].n, text);
        add(&cells, text);
        for (int64_t i = 0; i < study->n_methods; i++) {
            ikt_report_number(published(study, data, i, m), text);
            if (has_published(study, i, m)) add(&cells, text);
            describe_best(r, ikt_study_summary_best(study, r->summary, data, i, m), m, text);
            add(&cells, text);
        }
        ikt_page_row(r->page, cells.cell, cells.count);
    }
    ikt_page_table_end(r->page);
}

void ikt_report_best(ikt_report *r) {
    for (int64_t m = 0; m < r->study->n_measures; m++)
        if (ikt_measure_way(r->study->measure[m]) != 0) best_table(r, m);
}

/* On how many data sets method `i` is at least as good as the first, of those where both have a
 * value: as measured here, or as published. */
static void add_share(row *cells, const ikt_report *r, int64_t i, int64_t m, bool as_published) {
    const ikt_study *study = r->study;
    const int way = ikt_measure_way(study->measure[m]);
    char text[IKT_REPORT_CELL];
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
    snprintf(text, sizeof text, of > 0 ? "%lld of %lld" : "-", (long long)wins, (long long)of);
    add(cells, text);
}

void ikt_report_wins(ikt_report *r) {
    const ikt_study *study = r->study;
    static const char *const heading[] = {"method", "measure", "here", "published"};
    char title[IKT_STRING_MAX];
    row cells;
    if (study->n_methods < 2) return;
    snprintf(title, sizeof title, "Data sets on which a method is at least as good as %s",
             study->method[0].name);
    ikt_page_heading(r->page, 3, title);
    ikt_page_table(r->page, heading, 4, 2);
    for (int64_t i = 1; i < study->n_methods; i++)
        for (int64_t m = 0; m < study->n_measures; m++) {
            if (ikt_measure_way(study->measure[m]) == 0) continue;
            cells.count = 0;
            add(&cells, study->method[i].name);
            add(&cells, study->measure[m]);
            add_share(&cells, r, i, m, false);
            add_share(&cells, r, i, m, true);
            ikt_page_row(r->page, cells.cell, cells.count);
        }
    ikt_page_table_end(r->page);
}

/* "0.43 (0.41 .. 0.44)". Published values of measures that have a better way stand in tables of
 * their own. */
static void add_median(const ikt_study *study, row *cells, const ikt_study_cell *cell, int64_t m) {
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
    add(cells, text);
}

/* The entries of a data set, or those of all data sets where `data` is -1 and nothing varies. */
static void entry_table(ikt_report *r, int64_t data) {
    const ikt_study *study = r->study;
    const bool names_data = data < 0;
    char text[IKT_REPORT_CELL];
    row cells = {.count = 0};
    if (names_data) add(&cells, "data set");
    add(&cells, "method");
    if (!names_data) add(&cells, "values");
    add(&cells, "runs");
    for (int64_t m = 0; m < study->n_measures; m++)
        add(&cells, study->measure[m]);
    ikt_page_table(r->page, cells.cell, cells.count, 2);
    for (int64_t c = 0; c < r->summary->count; c++) {
        const ikt_study_cell *cell = &r->summary->cell[c];
        if (!names_data && cell->data != data) continue;
        cells.count = 0;
        if (names_data) add(&cells, study->data[cell->data].name);
        add(&cells, study->method[cell->method].name);
        ikt_report_values(study, cell->first, text, sizeof text);
        if (!names_data) add(&cells, text);
        snprintf(text, sizeof text, "%lld", (long long)cell->good);
        add(&cells, text);
        for (int64_t m = 0; m < study->n_measures; m++)
            add_median(study, &cells, cell, m);
        ikt_page_row(r->page, cells.cell, cells.count);
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
        ikt_page_heading(r->page, 3, r->study->data[data].name);
        entry_table(r, data);
    }
}

void ikt_report_failures(ikt_report *r) {
    static const char *const heading[] = {"run", "message"};
    bool any = false;
    for (int64_t i = 0; i < r->plan->n_runs; i++) {
        char name[IKT_STRING_MAX];
        if (!r->result[i].is_done || r->result[i].is_good) continue;
        if (!any) {
            ikt_page_heading(r->page, 2, "Runs that failed");
            ikt_page_table(r->page, heading, 2, 2);
        }
        any = true;
        ikt_study_run_name(r->plan, &r->plan->run[i], name, sizeof name);
        const char *const cell[] = {name, r->result[i].message};
        ikt_page_row(r->page, cell, 2);
    }
    if (any) ikt_page_table_end(r->page);
}
