/* Placing new rows into a finished embedding. Read ikt_transform_run first. */
#include "transform/transform.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "affinity/affinity.h"
#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/encoding.h"
#include "base/exact_sum.h"
#include "base/log.h"
#include "base/row_hash.h"
#include "base/sort.h"
#include "base/timer.h"
#include "config/value.h"
#include "data/missing.h"
#include "dist/shuffle.h"
#include "evaluate/measure.h"
#include "evaluate/tree.h"
#include "io/sources/labels.h"
#include "objective/out_of_sample.h"
#include "pipeline/notes.h"
#include "plan/plan.h"
#include "plot/plot.h"
#include "settings/settings.h"

enum { AUTO_NEIGHBOURS = 30 };

/* --- the arrows ------------------------------------------------------------------------------- */

/* LOCAL. Lists to places. */
static ikt_status place(ikt_context *ctx, const ikt_new_lists *new, int64_t trials,
                        ikt_transformed *done) {
    const ikt_loaded_model *m = &done->loaded;
    const int64_t count = done->rows.count;
    const ikt_kernel kernel = ikt_kernel_of_degrees(m->settings.layout.degrees_of_freedom);
    ikt_field *field IKT_AT_END(ikt_field_destroy) = NULL;
    IKT_TRY_STAGE(ctx, IKT_STAGE_FFT,
                  ikt_field_create(ctx, m->y, m->shape.n, (int)m->shape.q, kernel, false, &field));
    IKT_ARRAYS(held, ctx, "embedding");
    done->y = ikt_claim_kept(&held, count * m->shape.q, sizeof *done->y);
    done->divergence = ikt_claim_kept(&held, count, sizeof *done->divergence);
    done->nearest = ikt_claim_kept(&held, count, sizeof *done->nearest);
    IKT_TRY(held.status);
    const ikt_placed old = {field, m->y, (int)m->shape.q, kernel};
    IKT_TRY(ikt_out_of_sample_place(ctx, &old, &new->lists, trials, done->y, done->divergence,
                                    &done->unsettled));
    for (int64_t i = 0; i < count; i++)
        done->nearest[i] = new->lists.row[i * done->k];
    return IKT_OK;
}

/* Neighbours of a row as the request says, or as the rows of the model had them. */
static ikt_status choose_neighbours(ikt_context *ctx, const ikt_transform_request *request,
                                    ikt_transformed *done) {
    const ikt_model_shape *s = &done->loaded.shape;
    const ikt_settings *settings = &done->loaded.settings;
    int64_t usual = settings->affinity.neighbours;
    if (usual == IKT_AUTO_INT && s->placing == IKT_PLACING_CLASSES)
        usual = ikt_affinity_of(&settings->affinity)->neighbours(&settings->affinity);
    if (usual == IKT_AUTO_INT) usual = AUTO_NEIGHBOURS;
    if (s->placing == IKT_PLACING_TRIPLETS) usual = settings->layout.own.triplet.neighbours;
    if (ikt_transform_projects(&done->loaded)) {
        if (request->neighbours == IKT_AUTO_INT) return IKT_OK;
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--neighbours would have no effect: %s is of a map of similarities (%s), "
                        "in which a new row has the place that these give it",
                        request->model, ikt_layout_objective(&settings->layout)->name);
    }
    done->k = request->neighbours;
    if (done->k == IKT_AUTO_INT) done->k = ikt_smaller(usual, s->n);
    if (done->k <= s->n) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE, "--neighbours %lld, but %s holds only %lld rows",
                    (long long)done->k, request->model, (long long)s->n);
}

