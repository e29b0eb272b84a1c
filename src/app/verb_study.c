/* iktsne study: many runs from one file, and a report on them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/help.h"
#include "app/verb.h"
#include "base/encoding.h"
#include "study/plan.h"

typedef struct {
    char output[IKT_STRING_MAX], data[IKT_STRING_MAX], only[IKT_STRING_MAX];
    int64_t ranks;
    bool list, report, retry, any_build;
} options;

static const char explanation[] =
    "STUDY.yaml names data sets, methods (settings, and lists of values that settings take),\n"
    "seeds and measures; every combination is a run. The studies of the Isolation kernel paper\n"
    "are in config/studies/, and docs/studies.md explains the file.\n"
    "\n"
    "The folder of results holds results.csv, to which a line is added when a run ends, best/\n"
    "with the best embeddings, data/ with the generated sets, and report/ with report.html and\n"
    "report.md. The same command goes on where a study was stopped. It may be given to any\n"
    "number of jobs at once, such as those of a Slurm array, which then share the runs.\n";

/* Prints the runs; or makes them, and the report. */
static ikt_status make(ikt_context *ctx, const ikt_study_plan *plan, const options *o) {
    char text[IKT_STRING_MAX];
    for (int64_t r = 0; o->list && r < plan->n_runs && ikt_rank(ctx) == 0; r++) {
        ikt_study_run_name(plan, &plan->run[r], text, sizeof text);
        printf("%016" PRIx64 "  %s\n", plan->run[r].id, text);
    }
    if (o->list) return IKT_OK;
    if (!o->report) IKT_TRY(ikt_study_execute_all(ctx, plan, o->ranks, o->retry));
    IKT_TRY(ikt_study_report(ctx, plan, text));
    if (ikt_rank(ctx) == 0) printf("%s\n", text);
    return IKT_OK;
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    options o;
    const ikt_option table[] = {
        {"output", IKT_TEXT("FOLDER", "", o.output),
         "The folder of the results; without it NAME-results in the current folder, where the "
         "study is NAME.yaml"},
        {"data", IKT_TEXT("FOLDERS", "", o.data),
         "The folders in which data sets are looked for, separated by colons; the folder of "
         "STUDY.yaml comes last"},
        {"only", IKT_TEXT("NAMES", "", o.only),
         "The data sets to take, by the names that they have in the study, separated by commas"},
        {"ranks", IKT_KEY_INT, "N", "1", 1, 1e6, NULL, &o.ranks,
         "The number of ranks that make a run together; all ranks are divided into such groups"},
        {"retry", IKT_FLAG(&o.retry), "Repeat the runs that failed"},
        {"any-build", IKT_FLAG(&o.any_build),
         "Take results of other builds of the program as they are, and do not make them anew; the "
         "report tells which build made how many"},
        {"report", IKT_FLAG(&o.report),
         "Write the report on the runs that are done, and make no run"},
        {"list", IKT_FLAG(&o.list), "Print the runs, and do nothing else"},
        {0}};
    const char *positional[1];
    bool help;
    ikt_study study;
    ikt_study_plan plan;
    IKT_TRY(
        ikt_options_parse(ctx, &ikt_verb_study, table, argc, argv, positional, 1, 1, NULL, &help));
    if (help) {
        ikt_help more = ikt_help_begin(ctx, &ikt_verb_study, argc, argv);
        ikt_help_heading(&more, "the study and its results", "");
        ikt_help_verbatim(&more, explanation);
        return ikt_help_end(&more);
    }
    ikt_study_places places = {
        .output = o.output, .only = ikt_text_or(o.only, NULL), .any_build = o.any_build};
    for (char *list = o.data; *list && places.folders < IKT_STUDY_FOLDERS;) {
        char *end = list + strcspn(list, ":");
        if (end != list) places.folder[places.folders++] = list;
        list = *end ? end + 1 : end;
        *end = '\0';
    }
    IKT_TRY(ikt_study_read(ctx, positional[0], &study));
    if (!o.output[0]) snprintf(o.output, sizeof o.output, "%.60s-results", study.name);
    ikt_status st = ikt_study_plan_make(ctx, &study, &places, &plan);
    if (st == IKT_OK) st = make(ctx, &plan, &o);
    ikt_study_plan_destroy(&plan);
    ikt_study_destroy(&study);
    return st;
}

const ikt_verb ikt_verb_study = {"study", "STUDY.yaml [options]",
                                 "Make many runs from one file and report on them",
                                 "The report has tables, curves and pictures", run};
