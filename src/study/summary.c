/* Results of a study over its seeds. */
#include "study/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "evaluate/measure.h"

static bool is_same(const ikt_study *study, const ikt_study_run *a, const ikt_study_run *b) {
    if (a->data != b->data || a->method != b->method) return false;
    for (int i = 0; i < study->method[a->method].axes; i++)
        if (strcmp(a->value[i], b->value[i]) != 0) return false;
    return true;
}

static ikt_study_cell begin(const ikt_study *study, const ikt_study_run *run) {
    ikt_study_cell cell = {.data = run->data, .method = run->method, .first = run, .x = NAN};
    char *end = NULL;
    const double x = strtod(run->value[0], &end);
    if (study->method[run->method].axes > 0 && end != run->value[0] && *end == '\0') cell.x = x;
    return cell;
}

/* Fills median and range of one measure from the good runs of the entry. */
static void summarise(const ikt_study *study, const ikt_study_plan *plan,
                      const ikt_study_result *result, int64_t m, double *work,
                      ikt_study_cell *cell) {
    int64_t count = 0;
    for (int64_t r = 0; r < plan->n_runs; r++) {
        if (!result[r].is_good || !is_same(study, &plan->run[r], cell->first)) continue;
        const double value = result[r].number[ikt_study_number(study, m)];
        if (isfinite(value)) work[count++] = value;
    }
    cell->median[m] = cell->low[m] = cell->high[m] = NAN;
    if (count == 0) return;
    ikt_sort_f64(work, count);
    cell->median[m] = (work[(count - 1) / 2] + work[count / 2]) / 2;
    cell->low[m] = work[0];
    cell->high[m] = work[count - 1];
}

static ikt_study_cell *find(const ikt_study *study, ikt_study_summary *summary,
                            const ikt_study_run *run) {
    for (int64_t c = summary->count - 1; c >= 0; c--)
        if (is_same(study, summary->cell[c].first, run)) return &summary->cell[c];
    summary->cell[summary->count] = begin(study, run);
    return &summary->cell[summary->count++];
}

ikt_status ikt_study_summary_make(ikt_context *ctx, const ikt_study *study,
                                  const ikt_study_plan *plan, const ikt_study_result *result,
                                  ikt_study_summary *out) {
    double *work = NULL;
    *out = (ikt_study_summary){NULL, 0};
    ikt_status st = ikt_alloc(ctx, &out->cell, plan->n_runs, sizeof *out->cell, "study");
    if (st == IKT_OK) st = ikt_alloc(ctx, &work, plan->n_runs, sizeof *work, "study");
    for (int64_t r = 0; r < plan->n_runs && st == IKT_OK; r++) {
        ikt_study_cell *cell = find(study, out, &plan->run[r]);
        cell->good += result[r].is_good;
        cell->failed += result[r].is_done && !result[r].is_good;
        cell->open += !result[r].is_done;
        cell->rows = (double)plan->table[plan->run[r].table].n;
    }
    for (int64_t c = 0; c < out->count && st == IKT_OK; c++)
        for (int64_t m = 0; m < study->n_measures; m++)
            summarise(study, plan, result, m, work, &out->cell[c]);
    ikt_free(&work);
    if (st != IKT_OK) ikt_study_summary_destroy(out);
    return st;
}

void ikt_study_summary_destroy(ikt_study_summary *summary) {
    ikt_free(&summary->cell);
    summary->count = 0;
}

const ikt_study_cell *ikt_study_summary_best(const ikt_study *study,
                                             const ikt_study_summary *summary, int64_t data,
                                             int64_t method, int64_t m) {
    const int way = ikt_measure_way(study->measure[m]);
    const ikt_study_cell *best = NULL;
    for (int64_t c = 0; c < summary->count && way != 0; c++) {
        const ikt_study_cell *cell = &summary->cell[c];
        if (cell->data != data || cell->method != method || !isfinite(cell->median[m])) continue;
        if (!best || way * (cell->median[m] - best->median[m]) > 0) best = cell;
    }
    return best;
}
