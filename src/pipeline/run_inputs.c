/* What a run has read. See pipeline.h. */
#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/row_hash.h"
#include "base/timer.h"
#include "pipeline/pipeline.h"

/* The next entry of the list, with a name, whose checksum is to be written. */
static ikt_run_input *add(ikt_run *run, const char *role, ikt_input_reach reach, const char *name) {
    ikt_run_input *input = &run->input[run->n_inputs++];
    *input = (ikt_run_input){.role = role, .reach = reach};
    /* Rows, graph and the classes that weigh neighbours stand first, without their role. */
    for (int f = 0; f < IKT_INPUT_ROLES; f++)
        input->is_by_role |= strcmp(role, ikt_input_roles[f]) == 0;
    snprintf(input->name, sizeof input->name, "%s", name);
    return input;
}

/* COLLECTIVE. Rows, and a graph or a matrix in their place or beside them. */
static ikt_status add_data(ikt_context *ctx, ikt_source *source, ikt_run *run) {
    const ikt_settings *settings = &run->settings;
    const char *role = settings->input.similarities[0] ? "input.similarities" : "input.file";
    const char *of_rows = "";
    if (source) {
        ikt_run_input *rows = add(run, role, IKT_REACHES_P, ikt_source_name(source));
        IKT_TRY(ikt_fingerprint_input(ctx, source, rows->checksum));
        /* The checksum of a graph names them, too. */
        if (run->graph.n > 0) rows->reach = IKT_REACHES_NOTHING;
        of_rows = rows->checksum;
    }
    if (run->graph.n == 0) return IKT_OK;
    ikt_run_input *graph = add(run, "input.graph", IKT_REACHES_P, run->graph.name);
    return ikt_graph_fingerprint(ctx, settings, of_rows, graph->checksum);
}

/* COLLECTIVE. The classes that weigh the neighbours, where the affinity follows labels. */
static ikt_status add_classes(ikt_context *ctx, ikt_run *run) {
    const ikt_affinity_settings *affinity = &run->settings.affinity;
    const ikt_affinity *kind = ikt_affinity_of(affinity);
    uint64_t hash;
    if (kind->scores != IKT_SCORES_CLASSES) return IKT_OK;
    IKT_TRY(
        ikt_class_rows_hash(ctx, &run->settings, &run->rows, run->labels, run->label_names, &hash));
    ikt_run_input *classes = add(run, kind->file_key, IKT_REACHES_P, ikt_affinity_file(affinity));
    snprintf(classes->checksum, IKT_INPUT_TEXT, "labels %016llx", (unsigned long long)hash);
    return IKT_OK;
}

/* COLLECTIVE. All labels, on which the map depends where objective or start need them. */
static ikt_status add_labels(ikt_context *ctx, ikt_run *run) {
    const char *names = run->label_names;
    const bool is_needed = ikt_layout_labels_key(&run->settings.layout) != NULL;
    /* A rank without rows may hold no labels either: all ranks take the same path. */
    if (ikt_max_one(ctx, run->labels != NULL) == 0) return IKT_OK;
    uint64_t hash =
        ikt_row_hash(ctx, run->labels, run->rows.first, run->rows.count, sizeof *run->labels);
    if (names) hash = ikt_hash_bytes(names, strlen(names), hash);
    ikt_run_input *labels =
        add(run, "input.labels", is_needed ? IKT_REACHES_MAP : IKT_REACHES_NOTHING,
            run->settings.input.labels);
    snprintf(labels->checksum, IKT_INPUT_TEXT, "hash %016llx", (unsigned long long)hash);
    return IKT_OK;
}

/* COLLECTIVE. The rows that centres are drawn from, and by whose statistics all are normalised. */
static ikt_status add_model_rows(ikt_context *ctx, ikt_run *run) {
    const ikt_isolation_settings *isolation = &run->settings.isolation;
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    if (!isolation->model_from[0]) return IKT_OK;
    IKT_TRY(ikt_source_open(ctx, isolation->model_from, isolation->model_dataset, 0, &source));
    ikt_run_input *rows = add(run, "isolation.model_from", IKT_REACHES_P, ikt_source_name(source));
    return ikt_fingerprint_input(ctx, source, rows->checksum);
}

/* COLLECTIVE. The text that the settings were read from. */
static ikt_status add_configuration(ikt_context *ctx, ikt_run *run) {
    const char *path = run->settings.run.configuration;
    int64_t is_file = ikt_rank(ctx) == 0 && path[0] && ikt_input_check(ctx, path) == IKT_OK;
    uint64_t hash;
    ikt_clear(ctx); /* a pipe is read once */
    ikt_broadcast(ctx, &is_file, (int64_t)sizeof is_file, 0);
    if (!is_file) return IKT_OK;
    IKT_TRY(ikt_file_hash(ctx, path, &hash));
    ikt_run_input *text = add(run, "configuration", IKT_REACHES_NOTHING, path);
    snprintf(text->checksum, IKT_INPUT_TEXT, "hash of the bytes %016llx", (unsigned long long)hash);
    return IKT_OK;
}

/* COLLECTIVE. The positions to start from, where they are a file's. */
static ikt_status add_start(ikt_context *ctx, ikt_run *run) {
    const ikt_layout_settings *layout = &run->settings.layout;
    const char *path = ikt_layout_start_file(layout);
    if (!path[0]) return IKT_OK;
    ikt_run_input *start = add(run, "layout.init_file", IKT_REACHES_MAP, path);
    return ikt_start_file_fingerprint(ctx, layout, &run->rows, start->checksum);
}

/* LOCAL. The checksums of what reaches so far. */
static void compose(const ikt_run *run, ikt_input_reach least, char text[IKT_INPUTS_TEXT]) {
    text[0] = '\0';
    for (int i = 0; i < run->n_inputs; i++) {
        const ikt_run_input *input = &run->input[i];
        if (input->reach < least) continue;
        if (input->is_by_role)
            ikt_join(text, IKT_INPUTS_TEXT, "", "; %s %s", input->role, input->checksum);
        else
            ikt_join(text, IKT_INPUTS_TEXT, ", ", "%s", input->checksum);
    }
}

ikt_status ikt_run_inputs_note(ikt_context *ctx, ikt_source *source, ikt_run *run) {
    IKT_IN_STAGE(ctx, IKT_STAGE_READ);
    IKT_TRY(add_data(ctx, source, run));
    IKT_TRY(add_classes(ctx, run));
    IKT_TRY(add_labels(ctx, run));
    IKT_TRY(add_model_rows(ctx, run));
    IKT_TRY(add_start(ctx, run));
    IKT_TRY(add_configuration(ctx, run));
    compose(run, IKT_REACHES_MAP, run->input_fingerprint);
    return IKT_OK;
}

void ikt_run_inputs_of_graph(const ikt_run *run, char text[IKT_INPUTS_TEXT]) {
    compose(run, IKT_REACHES_P, text);
}
