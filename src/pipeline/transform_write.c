/* File and picture of rows placed into a finished embedding. */
#include "pipeline/transform_write.h"

#include <stdio.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/timer.h"
#include "config/value.h"
#include "iktsne/build.h"
#include "io/result.h"
#include "plot/plot.h"

enum { FACTS_MOST = 20 };

typedef struct {
    ikt_note fact[FACTS_MOST];
    int64_t count;
    ikt_note varying[3];
} notes;

static void add(notes *n, const char *name, const char *text) {
    ikt_note *fact = &n->fact[n->count++];
    snprintf(fact->name, sizeof fact->name, "%s", name);
    snprintf(fact->text, sizeof fact->text, "%s", text);
}

static void add_int(notes *n, const char *name, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    add(n, name, text);
}

static void add_real(notes *n, const char *name, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    add(n, name, text);
}

/* Words of a command as a shell takes them. */
static void add_word(ikt_text *text, const char *word) {
    ikt_text_add(text, " '");
    for (; *word; word++)
        ikt_text_add(text, *word == '\'' ? "'\\%c'" : "%c", *word);
    ikt_text_add(text, "'");
}

/* The command that gives the same file again; no note where it is longer than a note. */
static ikt_status add_command(ikt_context *ctx, const ikt_transform_request *request,
                              const ikt_transformed *done, notes *n) {
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
        add(n, "command", text.data);
    ikt_free(&text.data);
    return text.status;
}

static void describe(ikt_context *ctx, const ikt_transform_request *request,
                     const ikt_transformed *done, notes *n) {
    char text[128];
    add(n, "version", IKT_VERSION);
    add(n, "commit", IKT_COMMIT);
    add(n, "compiler", IKT_COMPILER " " IKT_COMPILE_FLAGS);
    add(n, "instruction_set", ikt_isa_name(ikt_cpu_isa()));
    add(n, "made_by", "iktsne transform: new rows placed into the embedding of a model");
    add(n, "model", request->model);
    add(n, "model_hash", done->loaded.hash);
    add_int(n, "model_rows", done->loaded.shape.n);
    add(n, "input", done->input_name);
    snprintf(text, sizeof text, "%lld x %lld %s", (long long)done->map.n, (long long)done->d,
             done->type);
    add(n, "input_shape", text);
    add_int(n, "neighbours", done->k);
    add_int(n, "iterations", request->trials);
    add_int(n, "rows_without_similarity", done->lonely);
    add_real(n, "mean_divergence", done->mean_divergence);
    if (done->accuracy >= 0) add_real(n, "label_accuracy_among_old_rows", done->accuracy);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)done->hash);
    add(n, "embedding_hash", text);
    n->varying[0] = (ikt_note){"ranks", ""};
    n->varying[1] = (ikt_note){"threads", ""};
    n->varying[2] = (ikt_note){"directory", "unknown"};
    snprintf(n->varying[0].text, sizeof n->varying[0].text, "%d", ikt_size(ctx));
    snprintf(n->varying[1].text, sizeof n->varying[1].text, "%d", ikt_threads(ctx));
    if (!getcwd(n->varying[2].text, sizeof n->varying[2].text))
        snprintf(n->varying[2].text, sizeof n->varying[2].text, "unknown");
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

static ikt_status write_result(ikt_context *ctx, const ikt_transformed *done, const notes *n,
                               const char *configuration, const char *path, bool overwrite) {
    const ikt_result_column columns[] = {{"divergence", IKT_COLUMN_DOUBLE, done->divergence},
                                         {"similarity", IKT_COLUMN_FLOAT, done->similarity},
                                         {"nearest", IKT_COLUMN_INT64, done->nearest}};
    const ikt_result result = {.map = done->map,
                               .q = (int)done->loaded.shape.q,
                               .embedding = done->y,
                               .labels = done->labels,
                               .label_names = done->label_names,
                               .value_name = "kl",
                               .configuration = configuration,
                               .facts = n->fact,
                               .n_facts = n->count,
                               .circumstances = n->varying,
                               .n_circumstances = 3,
                               .columns = columns,
                               .n_columns = sizeof columns / sizeof *columns};
    return ikt_result_write(ctx, path, overwrite, &result);
}

ikt_status ikt_transform_write(ikt_context *ctx, const ikt_transform_request *request,
                               const ikt_transformed *done, const char *path, bool overwrite) {
    notes *n = NULL;
    char *configuration = NULL;
    ikt_stage_begin(ctx, IKT_STAGE_WRITE);
    ikt_status st = ikt_alloc(ctx, &n, 1, sizeof *n, "provenance");
    if (st == IKT_OK) st = print_configuration(ctx, request, done, &configuration);
    if (st == IKT_OK) {
        describe(ctx, request, done, n);
        st = add_command(ctx, request, done, n);
    }
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        ikt_broadcast(ctx, n, (int64_t)sizeof *n, 0); /* HDF5 wants equal attributes */
        st = write_result(ctx, done, n, configuration, path, overwrite);
    }
    ikt_free(&n);
    ikt_free(&configuration);
    ikt_stage_end(ctx, IKT_STAGE_WRITE);
    return st;
}

ikt_status ikt_transform_picture(ikt_context *ctx, const ikt_transform_request *request,
                                 const ikt_transformed *done, const char *path, bool overwrite) {
    const ikt_row_map old = ikt_row_map_make(done->loaded.shape.n, ikt_size(ctx), ikt_rank(ctx));
    ikt_plot_settings settings = ikt_plot_defaults();
    char footer[256];
    ikt_stage_begin(ctx, IKT_STAGE_PICTURE);
    snprintf(footer, sizeof footer,
             "new rows among the %lld of the model in grey, k %lld, mean KL %.4f", (long long)old.n,
             (long long)done->k, done->mean_divergence);
    settings.overwrite = overwrite;
    settings.footer = footer;
    const ikt_plot_points points = {.map = &done->map,
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
