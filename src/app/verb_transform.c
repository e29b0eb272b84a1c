/* iktsne transform: new rows into a finished embedding. */
#include <stdio.h>
#include <string.h>

#include "app/print.h"
#include "app/settings_read.h"
#include "app/verb.h"
#include "base/files.h"
#include "base/log.h"
#include "transform/transform.h"

typedef struct {
    char dataset[IKT_STRING_MAX], labels[IKT_STRING_MAX], picture[IKT_STRING_MAX];
    ikt_transform_request request;
    bool overwrite, json;
    const char *path[3]; /* model, new rows, output */
} command;

static void print_json(ikt_context *ctx, const ikt_transformed *done, const ikt_run_cost *cost) {
    ikt_json json = {stdout, 0, false};
    ikt_json_begin(&json, NULL, '{');
    ikt_json_int(&json, "rows", done->rows.n);
    ikt_json_int(&json, "ranks", ikt_size(ctx));
    ikt_json_int(&json, "threads", ikt_threads(ctx));
    ikt_json_hash(&json, "hash", done->hash);
    ikt_facts_json(&json, done->facts);
    if (!ikt_transform_projects(&done->loaded))
        ikt_json_int(&json, "rows_still_moving", done->unsettled);
    ikt_memory_json(&json, cost, done->predicted_bytes);
    ikt_times_json(&json, cost);
    ikt_json_end(&json, '}');
}

static ikt_status print_text(ikt_context *ctx, const command *w, const ikt_transformed *done,
                             const ikt_run_cost *cost) {
    const ikt_status st =
        ikt_transform_summary_print(ctx, done, cost, w->path[0], w->path[2], w->picture);
    if (ikt_log_is_verbose(ctx)) {
        ikt_times_print(cost, ikt_size(ctx));
        printf("\n");
        ikt_memory_print(cost, done->predicted_bytes);
    }
    printf("embedding hash   %016llx\n", (unsigned long long)done->hash);
    return st;
}

static ikt_status print(ikt_context *ctx, const command *w, const ikt_transformed *done) {
    ikt_run_cost cost;
    ikt_status st = IKT_OK;
    ikt_run_cost_collect(ctx, &cost);
    ikt_cost_log(ctx, &cost, done->predicted_bytes);
    if (ikt_rank(ctx) == 0 && w->json) print_json(ctx, done, &cost);
    if (ikt_rank(ctx) == 0 && !w->json) st = print_text(ctx, w, done, &cost);
    return ikt_agree(ctx, st);
}

static ikt_status transform(ikt_context *ctx, const command *w, ikt_transformed *done) {
    IKT_IN_STAGE(ctx, IKT_STAGE_TOTAL);
    IKT_TRY(ikt_transform_run(ctx, &w->request, done));
    IKT_TRY(ikt_transform_accuracy(ctx, done));
    IKT_TRY(ikt_transform_write(ctx, &w->request, done, w->path[2], w->overwrite));
    return w->picture[0] ? ikt_transform_picture(ctx, done, w->picture, w->overwrite) : IKT_OK;
}

/* Names that cannot be written are refused before the work. */
static ikt_status check_files(ikt_context *ctx, command *w) {
    ikt_files files = {.ctx = ctx};
    if (strcmp(w->picture, "none") == 0) w->picture[0] = '\0';
    if (strcmp(w->picture, "auto") == 0)
        IKT_TRY(ikt_name_after(ctx, w->path[2], ".png", w->picture));
    ikt_files_add(&files, IKT_FILE_READ, "MODEL.h5", w->path[0]);
    ikt_files_add(&files, IKT_FILE_READ, "NEW.h5", w->path[1]);
    ikt_files_add(&files, IKT_FILE_READ, "--labels", w->labels);
    ikt_files_add_hdf5(&files, IKT_FILE_WRITTEN, "OUT.h5", w->path[2], ".h5", true);
    ikt_files_add_picture(&files, "--picture", w->picture);
    IKT_TRY(ikt_files_check(&files));
    IKT_TRY(ikt_inputs_check(ctx, w->path, 2));
    IKT_TRY(ikt_atomic_check(ctx, w->path[2], w->overwrite));
    return w->picture[0] ? ikt_atomic_check_stream(ctx, w->picture, w->overwrite) : IKT_OK;
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    command w = {.request = {.dataset = w.dataset, .labels = w.labels}};
    bool help;
    char writes[2 * IKT_STRING_MAX];
    const ikt_option options[] = {
        {"dataset", IKT_TEXT("NAME", "", w.dataset),
         "The data set of the new rows; by default it has the name that input.dataset had in the "
         "run of the model, and of safetensors without one of that name it is what embed takes"},
        {"labels", IKT_TEXT("NAME", "", w.labels),
         "The data set of their labels, which colour the picture and serve the accuracy; they are "
         "not used to place the rows. By default it has the name that input.labels had in the run "
         "of the model, if that was not a file, and it may be absent"},
        {"neighbours", IKT_KEY_INT, "K", "auto", 1, 1e6, NULL, &w.request.neighbours,
         "The number of most similar old rows that a new row is attracted to, in maps of TriMap "
         "those that it makes triplets with; auto is as many as the rows of the model had"},
        {"iterations", IKT_KEY_INT, "N", IKT_TRANSFORM_TRIALS_TEXT, 2, 1e6, NULL, &w.request.trials,
         "The most positions that are tried for a row; most rows settle after some ten"},
        {"picture", IKT_TEXT("FILE", "auto", w.picture),
         "The PNG, SVG or PDF file for a picture, in which new rows are coloured by label and old "
         "ones are grey; auto is OUT.png beside OUT.h5, and none draws no picture"},
        {"overwrite", IKT_FLAG(&w.overwrite), "Replace output files that exist"},
        {"json", IKT_FLAG(&w.json), "Print the summary as JSON"},
        {0}};
    IKT_TRY(ikt_options_parse(ctx, &ikt_verb_transform, options, argc, argv, w.path, 3, 3, NULL,
                              &help));
    if (help) return IKT_OK;
    ikt_transformed done IKT_AT_END(ikt_transformed_destroy) = {.rows = {.n = 0}};
    IKT_TRY(check_files(ctx, &w));
    w.request.model = w.path[0];
    w.request.input = w.path[1];
    w.request.writes = writes;
    snprintf(writes, sizeof writes, "%s%s%s", w.path[2], w.picture[0] ? " and " : "", w.picture);
    IKT_TRY(transform(ctx, &w, &done));
    return print(ctx, &w, &done);
}

const ikt_verb ikt_verb_transform = {
    "transform", "MODEL.h5 NEW.h5 OUT.h5 [options]",
    "Place new rows into a finished embedding, whose rows stay where they are",
    "MODEL.h5 is the output.model of `iktsne embed`. Each new row is placed independently of the "
    "others",
    run};
