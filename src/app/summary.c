/* The paragraph at the end of a run. See print.h. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/print.h"
#include "app/settings_read.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "config/value.h"

/* --- the quality of the map ------------------------------------------------------------------- */

/* Measures that the paragraph tells in words. */
static const char *const shown[] = {"#-NN accuracy", "1-NN error", "Davies-Bouldin",
                                    "Calinski-Harabasz"};

/* Share of the true neighbours below which the paragraph says what finds more. */
static const double found_least = 0.9;

/* The measure of the pattern, where it was computed and has a value; else NULL. */
static const ikt_measure *find(const ikt_measures *measures, const char *pattern) {
    for (int64_t i = 0; i < measures->count; i++) {
        const ikt_measure_name *name = ikt_measure_find(measures->list[i].name);
        if (name && strcmp(name->pattern, pattern) == 0 && isfinite(measures->list[i].value))
            return &measures->list[i];
    }
    return NULL;
}

static bool is_in_summary(const ikt_measures *measures, const ikt_measure *m) {
    for (size_t t = 0; t < sizeof shown / sizeof *shown; t++)
        if (find(measures, shown[t]) == m) return true;
    return false;
}

/* What the labels say of the map. */
static void add_classes(ikt_text *text, const ikt_run *run, const ikt_measures *measures) {
    const ikt_measure *knn = find(measures, shown[0]), *first = find(measures, shown[1]);
    const ikt_measure *db = find(measures, shown[2]), *ch = find(measures, shown[3]);
    char rows[64] = "rows";
    if (measures->unlabelled > 0)
        snprintf(rows, sizeof rows, "%lld rows with a label",
                 (long long)(run->rows.n - measures->unlabelled));
    if (knn) {
        ikt_text_add(text,
                     "In the map, %.2f %% of the %s have the class of most of their %d "
                     "nearest %srows",
                     100 * knn->value, rows, atoi(knn->name),
                     measures->unlabelled > 0 ? "such " : "");
        if (first)
            ikt_text_add(text, ", and %.2f %% that of the nearest one", 100 * (1 - first->value));
        if (knn->sample > 0)
            ikt_text_add(text, " (by a sample of %lld rows)", (long long)knn->sample);
        if (run->embedding.accuracy >= 0)
            ikt_text_add(
                text,
                "; before the first iteration, %.2f %% had it among the rows that are most "
                "similar to them",
                100 * run->embedding.accuracy);
        ikt_text_add(text, ". ");
    } else if (run->embedding.accuracy >= 0) {
        ikt_text_add(
            text,
            "Before the first iteration, %.2f %% of the rows have the class of most of the "
            "rows that are most similar to them. ",
            100 * run->embedding.accuracy);
    }
    if (db && ch)
        ikt_text_add(text,
                     "The classes lie apart with a Davies-Bouldin index of %.3g (0 is best) "
                     "and a Calinski-Harabasz index of %.5g (the larger, the better). ",
                     db->value, ch->value);
}

static void add_recall(ikt_text *text, const ikt_run *run) {
    const ikt_recall *recall = &run->embedding.recall;
    const bool has_codes = ikt_affinity_of(&run->settings.affinity)->scores == IKT_SCORES_CODES;
    char what[IKT_RECALL_TEXT];
    ikt_recall_describe(recall, what);
    ikt_text_add(text, "The search found %s. ", what);
    if (recall->found < found_least && !run->settings.input.graph[0])
        ikt_text_add(
            text,
            "More of them are found by a larger affinity.candidates, which makes %ssearch up to as "
            "many times longer, and all by affinity.search=exact, which compares all %.2g pairs. ",
            has_codes ? "codes and " : "the ", (double)run->rows.n * (double)(run->rows.n - 1) / 2);
}

