/* What is known about the runs of a study. */
#include "study/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arrays.h"
#include "base/build.h"
#include "base/comm.h"
#include "base/shared_file.h"
#include "base/sort.h"
#include "config/value.h"
#include "evaluate/measure.h"

static const char *const number_names[IKT_RUN_NUMBERS] = {
    "rows",           "columns",    "iterations", "KL", "cost", "seconds", "seconds similarities",
    "seconds layout", "MB per rank"};

int64_t ikt_study_number(const ikt_study *study, int64_t m) {
    for (int64_t i = 0; i < IKT_RUN_NUMBERS; i++)
        if (strcmp(number_names[i], study->measure[m]) == 0) return i;
    return IKT_RUN_NUMBERS + m;
}

/* The numbers that the file has columns of, by their places in `number`. Returns how many. */
static int numbers_of(const ikt_study *study, int64_t at[IKT_RUN_NUMBERS + IKT_STUDY_MEASURES]) {
    int count = 0;
    while (count < IKT_RUN_NUMBERS) {
        at[count] = count;
        count++;
    }
    for (int64_t m = 0; m < study->n_measures; m++)
        if (ikt_study_number(study, m) >= IKT_RUN_NUMBERS) at[count++] = IKT_RUN_NUMBERS + m;
    return count;
}

void ikt_study_embedding_file(const ikt_study_plan *plan, uint64_t id, char path[IKT_STRING_MAX]) {
    snprintf(path, IKT_STRING_MAX, "%.900s/best/%016" PRIx64 ".h5", plan->output, id);
}

int64_t ikt_study_best_run(const ikt_study_plan *plan, const ikt_study_result *result, int64_t data,
                           int64_t method, int64_t m) {
    const int way = ikt_measure_way(plan->study->measure[m]);
    const int64_t at = ikt_study_number(plan->study, m);
    int64_t best = -1;
    for (int64_t r = 0; r < plan->n_runs && way != 0; r++) {
        if (plan->run[r].data != data || plan->run[r].method != method) continue;
        if (!result[r].is_good || !isfinite(result[r].number[at])) continue;
        if (best < 0 || way * (result[r].number[at] - result[best].number[at]) > 0) best = r;
    }
    return best;
}

enum { AXES_MOST = 64 };

/* Text as a cell: quoted where it has to be. */
static void add_cell(ikt_text *text, const char *cell) {
    if (!strpbrk(cell, ",\"\n\r")) {
        ikt_text_add(text, "%s,", cell);
        return;
    }
    ikt_text_add(text, "\"");
    for (; *cell; cell++)
        ikt_text_add(text, *cell == '"' ? "\"\"" : "%c", *cell == '\n' ? ' ' : *cell);
    ikt_text_add(text, "\",");
}

/* Names of the axes of all methods, each once. Returns their number. */
static int all_axes(const ikt_study *study, const char *name[AXES_MOST]) {
    int count = 0;
    for (int64_t m = 0; m < study->n_methods; m++)
        for (int a = 0; a < study->method[m].axes; a++) {
            int i = 0;
            while (i < count && strcmp(name[i], study->method[m].axis[a].name) != 0)
                i++;
            if (i == count && count < AXES_MOST) name[count++] = study->method[m].axis[a].name;
        }
    return count;
}

static void add_number(ikt_text *text, double value) {
    char digits[IKT_REAL_TEXT] = "";
    if (isfinite(value)) ikt_real_print(value, digits);
    add_cell(text, digits);
}

/* Ends a line in place of its last comma. */
static void end_line(ikt_text *text) {
    if (text->status == IKT_OK) text->data[text->length - 1] = '\n';
}

static void add_headings(const ikt_study *study, ikt_text *text) {
    const char *axis[AXES_MOST];
    int64_t at[IKT_RUN_NUMBERS + IKT_STUDY_MEASURES];
    const int axes = all_axes(study, axis), numbers = numbers_of(study, at);
    ikt_text_add(text, "id,data,method,seed,");
    for (int a = 0; a < axes; a++)
        add_cell(text, axis[a]);
    ikt_text_add(text, "outcome,hash,");
    for (int i = 0; i < numbers; i++)
        add_cell(text, at[i] < IKT_RUN_NUMBERS ? number_names[at[i]]
                                               : study->measure[at[i] - IKT_RUN_NUMBERS]);
    ikt_text_add(text, "build,message,");
    end_line(text);
}

/* Adds the line of a run. */
static void add_line(const ikt_study *study, const ikt_study_run *run,
                     const ikt_study_result *result, ikt_text *text) {
    const ikt_study_method *method = &study->method[run->method];
    const char *axis[AXES_MOST];
    int64_t at[IKT_RUN_NUMBERS + IKT_STUDY_MEASURES];
    const int axes = all_axes(study, axis), numbers = numbers_of(study, at);
    ikt_text_add(text, "%016" PRIx64 ",", run->id);
    add_cell(text, study->data[run->data].name);
    add_cell(text, method->name);
    ikt_text_add(text, "%" PRId64 ",", run->seed);
    for (int a = 0; a < axes; a++) {
        const char *cell = "";
        for (int own = 0; own < method->axes; own++)
            if (strcmp(method->axis[own].name, axis[a]) == 0) cell = run->value[own];
        add_cell(text, cell);
    }
    ikt_text_add(text, "%s,%016" PRIx64 ",", result->is_good ? "ok" : "failed", result->hash);
    for (int i = 0; i < numbers; i++)
        add_number(text, result->number[at[i]]);
    add_cell(text, ikt_build_name());
    add_cell(text, result->message);
    end_line(text);
}

