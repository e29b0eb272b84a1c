/* iktsne study: many runs from one file, and a report on them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/help.h"
#include "app/verb.h"
#include "base/log.h"
#include "study/plan.h"

typedef struct {
    char output[IKT_STRING_MAX], data[IKT_STRING_MAX], only[IKT_STRING_MAX];
    int64_t ranks;
    bool list, report, retry;
} options;

static const char explanation[] =
    "STUDY.yaml names data sets, methods (settings, and lists of values that settings take), seeds "
    "and\n"
    "measures; every combination is a run. Studies of the Isolation kernel paper are in "
    "config/studies/;\n"
    "docs/studies.md explains the file.\n"
    "\n"
    "The folder of results holds results.csv (a line for each run, added when it ends), best/ (the "
    "best\n"
    "embeddings), data/ (generated sets) and report/ (report.html and report.md). The same command "
    "again\n"
    "goes on where a study was stopped; it may be given to any number of jobs at once, as to those "
    "of a\n"
    "Slurm array, which share the runs among them.\n";

/* "a:b:c" into the folders to look through; cuts the text up. */
static void split_folders(char *list, ikt_study_places *places) {
    while (*list && places->folders < IKT_STUDY_FOLDERS) {
        char *colon = strchr(list, ':');
        if (colon) *colon = '\0';
        if (*list) places->folder[places->folders++] = list;
        if (!colon) return;
        list = colon + 1;
    }
}

static void print_runs(ikt_context *ctx, const ikt_study_plan *plan) {
    for (int64_t r = 0; r < plan->n_runs && ikt_rank(ctx) == 0; r++) {
        char name[IKT_STRING_MAX];
        ikt_study_run_name(plan, &plan->run[r], name, sizeof name);
        printf("%016" PRIx64 "  %s\n", plan->run[r].id, name);
    }
}

static ikt_status make(ikt_context *ctx, const ikt_study_plan *plan, const options *o) {
    char path[IKT_STRING_MAX];
    if (o->list) {
        print_runs(ctx, plan);
        return IKT_OK;
    }
    if (!o->report) IKT_TRY(ikt_study_execute_all(ctx, plan, o->ranks, o->retry));
    IKT_TRY(ikt_study_report(ctx, plan, path));
    if (ikt_rank(ctx) == 0) printf("%s\n", path);
    return IKT_OK;
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    options o;
    const ikt_option table[] = {
        {"output", IKT_KEY_STRING, "FOLDER", "", 0, 0, NULL,
         "Folder of the results; without it NAME-results in the current folder, for NAME.yaml",
         o.output},
        {"data", IKT_KEY_STRING, "FOLDERS", "", 0, 0, NULL,
         "Folders in which data sets are looked for, separated by colons; then that of STUDY.yaml",
         o.data},
        {"only", IKT_KEY_STRING, "NAMES", "", 0, 0, NULL,
         "Data sets to take, by the names that they have in the study, separated by commas",
         o.only},
        {"ranks", IKT_KEY_INT, "N", "1", 1, 1e6, NULL,
         "Ranks that make a run together; all ranks divide into such groups", &o.ranks},
        {"retry", IKT_KEY_BOOL, NULL, "no", 0, 0, NULL, "Make runs again that failed", &o.retry},
        {"report", IKT_KEY_BOOL, NULL, "no", 0, 0, NULL,
         "Make the report of what is there, and no run", &o.report},
        {"list", IKT_KEY_BOOL, NULL, "no", 0, 0, NULL, "Print the runs, and do nothing else",
         &o.list}};
    const char *positional[1];
    int count;
    bool help;
    ikt_study study;
    ikt_study_plan plan;
    IKT_TRY(ikt_options_parse(ctx, &ikt_verb_study, table, sizeof table / sizeof *table, argc, argv,
                              positional, 1, 1, &count, &help));
    if (help) {
        ikt_help more = ikt_help_begin(ctx, &ikt_verb_study, argc, argv);
        ikt_help_heading(&more, "the study and its results", "");
        ikt_help_verbatim(&more, explanation);
        return ikt_help_end(&more);
    }
    ikt_study_places places = {.output = o.output, .only = o.only[0] ? o.only : NULL};
    split_folders(o.data, &places);
    IKT_TRY(ikt_study_read(ctx, positional[0], &study));
    if (!o.output[0]) snprintf(o.output, sizeof o.output, "%.60s-results", study.name);
    ikt_status st = ikt_study_plan_make(ctx, &study, &places, &plan);
    if (st == IKT_OK) st = make(ctx, &plan, &o);
    ikt_study_plan_destroy(&plan);
    ikt_study_destroy(&study);
    return st;
}

const ikt_verb ikt_verb_study = {"study", "STUDY.yaml [options]",
                                 "Make many runs from one file, and a report with tables, curves "
                                 "and pictures",
                                 run};
