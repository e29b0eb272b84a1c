/* File and picture of rows placed into a finished embedding. */
#include "transform/transform_write.h"

#include <stdio.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/timer.h"
#include "config/value.h"
#include "pipeline/notes.h"
#include "plot/plot.h"

/* Words of a command as a shell takes them. */
static void add_word(ikt_text *text, const char *word) {
    ikt_text_add(text, " '");
    for (; *word; word++)
        ikt_text_add(text, *word == '\'' ? "'\\%c'" : "%c", *word);
    ikt_text_add(text, "'");
}

/* The command that gives the same file again; no note where it is longer than a note. */
static ikt_status add_command(ikt_context *ctx, const ikt_transform_request *request,
                              const ikt_transformed *done, ikt_notes *n) {
    ikt_text text = {ctx, NULL, 0, 0, IKT_OK};
    ikt_text_add(&text, "iktsne transform");
    add_word(&text, request->model);
    add_word(&text, request->input);
    ikt_text_add(&text, " OUT.h5 --neighbours %lld --iterations %lld --dataset", (long long)done->k,
                 (long long)request->trials);
    add_word(&text, request->dataset);
    ikt_text_add(&text, " --labels");
    add_word(&text, request->labels);
    if (text.status == IKT_OK && text.length < (int64_t)sizeof n->fact->text)
        ikt_note_text(n, "command", text.data);
    ikt_free(&text.data);
    return text.status;
}

static void describe(const ikt_transform_request *request, const ikt_transformed *done,
                     ikt_notes *n) {
    char text[128];
    ikt_notes_program(n);
    ikt_note_text(n, "instruction_set", ikt_isa_name(ikt_cpu_isa()));
    ikt_note_text(n, "made_by", "iktsne transform: new rows placed into the embedding of a model");
    ikt_note_text(n, "model", request->model);
    ikt_note_text(n, "model_hash", done->loaded.hash);
    ikt_note_int(n, "model_rows", done->loaded.shape.n);
    ikt_note_text(n, "input", done->input_name);
    snprintf(text, sizeof text, "%lld x %lld %s", (long long)done->rows.n, (long long)done->d,
             done->type);
    ikt_note_text(n, "input_shape", text);
    ikt_note_int(n, "neighbours", done->k);
    ikt_note_int(n, "iterations", request->trials);
    ikt_note_int(n, "rows_without_similarity", done->lonely);
    ikt_note_reals(n, "mean_divergence", &done->mean_divergence, 1);
    if (done->accuracy >= 0) ikt_note_reals(n, "label_accuracy_among_old_rows", &done->accuracy, 1);
    ikt_note_hash(n, "embedding_hash", done->hash);
}

/* The run that made the model, on the new input. */
static ikt_status print_configuration(ikt_context *ctx, const ikt_transform_request *request,
                                      const ikt_transformed *done, char **text) {
    ikt_settings settings = done->loaded.settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_input_settings *input = &settings.input;
    snprintf(input->file, sizeof input->file, "%s", request->input);
    snprintf(input->dataset, sizeof input->dataset, "%s", request->dataset);
    snprintf(input->labels, sizeof input->labels, "%s", request->labels);
    input->rows = IKT_AUTO_INT;
    settings.output.file[0] = settings.output.picture[0] = settings.output.model[0] = '\0';
    ikt_settings_parts(&settings, parts);
    return ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, text);
}

static ikt_status write_result(ikt_context *ctx, const ikt_transformed *done, const ikt_notes *n,
                               const char *configuration, const char *path, bool overwrite) {
    const ikt_result_column columns[] = {{"divergence", IKT_COLUMN_DOUBLE, done->divergence},
                                         {"similarity", IKT_COLUMN_FLOAT, done->similarity},
                                         {"nearest", IKT_COLUMN_INT64, done->nearest}};
    const ikt_result result = {.rows = done->rows,
                               .q = (int)done->loaded.shape.q,
                               .embedding = done->y,
                               .labels = done->labels,
                               .label_names = done->label_names,
                               .value_name = "kl",
                               .configuration = configuration,
                               .facts = n->fact,
                               .n_facts = n->count,
                               .circumstances = n->varying,
                               .n_circumstances = IKT_NOTES_VARYING,
                               .columns = columns,
                               .n_columns = sizeof columns / sizeof *columns};
    return ikt_result_write(ctx, path, overwrite, &result);
}

ikt_status ikt_transform_write(ikt_context *ctx, const ikt_transform_request *request,
                               const ikt_transformed *done, const char *path, bool overwrite) {
    ikt_notes *n = NULL;
    char *configuration = NULL;
    ikt_stage_begin(ctx, IKT_STAGE_WRITE);
    ikt_status st = ikt_alloc(ctx, &n, 1, sizeof *n, "provenance");
    if (st == IKT_OK) st = print_configuration(ctx, request, done, &configuration);
    if (st == IKT_OK) {
        describe(request, done, n);
        st = add_command(ctx, request, done, n);
    }
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        ikt_notes_share(ctx, n);
        st = write_result(ctx, done, n, configuration, path, overwrite);
    }
    ikt_free(&n);
    ikt_free(&configuration);
    ikt_stage_end(ctx, IKT_STAGE_WRITE);
    return st;
}

ikt_status ikt_transform_picture(ikt_context *ctx, const ikt_transform_request *request,
                                 const ikt_transformed *done, const char *path, bool overwrite) {
    const ikt_rows old = ikt_rows_make(done->loaded.shape.n, ikt_size(ctx), ikt_rank(ctx));
    ikt_plot_settings settings = ikt_plot_defaults();
    char footer[256];
    ikt_stage_begin(ctx, IKT_STAGE_PICTURE);
    snprintf(footer, sizeof footer,
             "new rows among the %lld of the model in grey, k %lld, mean KL %.4f", (long long)old.n,
             (long long)done->k, done->mean_divergence);
    settings.overwrite = overwrite;
    settings.footer = footer;
    const ikt_plot_points points = {.rows = &done->rows,
                                    .q = (int)done->loaded.shape.q,
                                    .y = done->y,
                                    .labels = done->labels,
                                    .column = request->labels,
                                    .class_names = done->label_names,
                                    .behind = done->loaded.y + done->loaded.shape.q * old.first,
                                    .n_behind = old.count};
    ikt_status st = ikt_plot_embedding(ctx, &settings, &points, path);
    ikt_stage_end(ctx, IKT_STAGE_PICTURE);
    return st;
}