/* Cuts a line into cells, unquoted in place. Returns their number, or -1 where it is no such line.
 */
static int split(char *line, char *cell[], int most) {
    int count = 0;
    char *out = line;
    for (bool end = false; !end; count++) {
        if (count == most) return -1;
        cell[count] = out;
        const bool is_quoted = *line == '"';
        line += is_quoted;
        while (*line && (is_quoted || *line != ',')) {
            if (is_quoted && *line == '"') {
                if (line[1] != '"') break;
                line++;
            }
            *out++ = *line++;
        }
        if (is_quoted && *line++ != '"') return -1;
        if (*line != ',' && *line != '\0') return -1;
        end = *line == '\0';
        line++;
        *out++ = '\0';
    }
    return count;
}

static double parse_cell(const char *cell) {
    char *end;
    const double value = strtod(cell, &end);
    return end == cell || *end ? NAN : value;
}

/* A line of the file into the result of its run; lines of other runs are passed over. */
static void take_line(const ikt_study_plan *plan, char *line, ikt_study_result *result) {
    enum { BEFORE = 4, CELLS_MOST = BEFORE + AXES_MOST + 4 + IKT_RUN_NUMBERS + IKT_STUDY_MEASURES };
    const ikt_study *study = plan->study;
    const char *axis[AXES_MOST];
    char *cell[CELLS_MOST];
    int64_t number[IKT_RUN_NUMBERS + IKT_STUDY_MEASURES];
    const int axes = all_axes(study, axis), cells = split(line, cell, CELLS_MOST);
    const int numbers = numbers_of(study, number);
    int at = BEFORE + axes;
    if (cells != BEFORE + axes + 4 + numbers) return;
    const char *build = cell[cells - 2], *tag = strrchr(build, '-');
    const uint32_t made_by = tag ? (uint32_t)strtoul(tag + 1, NULL, 16) : 0;
    const bool is_own = made_by == ikt_build_tag();
    const uint64_t id = strtoull(cell[0], NULL, 16);
    const int64_t r = ikt_study_plan_find(plan, ikt_study_id(id, made_by));
    if (r < 0 || (result[r].is_own && !is_own)) return;
    ikt_study_result *of = &result[r];
    of->is_done = true;
    of->is_own = is_own;
    of->id = id;
    of->made_by = made_by;
    snprintf(of->build, sizeof of->build, "%s", build);
    of->is_good = strcmp(cell[at++], "ok") == 0;
    of->hash = strtoull(cell[at++], NULL, 16);
    for (int i = 0; i < numbers; i++)
        of->number[number[i]] = parse_cell(cell[at++]);
    snprintf(of->message, sizeof of->message, "%s", cell[at + 1]);
}

ikt_study_result ikt_study_result_empty(void) {
    ikt_study_result empty;
    memset(&empty, 0, sizeof empty); /* also what lies between the members: ranks send it */
    for (int i = 0; i < IKT_RUN_NUMBERS + IKT_STUDY_MEASURES; i++)
        empty.number[i] = NAN;
    return empty;
}

/* Opens OUTPUT/results.csv, whose name is kept in `path`, and reads all whole lines, of which the
 * last one of a run counts. The text of the file is cut up; whoever asks closes the file, also
 * where this fails. */
static ikt_status open_results(ikt_context *ctx, const ikt_study_plan *plan,
                               char path[IKT_STRING_MAX], ikt_locked_file *file,
                               ikt_study_result *result) {
    ikt_text header IKT_AT_END(ikt_text_free) = {ctx, NULL, 0, 0, IKT_OK};
    snprintf(path, IKT_STRING_MAX, "%.1000s/results.csv", plan->output);
    IKT_TRY(ikt_locked_open(ctx, path, file));
    for (int64_t r = 0; r < plan->n_runs; r++)
        result[r] = ikt_study_result_empty();
    add_headings(plan->study, &header);
    IKT_TRY(header.status);
    if (file->text[0] && strncmp(file->text, header.data, (size_t)header.length) != 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s has other columns than this study: give it another folder by "
                        "--output, or remove that file",
                        path);
    for (char *line = file->text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        take_line(plan, line, result);
    }
    return IKT_OK;
}

/* Removes the embeddings of the runs of that data set and method that are best in nothing. Results
 * that are to be made anew say nothing of that, and keep theirs until then. */