/* COLLECTIVE. Refuses what does not fit in memory. */
static ikt_status check_memory(ikt_context *ctx, ikt_dataset *data, ikt_transformed *done) {
    const ikt_loaded_model *m = &done->loaded;
    const ikt_model_shape *s = &m->shape;
    const bool by_triplets = s->placing == IKT_PLACING_TRIPLETS;
    const bool projects = ikt_transform_projects(m);
    const ikt_out_of_sample_size size = {
        .n = s->n,
        .q = s->q,
        .kernel = ikt_kernel_of_degrees(m->settings.layout.degrees_of_freedom),
        .rows = ikt_rows_count(&done->rows, 0),
        .columns = s->columns,
        .k = by_triplets ? ikt_new_triplets_lists(m, done->k) : done->k,
        .near = by_triplets ? done->k : 0,
        .far = by_triplets ? ikt_new_triplets_far(s->n) : 0,
        .is_u8 = ikt_dataset_is_u8(data),
        .model = m->model ? m->model->spec : (ikt_model_spec){.t = 0},
        .references = ikt_new_rows_distance_memory(s, ikt_threads(ctx)),
        .by_classes = projects ? ikt_new_rows_project_memory(s)
                      : s->placing == IKT_PLACING_CLASSES
                          ? ikt_new_class_lists_memory(s, (s->n - 1) / ikt_size(ctx) + 1,
                                                       ikt_rows_count(&done->rows, 0), done->k,
                                                       ikt_threads(ctx))
                          : 0,
        .span = by_triplets || projects ? 0 : ikt_map_width(ctx, m->y, s->q, s->n),
        .threads = ikt_threads(ctx)};
    const ikt_memory_plan plan = ikt_memory_plan_out_of_sample(&size, ikt_memory_resident_peak());
    done->predicted_bytes = ikt_max_one(ctx, plan.peak);
    return ikt_memory_plan_check(ctx, &plan);
}

/* COLLECTIVE. Lists to places by the rows' own divergences. */
static ikt_status place_by_divergence(ikt_context *ctx, ikt_dataset *data, int64_t trials,
                                      ikt_transformed *done) {
    ikt_new_lists new IKT_AT_END(ikt_new_lists_destroy) = {.similarity = NULL};
    const ikt_loaded_model *m = &done->loaded;
    IKT_TRY(m->shape.placing == IKT_PLACING_CLASSES
                ? ikt_new_class_lists_find(ctx, m, data, &done->rows, done->k, &new)
                : ikt_new_lists_find(ctx, m, data, &done->rows, done->k, NULL, &new));
    done->zero_similarity = new.zero_similarity;
    done->cells = new.cells;
    done->similarity = new.similarity;
    new.similarity = NULL;
    IKT_IN_STAGE(ctx, IKT_STAGE_LAYOUT);
    return ikt_agree(ctx, place(ctx, &new, trials, done));
}

/* COLLECTIVE. Numbers of a row, or of the model, that are far too large overflow on the way. */
static ikt_status check_places(ikt_context *ctx, const ikt_transformed *done) {
    const int64_t q = done->loaded.shape.q;
    ikt_status st = IKT_OK;
    for (int64_t e = 0; st == IKT_OK && e < done->rows.count * q; e++)
        if (!isfinite(done->y[e]))
            st = ikt_fail(ctx, IKT_ERR_DATA,
                          "row %lld of %s has no place in the map of %s: numbers of either are too "
                          "large for distances between them",
                          (long long)(done->rows.first + e / q), done->input_name,
                          ikt_model_file_path(done->loaded.file));
    return ikt_agree(ctx, st);
}

static ikt_status transform(ikt_context *ctx, const ikt_transform_request *request,
                            ikt_source *source, ikt_dataset *data, ikt_transformed *done) {
    const bool by_triplets = done->loaded.shape.placing == IKT_PLACING_TRIPLETS;
    IKT_TRY(choose_neighbours(ctx, request, done));
    IKT_TRY(check_memory(ctx, data, done));
    IKT_TRY(ikt_new_labels_read(ctx, request, source, done));
    const bool projects = ikt_transform_projects(&done->loaded);
    IKT_TRY(projects      ? ikt_new_rows_project(ctx, data, done)
            : by_triplets ? ikt_new_triplets_place(ctx, data, request->trials, done)
                          : place_by_divergence(ctx, data, request->trials, done));
    IKT_TRY(check_places(ctx, done));
    IKT_TRY_STAGE(ctx, IKT_STAGE_NEIGHBOURS, ikt_new_rows_distances(ctx, data, done));
    done->unsettled = ikt_sum_one(ctx, done->unsettled);
    if (!projects)
        done->mean_divergence =
            ikt_exact_total(ctx, done->divergence, done->rows.count) / (double)done->rows.n;
    if (done->zero_similarity > 0)
        ikt_log_numbers(
            ctx, IKT_LOG_WARN, IKT_LOG_NUMBERS(IKT_LOG_INT("rows", done->zero_similarity)),
            "%lld rows share no cell with any old row (similarity 0 in the output): they lie "
            "where the embedding has nothing, and were put to the rows of their nearest centre",
            (long long)done->zero_similarity);
    if (done->unsettled > 0)
        ikt_log_numbers(ctx, IKT_LOG_STAGE, IKT_LOG_NUMBERS(IKT_LOG_INT("rows", done->unsettled)),
                        "%lld rows were still moving at the last iteration",
                        (long long)done->unsettled);
    done->hash = ikt_row_hash(ctx, done->y, done->rows.first, done->rows.count,
                              (size_t)done->loaded.shape.q * sizeof *done->y);
    return IKT_OK;
}

