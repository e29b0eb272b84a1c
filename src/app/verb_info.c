/* iktsne info: what a file is. */
#include <stdio.h>
#include <string.h>

#include "app/info.h"
#include "app/json.h"
#include "app/option.h"
#include "app/verb.h"
#include "base/comm.h"
#include "base/memory.h"
#include "checkpoint/loop_parts.h"
#include "io/hdf5/stage_file.h"
#include "io/results/result.h"
#include "io/sources/source.h"

/* Labels and marked rows: what a data set and an embedding may both have beside their rows. */
typedef struct {
    bool labels;
    int64_t marked;
} companions;

static void print_companions(const companions *has) {
    printf(", %s labels", has->labels ? "with" : "without");
    if (has->marked > 0) printf(", %lld marked rows", (long long)has->marked);
    printf("\n");
}

static void json_companions(ikt_json *json, const companions *has) {
    ikt_json_bool(json, "labels", has->labels);
    ikt_json_int(json, "marked", has->marked);
}

typedef struct {
    ikt_json *json; /* NULL: text */
    bool varying;   /* group of the last note printed */
} printer;

static void show_note(void *self, const char *name, const char *text, bool varying) {
    printer *p = self;
    if (strcmp(name, "configuration") == 0) return; /* has a flag of its own */
    bool begins = varying && !p->varying;
    p->varying = varying;
    if (p->json) {
        if (begins) ikt_json_begin(p->json, "run", '{');
        ikt_json_text(p->json, name, text);
    } else {
        if (begins) printf("this run\n");
        printf("  %-28s %s\n", name, text);
    }
}

static void ignore_note(void *self, const char *name, const char *text, bool varying) {
    (void)self, (void)name, (void)text, (void)varying;
}

static ikt_status result_companions(ikt_result_file *file, companions *has) {
    int64_t label, *marked = NULL;
    int64_t count = ikt_result_rows(file) > 0;
    IKT_TRY(ikt_result_read_labels(file, "labels", 0, count, &label, &has->labels));
    IKT_TRY(ikt_result_read_marked(file, &marked, &has->marked));
    ikt_free(&marked);
    return IKT_OK;
}

static ikt_status show_result(ikt_context *ctx, const char *path, ikt_result_file *file,
                              bool as_json) {
    bool is_root = ikt_rank(ctx) == 0;
    ikt_json json = {stdout, 0, false};
    printer p = {as_json ? &json : NULL, false};
    companions has;
    IKT_TRY(result_companions(file, &has));
    if (is_root && as_json) {
        ikt_json_begin(&json, NULL, '{');
        ikt_json_text(&json, "kind", "embedding");
        ikt_json_int(&json, "rows", ikt_result_rows(file));
        ikt_json_int(&json, "dimensions", ikt_result_dimensions(file));
        json_companions(&json, &has);
    } else if (is_root) {
        printf("%s: embedding of %lld rows in %d dimension%s", path,
               (long long)ikt_result_rows(file), ikt_result_dimensions(file),
               ikt_result_dimensions(file) == 1 ? "" : "s");
        print_companions(&has);
    }
    ikt_status st = ikt_result_notes(file, is_root ? show_note : ignore_note, &p);
    if (is_root && as_json && p.varying) ikt_json_end(&json, '}');
    if (is_root && as_json) ikt_json_end(&json, '}');
    return st;
}

/* Of files that hold much besides; `content` of a plain one is what the first line says. */
static void print_content(const ikt_source_content *content) {
    if (strcmp(content->format, "HDF5") == 0) return;
    printf("  %-28s %s\n", "format", content->format);
    if (content->tables[0]) printf("  %-28s %s\n", "data sets", content->tables);
    if (content->labels[0]) printf("  %-28s %s\n", "labels may be", content->labels);
}

static void print_data(const ikt_source *source, const companions *has,
                       const ikt_source_content *content, bool as_json) {
    const char *type = ikt_type_name(ikt_source_type(source));
    int64_t n = ikt_source_rows(source), d = ikt_source_columns(source);
    if (!as_json) {
        printf("%s: %lld rows x %lld columns, %s", ikt_source_name(source), (long long)n,
               (long long)d, type);
        if (ikt_source_is_sparse(source))
            printf(", sparse, %lld values", (long long)ikt_source_entries(source));
        print_companions(has);
        print_content(content);
        return;
    }
    ikt_json json = {stdout, 0, false};
    ikt_json_begin(&json, NULL, '{');
    ikt_json_text(&json, "kind", "data");
    ikt_json_text(&json, "format", content->format);
    if (content->tables[0]) ikt_json_text(&json, "data_sets", content->tables);
    if (content->labels[0]) ikt_json_text(&json, "labels_may_be", content->labels);
    ikt_json_int(&json, "rows", n);
    ikt_json_int(&json, "columns", d);
    ikt_json_text(&json, "type", type);
    if (ikt_source_is_sparse(source)) ikt_json_int(&json, "values", ikt_source_entries(source));
    json_companions(&json, has);
    ikt_json_end(&json, '}');
}