static void prune(const ikt_study_plan *plan, const ikt_study_run *of,
                  const ikt_study_result *result) {
    int64_t best[IKT_STUDY_MEASURES];
    for (int64_t m = 0; m < plan->study->n_measures; m++)
        best[m] = ikt_study_best_run(plan, result, of->data, of->method, m);
    for (int64_t r = 0; r < plan->n_runs; r++) {
        const ikt_study_run *run = &plan->run[r];
        bool is_best = false;
        char path[IKT_STRING_MAX];
        if (run->data != of->data || run->method != of->method || !result[r].is_done) continue;
        for (int64_t m = 0; m < plan->study->n_measures && !is_best; m++)
            is_best = best[m] == r;
        ikt_study_embedding_file(plan, result[r].id, path);
        if (!is_best) unlink(path);
    }
}

ikt_status ikt_study_results_add(ikt_context *ctx, const ikt_study_plan *plan, int64_t run,
                                 const ikt_study_result *result) {
    char path[IKT_STRING_MAX];
    ikt_text text IKT_AT_END(ikt_text_free) = {ctx, NULL, 0, 0, IKT_OK};
    IKT_ARRAYS(held, ctx, "study");
    ikt_study_result *all = ikt_claim(&held, plan->n_runs, sizeof *all);
    IKT_TRY(held.status);
    ikt_locked_file file IKT_AT_END(ikt_locked_close) = {.ctx = NULL};
    IKT_TRY(open_results(ctx, plan, path, &file, all));
    if (file.length == 0) add_headings(plan->study, &text);
    add_line(plan->study, &plan->run[run], result, &text);
    IKT_TRY(text.status);
    IKT_TRY(ikt_locked_append(&file, text.data));
    if (all[run].is_done && !all[run].is_own) { /* that of another build gives way */
        ikt_study_embedding_file(plan, all[run].id, path);
        unlink(path);
    }
    all[run] = *result;
    all[run].is_own = true;
    all[run].id = plan->run[run].id;
    for (int64_t r = 0; r < plan->n_runs && !plan->any_build; r++)
        if (!all[r].is_own) all[r] = ikt_study_result_empty();
    prune(plan, &plan->run[run], all);
    return IKT_OK;
}

ikt_status ikt_study_results_load(ikt_context *ctx, const ikt_study_plan *plan,
                                  ikt_study_result *result) {
    char path[IKT_STRING_MAX];
    ikt_locked_file file = {.ctx = NULL};
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0) st = open_results(ctx, plan, path, &file, result);
    ikt_locked_close(&file);
    IKT_TRY(ikt_agree(ctx, st));
    ikt_broadcast(ctx, result, plan->n_runs * (int64_t)sizeof *result, 0);
    return IKT_OK;
}

/* --- over the seeds --------------------------------------------------------------------------- */

/* The entry of a run, begun where it is the first one. */
static ikt_study_cell *entry_of(const ikt_study_plan *plan, const ikt_study_run *run,
                                ikt_study_summary *summary) {
    const bool has_axes = plan->study->method[run->method].axes > 0;
    for (int64_t c = summary->count - 1; c >= 0; c--)
        if (ikt_study_same_values(plan, summary->cell[c].first, run)) return &summary->cell[c];
    ikt_study_cell *cell = &summary->cell[summary->count++];
    *cell = (ikt_study_cell){.data = run->data,
                             .method = run->method,
                             .first = run,
                             .x = has_axes ? parse_cell(run->value[0]) : NAN};
    return cell;
}

/* Median and range of a measure over the runs of an entry.
 *   work   [plan->n_runs] */
static void summarise(const ikt_study_plan *plan, const ikt_study_result *result, int64_t m,
                      double *work, ikt_study_cell *cell) {
    const int64_t at = ikt_study_number(plan->study, m);
    int64_t count = 0;
    for (int64_t r = 0; r < plan->n_runs; r++)
        if (result[r].is_good && isfinite(result[r].number[at]) &&
            ikt_study_same_values(plan, &plan->run[r], cell->first))
            work[count++] = result[r].number[at];
    ikt_sort_f64(work, count);
    cell->median[m] = count > 0 ? (work[(count - 1) / 2] + work[count / 2]) / 2 : NAN;
    cell->low[m] = count > 0 ? work[0] : NAN;
    cell->high[m] = count > 0 ? work[count - 1] : NAN;
}

ikt_status ikt_study_summary_make(ikt_context *ctx, const ikt_study_plan *plan,
                                  const ikt_study_result *result, ikt_study_summary *out) {
    *out = (ikt_study_summary){NULL, 0};
    IKT_ARRAYS(held, ctx, "study");
    double *work = ikt_claim(&held, plan->n_runs, sizeof *work);
    out->cell = ikt_claim_kept(&held, plan->n_runs, sizeof *out->cell);
    IKT_TRY(held.status);
    for (int64_t r = 0; r < plan->n_runs; r++) {
        ikt_study_cell *cell = entry_of(plan, &plan->run[r], out);
        cell->good += result[r].is_good;
        cell->rows = (double)plan->table[plan->run[r].table].n;
    }
    for (int64_t c = 0; c < out->count; c++)
        for (int64_t m = 0; m < plan->study->n_measures; m++)
            summarise(plan, result, m, work, &out->cell[c]);
    return IKT_OK;
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