/* COLLECTIVE. Opens the new rows, with their columns in the order of those of the model where both
 * have names for them. */
static ikt_status open_rows(ikt_context *ctx, const ikt_transform_request *request,
                            const ikt_transformed *done, ikt_source **source) {
    const ikt_loaded_model *model = &done->loaded;
    ikt_source *ordered;
    char whose[IKT_PATH_MAX + 32];
    snprintf(whose, sizeof whose, "the rows of %s", ikt_model_file_path(model->file));
    IKT_TRY(
        ikt_input_open_like(ctx, &model->settings.input, request->input, done->dataset, source));
    IKT_TRY(ikt_source_order_columns(ctx, *source, true, model->column_names, whose, &ordered));
    if (!ordered) return IKT_OK;
    ikt_log(ctx, IKT_LOG_STAGE, "%s: columns are taken by their names, in the order of %s",
            ikt_source_name(ordered), whose);
    *source = ordered;
    return IKT_OK;
}

/* COLLECTIVE. Rows without missing values in place of `*source`, or on top of `given` ones, which
 * are treated as those of the model were. */
static ikt_status look_past_missing(ikt_context *ctx, const ikt_loaded_model *model,
                                    ikt_source *given, ikt_source **source) {
    const ikt_missing how = (ikt_missing)model->settings.preprocess.missing;
    ikt_source *without = NULL;
    if (how == IKT_MISSING_DROP || (how != IKT_MISSING_REFUSE && !model->fill)) return IKT_OK;
    ikt_status st = ikt_missing_open(ctx, ikt_source_or(given, *source), given == NULL, how,
                                     model->fill, &without);
    if (without) *source = without;
    return st;
}

/* Names that were not given are those of the model's rows. Labels of another file are of those rows
 * only. */
static void choose_names(const ikt_transform_request *request, ikt_transformed *done) {
    const ikt_input_settings *own = &done->loaded.settings.input;
    const char *labels = own->labels[strcspn(own->labels, ":.")] ? "labels" : own->labels;
    snprintf(done->dataset, sizeof done->dataset, "%s",
             ikt_text_or(request->dataset, own->dataset));
    snprintf(done->labels_name, sizeof done->labels_name, "%s",
             ikt_text_or(request->labels, labels));
}

/* COLLECTIVE. From the model that was loaded and the files of the request. */
static ikt_status open_and_transform(ikt_context *ctx, const ikt_transform_request *request,
                                     ikt_transformed *done) {
    ikt_source *opened IKT_AT_END(ikt_source_close) = NULL;
    ikt_dataset *data IKT_AT_END(ikt_dataset_destroy) = NULL;
    choose_names(request, done);
    if (!request->given && !(request->dataset && request->dataset[0]))
        IKT_TRY(ikt_source_adopt(ctx, request->input, done->dataset));
    if (!request->given) IKT_TRY(open_rows(ctx, request, done, &opened));
    IKT_TRY(look_past_missing(ctx, &done->loaded, request->given, &opened));
    ikt_source *source = ikt_source_or(opened, request->given);
    IKT_TRY(ikt_loaded_model_dataset(ctx, &done->loaded, source, &data));
    strncat(done->input_name, ikt_source_name(source), sizeof done->input_name - 1);
    done->d = ikt_source_columns(source);
    done->type = ikt_type_name(ikt_source_type(source));
    done->rows = ikt_rows_make(ikt_source_rows(source), ikt_size(ctx), ikt_rank(ctx));
    ikt_log_numbers(ctx, IKT_LOG_STAGE,
                    IKT_LOG_NUMBERS(IKT_LOG_INT("rows", done->rows.n),
                                    IKT_LOG_INT("columns", done->d),
                                    IKT_LOG_INT("model_rows", done->loaded.shape.n)),
                    "reading %s (%lld rows x %lld columns, %s) and %s (%lld rows)%s%s",
                    done->input_name, (long long)done->rows.n, (long long)done->d, done->type,
                    request->model, (long long)done->loaded.shape.n,
                    request->writes ? ", will write " : "", request->writes ? request->writes : "");
    return transform(ctx, request, source, data, done);
}