static ikt_status show_data(ikt_context *ctx, const char *path, const char *dataset, bool as_json) {
    ikt_source *source = NULL;
    int64_t label, *marked = NULL;
    companions has = {false, 0};
    ikt_source_content content;
    IKT_TRY(ikt_source_open(ctx, path, dataset, 0, &source));
    ikt_source_describe(source, &content);
    ikt_status st = ikt_source_read_labels(source, "labels", 0, 1, &label, &has.labels);
    if (st == IKT_OK) st = ikt_source_read_marked(source, &marked, &has.marked);
    if (st == IKT_OK && ikt_rank(ctx) == 0) print_data(source, &has, &content, as_json);
    ikt_free(&marked);
    ikt_source_close(&source);
    return st;
}

static void print_checkpoint(const char *path, const ikt_stage_head *head, int64_t iteration,
                             bool as_json) {
    ikt_json json = {stdout, 0, false};
    if (!as_json) {
        printf("%s: checkpoint of the stage '%s'", path, head->stage);
        if (iteration >= 0) printf(", %lld iterations done", (long long)iteration);
        printf("\n  version: %s\n  build: %s\n  instruction set: %s\n  input: %s\n", head->version,
               head->build, head->isa, head->input);
        return;
    }
    ikt_json_begin(&json, NULL, '{');
    ikt_json_text(&json, "kind", "checkpoint");
    ikt_json_text(&json, "stage", head->stage);
    ikt_json_text(&json, "version", head->version);
    ikt_json_text(&json, "build", head->build);
    ikt_json_text(&json, "instruction_set", head->isa);
    ikt_json_text(&json, "input", head->input);
    if (iteration >= 0) ikt_json_int(&json, "iterations_done", iteration);
    ikt_json_end(&json, '}');
}

static ikt_status show_checkpoint(ikt_context *ctx, const char *path, bool configuration,
                                  bool as_json) {
    ikt_stage_file *file = NULL;
    int64_t number[IKT_LOOP_NUMBERS] = {-1};
    const ikt_part numbers = ikt_part_shared("numbers", IKT_PART_I64, IKT_LOOP_NUMBERS, number);
    IKT_TRY(ikt_stage_file_open(ctx, path, &file));
    const ikt_stage_head head = ikt_stage_file_head(file);
    ikt_status st = IKT_OK;
    if (strcmp(head.stage, "loop") == 0) st = ikt_stage_file_read(file, &numbers, 1);
    if (st == IKT_OK && ikt_rank(ctx) == 0) {
        if (configuration)
            fputs(head.settings, stdout);
        else
            print_checkpoint(path, &head, number[0], as_json);
    }
    ikt_stage_file_close(&file);
    return st;
}

/* COLLECTIVE. The graph that a run has kept, if the file holds one; NULL otherwise. */
static ikt_graph_file *open_kept(ikt_context *ctx, const char *path) {
    ikt_graph_file *graph = NULL;
    if (ikt_graph_file_open(ctx, path, &graph) != IKT_OK) ikt_clear(ctx);
    if (graph && !ikt_graph_file_is_kept(graph)) ikt_graph_file_close(&graph);
    return graph;
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    bool configuration, as_json, help;
    char dataset[IKT_STRING_MAX];
    const ikt_option options[] = {
        {"config", IKT_KEY_BOOL, NULL, "no", 0, 0, NULL,
         "Print the configuration that repeats the run, as YAML: `iktsne embed` with it and "
         "another "
         "output.file gives the same embedding",
         &configuration},
        {"dataset", IKT_KEY_STRING, "NAME", "X", 0, 0, NULL, "Data set to describe", dataset},
        {"json", IKT_KEY_BOOL, NULL, "no", 0, 0, NULL, "Print as JSON", &as_json}};
    const char *path;
    int count;
    IKT_TRY(ikt_options_parse(ctx, &ikt_verb_info, options, sizeof options / sizeof *options, argc,
                              argv, &path, 1, 1, &count, &help));
    if (help) return IKT_OK;
    ikt_result_file *file = NULL;
    if (ikt_stage_file_is(ctx, path)) return show_checkpoint(ctx, path, configuration, as_json);
    /* Embeddings and their configurations are in HDF5 files; what is not may be data. */
    if (!configuration && ikt_max_one(ctx, ikt_rank(ctx) == 0 && !ikt_source_is_hdf5(path)) > 0)
        return show_data(ctx, path, dataset, as_json);
    ikt_graph_file *graph = open_kept(ctx, path);
    if (graph) {
        ikt_status shown = ikt_info_graph(ctx, graph, configuration, as_json);
        ikt_graph_file_close(&graph);
        return shown;
    }
    ikt_status st = ikt_result_open(ctx, path, &file);
    if (st == IKT_ERR_DATA && !configuration) { /* no embedding in it: a data set, then */
        ikt_clear(ctx);
        return show_data(ctx, path, dataset, as_json);
    }
    if (st == IKT_OK)
        st = configuration ? ikt_repetition_print(ctx, path, file)
                           : show_result(ctx, path, file, as_json);
    ikt_result_close(&file);
    return st;
}

const ikt_verb ikt_verb_info = {
    "info", "FILE [options]",
    "Tell what a file is: data, a kept graph, a checkpoint, or an embedding and how it was made",
    run};
