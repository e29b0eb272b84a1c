/* The curves of a report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "study/report_parts.h"

enum { WIDTH = 460, HEIGHT = 300 };

typedef struct {
    double x, y, low, high;
} point;

static int by_x(const void *a, const void *b) {
    return IKT_COMPARE(((const point *)a)->x, ((const point *)b)->x);
}

/* Arrays that the lines of a chart point into. */
typedef struct {
    ikt_chart_line *line; /* [n_methods] */
    point *point;         /* [cells] */
    double *value;        /* [4 * cells]: x, y, low, high */
    int64_t lines, used;
    bool is_ranged, is_wide; /* x spans more than thirtyfold */
    double least, most;      /* of y */
} curves;

static ikt_status claim(ikt_report *r, curves *c) {
    IKT_TRY(ikt_alloc(r->ctx, &c->line, r->study->n_methods, sizeof *c->line, "study"));
    IKT_TRY(ikt_alloc(r->ctx, &c->point, r->summary->count, sizeof *c->point, "study"));
    return ikt_alloc(r->ctx, &c->value, 4 * r->summary->count, sizeof *c->value, "study");
}

static void release(curves *c) {
    ikt_free(&c->line);
    ikt_free(&c->point);
    ikt_free(&c->value);
}

/* Adds the entries of a method, of one data set or of all, as a line. */
static void add_line(ikt_report *r, int64_t data, int64_t method, int64_t m, curves *c) {
    int64_t count = 0;
    double *at = c->value + 4 * c->used;
    for (int64_t i = 0; i < r->summary->count; i++) {
        const ikt_study_cell *cell = &r->summary->cell[i];
        const double x = r->study->over_rows ? cell->rows : cell->x;
        if (cell->method != method || (!r->study->over_rows && cell->data != data)) continue;
        if (!isfinite(x) || !isfinite(cell->median[m])) continue;
        c->point[count++] = (point){x, cell->median[m], cell->low[m], cell->high[m]};
        c->least = fmin(c->least, cell->low[m]);
        c->most = fmax(c->most, cell->high[m]);
        c->is_ranged |= cell->good > 1;
    }
    if (count == 0) return;
    qsort(c->point, (size_t)count, sizeof *c->point, by_x);
    for (int64_t i = 0; i < count; i++) {
        at[i] = c->point[i].x;
        at[count + i] = c->point[i].y;
        at[2 * count + i] = c->point[i].low;
        at[3 * count + i] = c->point[i].high;
    }
    c->is_wide |= at[0] > 0 && at[count - 1] > 30 * at[0];
    c->line[c->lines++] = (ikt_chart_line){.name = r->study->method[method].name,
                                           .x = at,
                                           .y = at + count,
                                           .low = at + 2 * count,
                                           .high = at + 3 * count,
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

static void draw(ikt_report *r, int64_t data, int64_t m, curves *c) {
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
                             .width = WIDTH,
                             .height = HEIGHT};
    ikt_page_chart(r->page, &chart);
}

void ikt_report_curves(ikt_report *r) {
    const ikt_study *study = r->study;
    curves c = {.line = NULL};
    bool has_axis = study->over_rows;
    for (int64_t i = 0; i < r->summary->count; i++)
        has_axis |= isfinite(r->summary->cell[i].x);
    if (!has_axis) return;
    r->page->status = claim(r, &c);
    ikt_page_heading(r->page, 2,
                     study->over_rows ? "Against the number of rows" : "Against the parameter");
    for (int64_t data = 0; data < (study->over_rows ? 1 : study->n_data); data++) {
        ikt_page_side_by_side(r->page);
        for (int64_t m = 0; m < study->n_measures && r->page->status == IKT_OK; m++)
            draw(r, data, m, &c);
        ikt_page_side_by_side_end(r->page);
    }
    release(&c);
}