static void add_quality(ikt_text *text, const ikt_run *run, const ikt_measures *measures) {
    const ikt_embed_result *e = &run->embedding;
    const ikt_trace *trace = &e->trace;
    add_classes(text, run, measures);
    if (trace->count > 0) {
        const bool is_kl = strcmp(trace->value_name, "KL") == 0;
        ikt_text_add(text, "The %s is %.4f", is_kl ? "KL divergence" : "cost",
                     ikt_trace_last(trace));
        if (ikt_trace_last_error(trace) > 0)
            ikt_text_add(text, " +- %.4f, estimated on a sample of pairs,",
                         ikt_trace_last_error(trace));
        if (!is_kl && trace->eigenvalues > 0)
            ikt_text_add(text, ", of which %.4f are the KL divergence,", trace->divergence);
        ikt_text_add(text, " after %lld iterations%s. ", (long long)trace->end,
                     trace->has_converged ? ", which is where it settled" : "");
    }
    if (e->recall.sample > 0) add_recall(text, run);
    if (e->cells.sample > 0)
        ikt_text_add(text, "Of the cells %.2f %% differ from the exact ones (on %lld rows). ",
                     100 * e->cells.differing, (long long)e->cells.sample);
    if (e->zero_similarity > 0)
        ikt_text_add(text, "%lld row%s without any similarity to another row. ",
                     (long long)e->zero_similarity, e->zero_similarity == 1 ? " is" : "s are");
}

/* --- its cost --------------------------------------------------------------------------------- */

static void add_seconds(ikt_text *text, double seconds) {
    if (seconds < 120)
        ikt_text_add(text, "%.1f s", seconds);
    else if (seconds < 7200)
        ikt_text_add(text, "%.1f min", seconds / 60);
    else
        ikt_text_add(text, "%.1f h", seconds / 3600);
}

/* The stage of the first depth that took longest; IKT_STAGE_TOTAL where none took any time. */
static ikt_stage longest_stage(const ikt_run_cost *cost) {
    ikt_stage longest = IKT_STAGE_TOTAL;
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        if (ikt_stage_depth((ikt_stage)s) == 1 && cost->times[s].count > 0 &&
            (longest == IKT_STAGE_TOTAL || cost->times[s].most > cost->times[longest].most))
            longest = (ikt_stage)s;
    return longest;
}

static void add_cost(ikt_text *text, const ikt_context *ctx, const ikt_run_cost *cost,
                     int64_t predicted) {
    const int ranks = ikt_size(ctx), threads = ikt_threads(ctx);
    const ikt_stage longest = longest_stage(cost);
    ikt_text_add(text, "It took ");
    add_seconds(text, cost->times[IKT_STAGE_TOTAL].most);
    ikt_text_add(text, " on %d rank%s x %d thread%s", ranks, ikt_plural(ranks), threads,
                 ikt_plural(threads));
    if (longest != IKT_STAGE_TOTAL) {
        ikt_text_add(text, ", of which the stage '%s' took ", ikt_stage_name(longest));
        add_seconds(text, cost->times[longest].most);
    }
    ikt_text_add(text, ", and %.0f MB of memory per rank at most (%.0f MB were predicted). ",
                 (double)cost->memory.most / 1e6, (double)predicted / 1e6);
}

/* --- what was written, and what next ---------------------------------------------------------- */

/* "Written: run.h5 and run.png." Names that are "" are left out. */
static void add_written(ikt_text *text, const char *const *name, int n) {
    int last = -1;
    for (int i = 0; i < n; i++)
        if (name[i][0]) last = i;
    for (int i = 0, count = 0; i <= last; i++)
        if (name[i][0])
            ikt_text_add(text, "%s%s",
                         count++ == 0 ? "Written: "
                         : i == last  ? " and "
                                      : ", ",
                         name[i]);
    if (last >= 0) ikt_text_add(text, ". ");
}

static ikt_status add_next(ikt_context *ctx, ikt_text *text, const char *file, const char *input) {
    char page[IKT_STRING_MAX];
    IKT_TRY(ikt_name_after(ctx, file, ".html", page));
    ikt_text_add(text, "Next: `iktsne view %s %s` makes a page to look at it", file, page);
    if (input[0])
        ikt_text_add(text, ", `iktsne evaluate %s --input %s` compares it with the data", file,
                     input);
    ikt_text_add(text, ".");
    return IKT_OK;
}