ikt_status ikt_transform_run(ikt_context *ctx, const ikt_transform_request *request,
                             ikt_transformed *out) {
    memset(out, 0, sizeof *out);
    out->accuracy = -1;
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    ikt_status st = ikt_model_load(ctx, request->model, &out->loaded);
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st == IKT_OK) st = open_and_transform(ctx, request, out);
    if (st != IKT_OK) ikt_transformed_destroy(out);
    return st;
}

void ikt_transformed_destroy(ikt_transformed *done) {
    ikt_loaded_model_destroy(&done->loaded);
    ikt_free_all(&done->y, &done->divergence, &done->similarity, &done->nearest, &done->distance,
                 &done->is_far, &done->labels, &done->label_names, &done->facts);
}

bool ikt_transform_projects(const ikt_loaded_model *loaded) {
    return loaded->shape.placing == IKT_PLACING_PROJECTION;
}

/* --- file and picture ------------------------------------------------------------------------- */

/* What `divergence` is of the rows of that model. */
static const char *value_name(const ikt_loaded_model *loaded) {
    return loaded->shape.placing == IKT_PLACING_TRIPLETS ? "cost" : "divergence";
}

static void add_word(ikt_text *text, const char *word) {
    char shown[4 * IKT_STRING_MAX];
    ikt_text_add(text, " %s", ikt_shell_word(word, shown, sizeof shown));
}

/* The command that gives the same file again; no note where it is longer than a note. */
static ikt_status add_command(ikt_context *ctx, const ikt_transform_request *request,
                              const ikt_transformed *done, ikt_notes *n) {
    ikt_text text = {ctx, NULL, 0, 0, IKT_OK};
    ikt_text_add(&text, "iktsne transform");
    add_word(&text, request->model);
    add_word(&text, request->input);
    ikt_text_add(&text, " OUT.h5");
    if (!ikt_transform_projects(&done->loaded))
        ikt_text_add(&text, " --neighbours %lld --iterations %lld", (long long)done->k,
                     (long long)request->trials);
    ikt_text_add(&text, " --dataset");
    add_word(&text, done->dataset);
    ikt_text_add(&text, " --labels");
    add_word(&text, done->labels_name);
    if (text.status == IKT_OK && text.length < (int64_t)sizeof n->fact->text)
        ikt_note_fact(n, "command", "%s", text.data);
    ikt_free(&text.data);
    return text.status;
}

static void describe(const ikt_transform_request *request, const ikt_transformed *done,
                     ikt_notes *n) {
    ikt_notes_program(n);
    ikt_note_fact(n, "instruction_set", "%s", ikt_isa_name(ikt_cpu_isa()));
    ikt_note_fact(n, "made_by", "iktsne transform: new rows placed into the embedding of a model");
    ikt_note_fact(n, "model", "%s", request->model);
    ikt_note_fact(n, "model_hash", "%s", done->loaded.hash);
    ikt_note_int(n, "model_rows", done->loaded.shape.n);
    ikt_note_fact(n, "input", "%s", done->input_name);
    ikt_note_fact(n, "input_shape", "%lld x %lld %s", (long long)done->rows.n, (long long)done->d,
                  done->type);
    ikt_note_cells(n, &done->cells);
    if (!ikt_transform_projects(&done->loaded)) {
        char mean[32];
        ikt_note_int(n, "neighbours", done->k);
        ikt_note_int(n, "iterations", request->trials);
        ikt_note_int(n, "rows_without_similarity", done->zero_similarity);
        snprintf(mean, sizeof mean, "mean_%s", value_name(&done->loaded));
        ikt_note_reals(n, mean, &done->mean_divergence, 1);
    }
    if (done->has_distance) ikt_note_int(n, "rows_far", done->far);
    if (done->accuracy >= 0) ikt_note_reals(n, "label_accuracy_among_old_rows", &done->accuracy, 1);
    ikt_note_hash(n, "embedding_hash", done->hash);
}

