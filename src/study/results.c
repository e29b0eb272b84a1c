/* What is known about the runs of a study. */
#include "study/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/shared_file.h"
#include "config/value.h"
#include "evaluate/measure.h"

static const char *const number_names[IKT_RUN_NUMBERS] = {
    "rows",           "columns",    "iterations", "KL", "seconds", "seconds similarities",
    "seconds layout", "MB per rank"};

const char *ikt_run_number_name(ikt_run_number number) {
    return number_names[number];
}

int64_t ikt_study_number(const ikt_study *study, int64_t m) {
    for (int64_t i = 0; i < IKT_RUN_NUMBERS; i++)
        if (strcmp(number_names[i], study->measure[m]) == 0) return i;
    return IKT_RUN_NUMBERS + m;
}

void ikt_study_embedding_file(const char *output, const ikt_study_run *run,
                              char path[IKT_STRING_MAX]) {
    snprintf(path, IKT_STRING_MAX, "%.900s/best/%016" PRIx64 ".h5", output, run->id);
}

bool ikt_study_embedding_is_there(ikt_context *ctx, const char *path) {
    int64_t found = 0;
    if (ikt_rank(ctx) == 0) found = access(path, R_OK) == 0;
    return ikt_max_one(ctx, found) > 0;
}

int64_t ikt_study_best_run(const ikt_study *study, const ikt_study_plan *plan,
                           const ikt_study_result *result, int64_t data, int64_t method,
                           int64_t m) {
    const int way = ikt_measure_way(study->measure[m]);
    const int64_t at = ikt_study_number(study, m);
    int64_t best = -1;
    for (int64_t r = 0; r < plan->n_runs && way != 0; r++) {
        if (plan->run[r].data != data || plan->run[r].method != method) continue;
        if (!result[r].is_good || !isfinite(result[r].number[at])) continue;
        if (best < 0 || way * (result[r].number[at] - result[best].number[at]) > 0) best = r;
    }
    return best;
}

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
static int all_axes(const ikt_study *study, const char *name[], int most) {
    int count = 0;
    for (int64_t m = 0; m < study->n_methods; m++)
        for (int a = 0; a < study->method[m].axes; a++) {
            int i = 0;
            while (i < count && strcmp(name[i], study->method[m].axis[a].name) != 0)
                i++;
            if (i == count && count < most) name[count++] = study->method[m].axis[a].name;
        }
    return count;
}

enum { AXES_MOST = 64 };

static void add_header(const ikt_study *study, ikt_text *text) {
    const char *axis[AXES_MOST];
    const int axes = all_axes(study, axis, AXES_MOST);
    ikt_text_add(text, "id,data,method,seed,");
    for (int a = 0; a < axes; a++)
        add_cell(text, axis[a]);
    ikt_text_add(text, "outcome,hash,");
    for (int i = 0; i < IKT_RUN_NUMBERS; i++)
        add_cell(text, number_names[i]);
    for (int64_t m = 0; m < study->n_measures; m++)
        if (ikt_study_number(study, m) >= IKT_RUN_NUMBERS) add_cell(text, study->measure[m]);
    ikt_text_add(text, "message\n");
}

static void add_number(ikt_text *text, double value) {
    char digits[IKT_REAL_TEXT] = "";
    if (isfinite(value)) ikt_real_print(value, digits);
    ikt_text_add(text, "%s,", digits);
}

static const char *axis_value(const ikt_study *study, const ikt_study_run *run, const char *name) {
    const ikt_study_method *method = &study->method[run->method];
    for (int a = 0; a < method->axes; a++)
        if (strcmp(method->axis[a].name, name) == 0) return run->value[a];
    return "";
}