/* Prints what was gathered, in lines, unless it is to be quiet; and frees it. */
static ikt_status print(ikt_text *paragraph) {
    ikt_text lines = {paragraph->ctx, NULL, 0, 0, paragraph->status};
    const bool is_wanted = paragraph->data && !ikt_log_is_quiet(paragraph->ctx);
    if (lines.status == IKT_OK && is_wanted) ikt_text_wrap(&lines, 0, paragraph->data);
    if (lines.status == IKT_OK && lines.data) fputs(lines.data, stdout);
    ikt_free(&lines.data);
    ikt_free(&paragraph->data);
    return lines.status;
}

/* --- the whole -------------------------------------------------------------------------------- */

ikt_status ikt_run_summary_print(ikt_context *ctx, const ikt_run *run, const ikt_run_cost *cost,
                                 const ikt_measures *measures, bool has_others) {
    const ikt_output_settings *out = &run->settings.output;
    const char *const written[] = {out->file, out->picture, out->model, out->graph};
    ikt_text text = {ctx, NULL, 0, 0, IKT_OK};
    add_quality(&text, run, measures);
    add_cost(&text, ctx, cost, run->predicted_bytes);
    add_written(&text, written, 4);
    ikt_status st =
        out->file[0] ? add_next(ctx, &text, out->file, run->settings.input.file) : IKT_OK;
    if (st != IKT_OK) ikt_free(&text.data);
    if (st == IKT_OK) st = print(&text);
    for (int64_t i = 0; i < measures->count && has_others; i++)
        if (!is_in_summary(measures, &measures->list[i])) ikt_measure_print(&measures->list[i]);
    return st;
}

ikt_status ikt_transform_summary_print(ikt_context *ctx, const ikt_transformed *done,
                                       const ikt_run_cost *cost, const char *model,
                                       const char *file, const char *picture) {
    const char *const written[] = {file, picture};
    ikt_text text = {ctx, NULL, 0, 0, IKT_OK};
    ikt_text_add(&text, "%s: %lld rows among the %lld of %s. ", file, (long long)done->rows.n,
                 (long long)done->loaded.shape.n, model);
    char labelled[64] = "them";
    if (done->labelled < done->rows.n)
        snprintf(labelled, sizeof labelled, "the %lld with a label", (long long)done->labelled);
    if (done->accuracy >= 0)
        ikt_text_add(&text,
                     "For %.2f %% of %s the class is that of most of the 10 nearest old "
                     "rows in the map. ",
                     100 * done->accuracy, labelled);
    if (!ikt_transform_projects(&done->loaded))
        ikt_text_add(&text, "The mean %s of a row is %.4f over %lld old neighbours. ",
                     done->loaded.shape.placing == IKT_PLACING_TRIPLETS ? "cost" : "KL divergence",
                     done->mean_divergence, (long long)done->k);
    if (done->zero_similarity > 0)
        ikt_text_add(&text,
                     "%lld row%s without any similarity to an old row, and placed by the "
                     "nearest centre. ",
                     (long long)done->zero_similarity,
                     done->zero_similarity == 1 ? " is" : "s are");
    if (done->far > 0)
        ikt_text_add(&text, "%lld of the new rows lie far from all rows of the fit (is_far). ",
                     (long long)done->far);
    if (done->unsettled > 0)
        ikt_text_add(&text, "%lld row%s still moving when --iterations ended. ",
                     (long long)done->unsettled, done->unsettled == 1 ? " was" : "s were");
    add_cost(&text, ctx, cost, done->predicted_bytes);
    add_written(&text, written, 2);
    ikt_status st = add_next(ctx, &text, file, "");
    if (st != IKT_OK) ikt_free(&text.data);
    return st == IKT_OK ? print(&text) : st;
}
