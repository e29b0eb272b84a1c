/* What a kept graph is. See info.h. */
#include "app/info.h"

#include <stdio.h>

#include "app/json.h"
#include "base/comm.h"
#include "base/memory.h"

/* Attributes of the file that are shown, in this order. */
static const char *const texts[] = {"version", "input", "neighbour_label_accuracy",
                                    "neighbour_similarity", "neighbours_found"};
static const char *const numbers[] = {"seed", "psi", "pool", "rows_without_similarity",
                                      "recall_sample"};

enum { TEXTS = sizeof texts / sizeof *texts, NUMBERS = sizeof numbers / sizeof *numbers };

static const char *start_name(const ikt_graph_file *file) {
    int64_t q;
    static const char *const names[] = {[IKT_GRAPH_START_NONE] = "none",
                                        [IKT_GRAPH_START_PCA] = "principal components",
                                        [IKT_GRAPH_START_LANDMARK] = "places among landmarks"};
    return names[ikt_graph_file_start(file, &q)];
}

static ikt_status print_text(const ikt_graph_file *file, const char *name, ikt_json *json) {
    char *text = NULL;
    IKT_TRY(ikt_graph_file_text(file, name, &text));
    if (text && json) ikt_json_text(json, name, text);
    if (text && !json) printf("  %-28s %s\n", name, text);
    ikt_free(&text);
    return IKT_OK;
}

static ikt_status print_attributes(const ikt_graph_file *file, ikt_json *json) {
    for (int t = 0; t < TEXTS; t++)
        IKT_TRY(print_text(file, texts[t], json));
    for (int i = 0; i < NUMBERS; i++) {
        int64_t value;
        if (!ikt_graph_file_int(file, numbers[i], &value)) continue;
        if (json) ikt_json_int(json, numbers[i], value);
        if (!json) printf("  %-28s %lld\n", numbers[i], (long long)value);
    }
    return json ? print_text(file, "settings", json) : IKT_OK;
}

static ikt_status print_json(const ikt_graph_file *file, bool labels) {
    ikt_json json = {stdout, 0, false};
    ikt_json_begin(&json, NULL, '{');
    ikt_json_text(&json, "kind", "graph");
    ikt_json_int(&json, "rows", ikt_graph_file_rows(file));
    ikt_json_int(&json, "entries", ikt_graph_file_entries(file));
    ikt_json_bool(&json, "ordered", ikt_graph_file_is_ordered(file));
    ikt_json_text(&json, "start", start_name(file));
    ikt_json_bool(&json, "labels", labels);
    ikt_status st = print_attributes(file, &json);
    ikt_json_end(&json, '}');
    return st;
}

static ikt_status print_all(const ikt_graph_file *file, bool labels) {
    char *settings = NULL;
    printf("%s: graph of %lld rows, %lld entries p_j|i, kept by a run, %s labels\n",
           ikt_graph_file_name(file), (long long)ikt_graph_file_rows(file),
           (long long)ikt_graph_file_entries(file), labels ? "with" : "without");
    printf("  %-28s %s\n", "order of the rows",
           ikt_graph_file_is_ordered(file) ? "by coarse cells" : "that of the input");
    printf("  %-28s %s\n", "start", start_name(file));
    IKT_TRY(print_attributes(file, NULL));
    IKT_TRY(ikt_graph_file_text(file, "settings", &settings));
    if (settings) printf("made with\n%s", settings);
    ikt_free(&settings);
    return IKT_OK;
}

static ikt_status print_configuration(const ikt_graph_file *file) {
    char *settings = NULL;
    IKT_TRY(ikt_graph_file_text(file, "settings", &settings));
    if (settings) fputs(settings, stdout);
    ikt_free(&settings);
    return IKT_OK;
}

ikt_status ikt_info_graph(ikt_context *ctx, const ikt_graph_file *file, bool configuration,
                          bool as_json) {
    int64_t label;
    bool labels;
    char *names = NULL;
    ikt_status st = ikt_graph_file_labels(file, "labels", 0, 1, &label, &labels, &names);
    ikt_free(&names);
    IKT_TRY(st);
    if (ikt_rank(ctx) == 0)
        st = configuration ? print_configuration(file)
             : as_json     ? print_json(file, labels)
                           : print_all(file, labels);
    return ikt_agree(ctx, st);
}