static void add_line(const ikt_study *study, const ikt_study_run *run,
                     const ikt_study_result *result, ikt_text *text) {
    const char *axis[AXES_MOST];
    const int axes = all_axes(study, axis, AXES_MOST);
    ikt_text_add(text, "%016" PRIx64 ",", run->id);
    add_cell(text, study->data[run->data].name);
    add_cell(text, study->method[run->method].name);
    ikt_text_add(text, "%" PRId64 ",", run->seed);
    for (int a = 0; a < axes; a++)
        add_cell(text, axis_value(study, run, axis[a]));
    ikt_text_add(text, "%s,%016" PRIx64 ",", result->is_good ? "ok" : "failed", result->hash);
    for (int i = 0; i < IKT_RUN_NUMBERS; i++)
        add_number(text, result->number[i]);
    for (int64_t m = 0; m < study->n_measures; m++)
        if (ikt_study_number(study, m) >= IKT_RUN_NUMBERS)
            add_number(text, result->number[ikt_study_number(study, m)]);
    add_cell(text, result->message);
    if (text->status == IKT_OK) text->data[text->length - 1] = '\n'; /* the last comma */
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
static void take_line(const ikt_study *study, const ikt_study_plan *plan, char *line,
                      ikt_study_result *result) {
    enum { BEFORE = 4, CELLS_MOST = BEFORE + AXES_MOST + 3 + IKT_RUN_NUMBERS + IKT_STUDY_MEASURES };
    const char *axis[AXES_MOST];
    char *cell[CELLS_MOST];
    const int axes = all_axes(study, axis, AXES_MOST), cells = split(line, cell, CELLS_MOST);
    int wanted = BEFORE + axes + 3 + IKT_RUN_NUMBERS, at = BEFORE + axes;
    for (int64_t m = 0; m < study->n_measures; m++)
        wanted += ikt_study_number(study, m) >= IKT_RUN_NUMBERS;
    if (cells != wanted) return;
    const uint64_t id = strtoull(cell[0], NULL, 16);
    const int64_t r = ikt_study_plan_find(plan, id);
    if (r < 0) return;
    ikt_study_result *of = &result[r];
    of->is_done = true;
    of->is_good = strcmp(cell[at++], "ok") == 0;
    of->hash = strtoull(cell[at++], NULL, 16);
    for (int i = 0; i < IKT_RUN_NUMBERS; i++)
        of->number[i] = parse_cell(cell[at++]);
    for (int64_t m = 0; m < study->n_measures; m++)
        if (ikt_study_number(study, m) >= IKT_RUN_NUMBERS)
            of->number[ikt_study_number(study, m)] = parse_cell(cell[at++]);
    snprintf(of->message, sizeof of->message, "%s", cell[at]);
}

ikt_study_result ikt_study_result_empty(void) {
    ikt_study_result empty;
    memset(&empty, 0, sizeof empty); /* also what lies between the members: ranks send it */
    for (int i = 0; i < IKT_RUN_NUMBERS + IKT_STUDY_MEASURES; i++)
        empty.number[i] = NAN;
    return empty;
}

/* All whole lines of the text, which is cut up. The last line of a run counts. */
static ikt_status parse(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                        const char *path, char *text, ikt_study_result *result) {
    ikt_text header = {ctx, NULL, 0, 0, IKT_OK};
    for (int64_t r = 0; r < plan->n_runs; r++)
        result[r] = ikt_study_result_empty();
    add_header(study, &header);
    ikt_status st = header.status;
    if (st == IKT_OK && *text && strncmp(text, header.data, (size_t)header.length) != 0)
        st = ikt_fail(ctx, IKT_ERR_USAGE,
                      "%s has other columns than this study: give it another folder by --output, "
                      "or remove that file",
                      path);
    ikt_free(&header.data);
    for (char *line = text, *end; st == IKT_OK && (end = strchr(line, '\n')) != NULL;
         line = end + 1) {
        *end = '\0';
        take_line(study, plan, line, result);
    }
    return st;
}

static void results_path(const char *output, char path[IKT_STRING_MAX]) {
    snprintf(path, IKT_STRING_MAX, "%.1000s/results.csv", output);
}

/* Removes the embeddings of the runs of that data set and method that are best in nothing. */
static void prune(const ikt_study *study, const ikt_study_plan *plan, const char *output,
                  int64_t run, const ikt_study_result *result) {
    const int64_t data = plan->run[run].data, method = plan->run[run].method;
    int64_t best[IKT_STUDY_MEASURES];
    for (int64_t m = 0; m < study->n_measures; m++)
        best[m] = ikt_study_best_run(study, plan, result, data, method, m);
    for (int64_t r = 0; r < plan->n_runs; r++) {
        bool is_best = false;
        char path[IKT_STRING_MAX];
        if (plan->run[r].data != data || plan->run[r].method != method || !result[r].is_done)
            continue;
        for (int64_t m = 0; m < study->n_measures && !is_best; m++)
            is_best = best[m] == r;
        ikt_study_embedding_file(output, &plan->run[r], path);
        if (!is_best) unlink(path);
    }
}

ikt_status ikt_study_results_add(ikt_context *ctx, const ikt_study *study,
                                 const ikt_study_plan *plan, const char *output, int64_t run,
                                 const ikt_study_result *result) {
    char path[IKT_STRING_MAX];
    ikt_locked_file file;
    ikt_study_result *all = NULL;
    ikt_text text = {ctx, NULL, 0, 0, IKT_OK};
    results_path(output, path);
    IKT_TRY(ikt_locked_open(ctx, path, &file));
    ikt_status st = ikt_alloc(ctx, &all, plan->n_runs, sizeof *all, "study");
    if (st == IKT_OK) {
        if (file.length == 0) add_header(study, &text);
        add_line(study, &plan->run[run], result, &text);
        st = text.status;
    }
    if (st == IKT_OK) st = parse(ctx, study, plan, path, file.text, all);
    if (st == IKT_OK) st = ikt_locked_append(&file, text.data);
    if (st == IKT_OK) {
        all[run] = *result;
        prune(study, plan, output, run, all);
    }
    ikt_locked_close(&file);
    ikt_free(&all);
    ikt_free(&text.data);
    return st;
}

static ikt_status read_results(ikt_context *ctx, const ikt_study *study, const ikt_study_plan *plan,
                               const char *output, ikt_study_result *result) {
    char path[IKT_STRING_MAX];
    ikt_locked_file file;
    results_path(output, path);
    IKT_TRY(ikt_locked_open(ctx, path, &file));
    ikt_status st = parse(ctx, study, plan, path, file.text, result);
    ikt_locked_close(&file);
    return st;
}

ikt_status ikt_study_results_load(ikt_context *ctx, const ikt_study *study,
                                  const ikt_study_plan *plan, const char *output,
                                  ikt_study_result *result) {
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0) st = read_results(ctx, study, plan, output, result);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) ikt_broadcast(ctx, result, plan->n_runs * (int64_t)sizeof *result, 0);
    return st;
}