/* LOCAL. The settings of the run that made the model, with the new input. */
static ikt_status print_configuration(ikt_context *ctx, const ikt_transform_request *request,
                                      const ikt_transformed *done, char **text) {
    ikt_settings settings = done->loaded.settings;
    ikt_input_settings *input = &settings.input;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    snprintf(input->file, sizeof input->file, "%s", request->input);
    snprintf(input->dataset, sizeof input->dataset, "%s", done->dataset);
    snprintf(input->labels, sizeof input->labels, "%s", done->labels_name);
    input->rows = IKT_AUTO_INT;
    input->similarities[0] = '\0'; /* which the new rows have with the support alone */
    settings.output.file[0] = settings.output.picture[0] = settings.output.model[0] = '\0';
    ikt_settings_parts(&settings, parts);
    return ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, text);
}

ikt_status ikt_transform_write(ikt_context *ctx, const ikt_transform_request *request,
                               ikt_transformed *done, const char *path, bool overwrite) {
    ikt_result_column columns[5] = {{"similarity", IKT_COLUMN_FLOAT, done->similarity},
                                    {"nearest", IKT_COLUMN_INT64, done->nearest}};
    int n_columns = 2;
    if (!ikt_transform_projects(&done->loaded))
        columns[n_columns++] =
            (ikt_result_column){value_name(&done->loaded), IKT_COLUMN_DOUBLE, done->divergence};
    if (done->has_distance) {
        columns[n_columns++] = (ikt_result_column){"distance", IKT_COLUMN_FLOAT, done->distance};
        columns[n_columns++] = (ikt_result_column){"is_far", IKT_COLUMN_INT64, done->is_far};
    }
    const int64_t placing = done->loaded.shape.placing;
    char *configuration IKT_AT_END(ikt_free) = NULL;
    IKT_IN_STAGE(ctx, IKT_STAGE_WRITE);
    IKT_TRY(ikt_alloc_all(ctx, &done->facts, 1, sizeof *done->facts, "provenance"));
    ikt_notes *n = done->facts;
    describe(request, done, n);
    IKT_TRY(ikt_agree(ctx, add_command(ctx, request, done, n)));
    IKT_TRY(ikt_agree(ctx, print_configuration(ctx, request, done, &configuration)));
    ikt_notes_share(ctx, n);
    const ikt_result result = {
        .rows = done->rows,
        .q = (int)done->loaded.shape.q,
        .embedding = done->y,
        .labels = done->labels,
        .label_names = done->label_names,
        .value_name =
            placing == IKT_PLACING_TRIPLETS || placing == IKT_PLACING_PROJECTION ? "cost" : "kl",
        .configuration = configuration,
        .facts = n->fact,
        .n_facts = n->n_facts,
        .circumstances = n->circumstance,
        .n_circumstances = n->n_circumstances,
        .columns = columns,
        .n_columns = n_columns};
    return ikt_result_write(ctx, path, overwrite, &result);
}

ikt_status ikt_transform_picture(ikt_context *ctx, const ikt_transformed *done, const char *path,
                                 bool overwrite) {
    const ikt_rows old = ikt_rows_make(done->loaded.shape.n, ikt_size(ctx), ikt_rank(ctx));
    const bool by_triplets = done->loaded.shape.placing == IKT_PLACING_TRIPLETS;
    ikt_plot_settings settings = ikt_plot_defaults();
    char footer[256];
    IKT_IN_STAGE(ctx, IKT_STAGE_PICTURE);
    if (ikt_transform_projects(&done->loaded))
        snprintf(footer, sizeof footer, "new rows among the %lld of the model in grey",
                 (long long)old.n);
    else
        snprintf(footer, sizeof footer,
                 "new rows among the %lld of the model in grey, k %lld, mean %s %.4f",
                 (long long)old.n, (long long)done->k, by_triplets ? "cost" : "KL",
                 done->mean_divergence);
    settings.overwrite = overwrite;
    settings.footer = footer;
    const ikt_plot_points points = {.rows = &done->rows,
                                    .q = (int)done->loaded.shape.q,
                                    .y = done->y,
                                    .labels = done->labels,
                                    .column = done->labels_name,
                                    .class_names = done->label_names,
                                    .behind = done->loaded.y + done->loaded.shape.q * old.first,
                                    .n_behind = old.count};
    return ikt_plot_embedding(ctx, &settings, &points, path);
}
