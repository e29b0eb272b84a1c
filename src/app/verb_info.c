/* iktsne info: what a file is. */
#include <stdio.h>
#include <string.h>

#include "app/json.h"
#include "app/verb.h"
#include "base/arrays.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "checkpoint/checkpoint.h"
#include "io/formats/reader.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/stage_file.h"
#include "io/results/graph_file.h"
#include "io/results/result.h"
#include "io/sources/source.h"

/* A fact on a line of its own; json is NULL for text. */
static void put_fact(ikt_json *json, const char *name, const char *text) {
    if (json)
        ikt_json_text(json, name, text);
    else
        printf("  %-28s %s\n", name, text);
}

/* Labels and marked rows: what a data set and an embedding may both have beside their rows. */
static void put_companions(ikt_json *json, bool has_labels, int64_t marked) {
    if (json) {
        ikt_json_bool(json, "labels", has_labels);
        ikt_json_int(json, "marked", marked);
        return;
    }
    printf(", %s labels", has_labels ? "with" : "without");
    if (marked > 0) printf(", %lld marked rows", (long long)marked);
    printf("\n");
}

/* --- an embedding ----------------------------------------------------------------------------- */

typedef struct {
    ikt_json *json; /* NULL: text */
    bool is_root;   /* this rank prints */
    bool varying;   /* group of the last note printed */
} printer;

static void show_note(void *self, const char *name, const char *text, bool varying) {
    printer *p = self;
    if (!p->is_root || strcmp(name, "configuration") == 0) return; /* which has a flag of its own */
    if (varying && !p->varying && p->json) ikt_json_begin(p->json, "run", '{');
    if (varying && !p->varying && !p->json) printf("this run\n");
    p->varying = varying;
    put_fact(p->json, name, text);
}

static ikt_status show_result(ikt_context *ctx, const char *path, ikt_result_file *file,
                              bool as_json) {
    ikt_json json = {stdout, 0, false};
    printer p = {as_json ? &json : NULL, ikt_rank(ctx) == 0, false};
    const int64_t n = ikt_result_rows(file);
    const int q = ikt_result_dimensions(file);
    int64_t label, *marked IKT_AT_END(ikt_free) = NULL, n_marked;
    bool has_labels;
    IKT_TRY(ikt_result_read_labels(file, "labels", 0, n > 0, &label, &has_labels));
    IKT_TRY(ikt_result_read_marked(file, &marked, &n_marked));
    if (p.is_root && as_json) {
        ikt_json_begin(&json, NULL, '{');
        ikt_json_text(&json, "kind", "embedding");
        ikt_json_int(&json, "rows", n);
        ikt_json_int(&json, "dimensions", q);
    } else if (p.is_root) {
        printf("%s: embedding of %lld rows in %d dimension%s", path, (long long)n, q,
               ikt_plural(q));
    }
    if (p.is_root) put_companions(p.json, has_labels, n_marked);
    ikt_status st = ikt_result_notes(file, show_note, &p);
    if (as_json && p.varying) ikt_json_end(&json, '}');
    if (as_json && p.is_root) ikt_json_end(&json, '}');
    return st;
}

/* --- data ------------------------------------------------------------------------------------- */

/* What could be embedded, a line each, with the command that does it. */
typedef struct {
    const char *path;
    ikt_json *json; /* NULL: text */
    int count;
} matrices;

static void count_matrix(void *self, const ikt_h5_matrix *m) {
    ((matrices *)self)->count += m->d != 1;
}

/* A matrix and its command, as text without what would steer the terminal. */
static void put_line(const matrices *all, const char *name, const char *shape, char *line) {
    char shown[1024];
    if (all->json) {
        ikt_json_text(all->json, name, line);
        return;
    }
    snprintf(shown, sizeof shown, "%s", name);
    ikt_make_printable(shown);
    ikt_make_printable(line);
    printf("  %-28s %-20s %s\n", shown, shape, line);
}

static void put_matrix(void *self, const ikt_h5_matrix *m) {
    const matrices *all = self;
    char shape[64], path[4 * IKT_STRING_MAX], name[4 * IKT_H5_NAME];
    char line[sizeof path + sizeof name + 64];
    if (m->d == 1) return;
    ikt_shell_word(all->path, path, sizeof path);
    ikt_shell_word(m->name, name, sizeof name);
    snprintf(shape, sizeof shape, "%lld x %lld%s", (long long)m->n, (long long)m->d,
             m->is_sparse ? ", sparse" : "");
    if (m->by_columns)
        snprintf(line, sizeof line, "iktsne convert %s rows.h5 --dataset %s", path, name);
    else
        snprintf(line, sizeof line, "iktsne embed %s input.dataset=%s", path, name);
    put_line(all, m->name, shape, line);
}

/* COLLECTIVE. Those of an HDF5 file, where there are at least `least`.
 *   json     NULL for text
 *   is_all   nothing else is told of the file: there is no matrix that would be meant without a
 * name */
static ikt_status show_matrices(ikt_context *ctx, const char *path, int least, ikt_json *json,
                                bool is_all, bool *shown) {
    hid_t file IKT_AT_END(ikt_h5_end) = -1;
    const bool is_root = ikt_rank(ctx) == 0;
    matrices all = {.path = path, .json = json};
    char usual[IKT_H5_NAME];
    IKT_TRY(ikt_h5_open(ctx, path, &file));
    ikt_h5_visit_matrices(file, count_matrix, &all);
    ikt_h5_usual_matrix(file, usual);
    *shown = all.count >= least && !(is_all && ikt_h5_has(file, usual));
    if (!*shown) return IKT_OK;
    if (is_root && is_all && json) ikt_json_begin(json, NULL, '{');
    if (is_root && is_all && json) ikt_json_text(json, "kind", "data");
    if (is_root && is_all && !json) printf("%s: data, of which one matrix is to be named\n", path);
    if (is_root && json) ikt_json_begin(json, "matrices", '{');
    ikt_h5_visit_matrices(file, is_root ? put_matrix : count_matrix, &all);
    if (is_root && json) ikt_json_end(json, '}');
    if (is_root && is_all && json) ikt_json_end(json, '}');
    return IKT_OK;
}

/* What a list of arrays has to tell. */
typedef struct {
    matrices matrices;
    bool is_direct; /* embed reads them; else they are to be converted */
    char labels[IKT_CONTENT_TEXT], others[IKT_CONTENT_TEXT];
} arrays;

/* Arrays that are no rows: what could be labels, and what is not read. */
static void note_array(void *self, const ikt_array *array) {
    arrays *all = self;
    if (array->usable && !array->table)
        ikt_join(all->labels, sizeof all->labels, ", ", "%.200s", array->name);
    else if (!array->usable)
        ikt_join(all->others, sizeof all->others, ", ", "%.200s (%s)", array->name, array->shape);
}

static void put_array(void *self, const ikt_array *array) {
    const arrays *all = self;
    char path[4 * IKT_STRING_MAX], name[1024], line[sizeof path + sizeof name + 64];
    if (!array->table) return;
    ikt_shell_word(all->matrices.path, path, sizeof path);
    ikt_shell_word(array->name, name, sizeof name);
    if (all->is_direct)
        snprintf(line, sizeof line, "iktsne embed %s input.dataset=%s", path, name);
    else
        snprintf(line, sizeof line, "iktsne convert %s rows.h5%s%s", path,
                 array->name[0] ? " --array " : "", array->name[0] ? name : "");
    put_line(&all->matrices, ikt_text_or(array->name, "the matrix"), array->shape, line);
}

/* LOCAL, rank 0. The arrays of a file that holds several, by names. */
static ikt_status put_arrays(ikt_context *ctx, const char *path, const ikt_reader_ops *format,
                             ikt_json *json) {
    static const char why[] =
        "single values, more axes than two in MATLAB files, and types other than integers, truth "
        "values and floating numbers of 16 to 64 bits";
    arrays all = {.matrices = {.path = path, .json = json}, .is_direct = format->is_flat};
    IKT_TRY(format->list(ctx, path, note_array, &all)); /* what is damaged is found here */
    if (json) {
        ikt_json_begin(json, NULL, '{');
        ikt_json_text(json, "kind", "data");
        ikt_json_text(json, "format", format->name);
        ikt_json_begin(json, "matrices", '{');
    } else {
        printf("%s: data, %s\n", path, format->name);
    }
    const ikt_status st = format->list(ctx, path, put_array, &all);
    if (json) ikt_json_end(json, '}');
    const char *labels = json              ? "labels_may_be"
                         : format->is_flat ? "labels may be"
                                           : "--label-array may be";
    if (!json) ikt_make_printable(all.labels);
    if (all.labels[0]) put_fact(json, labels, all.labels);
    if (!json) ikt_make_printable(all.others);
    if (all.others[0]) put_fact(json, json ? "not_read" : "not read", all.others);
    if (all.others[0] && !json) put_fact(NULL, "", why);
    if (json) ikt_json_end(json, '}');
    return st;
}

/* COLLECTIVE. *shown: the file is one of several arrays, which have been listed. */
static ikt_status show_arrays(ikt_context *ctx, const char *path, ikt_json *json, bool *shown) {
    ikt_reader_content content = {0};
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0 && ikt_reader_guess(ctx, path, &content) != IKT_OK) ikt_clear(ctx);
    const bool is_list = content.format && content.format->list && !content.packed;
    if (is_list) st = put_arrays(ctx, path, content.format, json);
    *shown = ikt_max_one(ctx, is_list) > 0;
    return ikt_agree(ctx, st);
}

/* LOCAL, rank 0. An opened source; a JSON object is left open. */
static void put_data(const ikt_source *source, bool has_labels, int64_t n_marked, ikt_json *json) {
    ikt_source_content content;
    const char *type = ikt_type_name(ikt_source_type(source));
    const int64_t n = ikt_source_rows(source), d = ikt_source_columns(source);
    const bool is_sparse = ikt_source_is_sparse(source);
    ikt_source_describe(source, &content);
    if (json) {
        ikt_json_begin(json, NULL, '{');
        ikt_json_text(json, "kind", "data");
        ikt_json_text(json, "format", content.format);
        if (content.tables[0]) ikt_json_text(json, "data_sets", content.tables);
        if (content.labels[0]) ikt_json_text(json, "labels_may_be", content.labels);
        ikt_json_int(json, "rows", n);
        ikt_json_int(json, "columns", d);
        ikt_json_text(json, "type", type);
        if (is_sparse) ikt_json_int(json, "values", ikt_source_entries(source));
        put_companions(json, has_labels, n_marked);
        return;
    }
    printf("%s: %lld rows x %lld columns, %s", ikt_source_name(source), (long long)n, (long long)d,
           type);
    if (is_sparse) printf(", sparse, %lld values", (long long)ikt_source_entries(source));
    put_companions(NULL, has_labels, n_marked);
    ikt_make_printable(content.tables);
    ikt_make_printable(content.labels);
    ikt_make_printable(content.beside);
    /* The first line says all of a plain file; others hold much besides. */
    if (strcmp(content.format, "HDF5") == 0) return;
    put_fact(NULL, "format", content.format);
    if (content.tables[0]) put_fact(NULL, "data sets", content.tables);
    if (content.labels[0]) put_fact(NULL, "labels may be", content.labels);
    if (content.beside[0]) put_fact(NULL, "beside the rows", content.beside);
}

static ikt_status show_data(ikt_context *ctx, const char *path, const char *dataset, bool as_json) {
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    const ikt_source_options options = {.dataset = dataset, .is_list = true};
    const bool is_hdf5 = ikt_max_one(ctx, ikt_source_is_hdf5(path)) > 0;
    const bool is_root = ikt_rank(ctx) == 0, is_any = strcmp(dataset, IKT_DATASET_AUTO) == 0;
    ikt_json json = {stdout, 0, false};
    int64_t label, *marked IKT_AT_END(ikt_free) = NULL, n_marked = 0;
    bool has_labels = false, shown = false;
    if (!is_hdf5 && is_any) IKT_TRY(show_arrays(ctx, path, as_json ? &json : NULL, &shown));
    if (shown) return IKT_OK;
    const ikt_status st = ikt_source_open_with(ctx, path, &options, &source);
    if (st == IKT_ERR_DATA && is_any && is_hdf5) { /* nothing is meant unless it is named */
        IKT_TRY(show_matrices(ctx, path, 1, as_json ? &json : NULL, true, &shown));
        if (shown) ikt_clear(ctx);
        return shown ? IKT_OK : st;
    }
    IKT_TRY(st);
    IKT_TRY(ikt_source_read_labels(source, "labels", 0, 1, &label, &has_labels));
    IKT_TRY(ikt_source_read_marked(source, &marked, &n_marked));
    if (is_root) put_data(source, has_labels, n_marked, as_json ? &json : NULL);
    if (is_hdf5 && is_any)
        IKT_TRY(show_matrices(ctx, path, 2, as_json ? &json : NULL, false, &shown));
    if (is_root && as_json) ikt_json_end(&json, '}');
    return IKT_OK;
}

/* --- a checkpoint ----------------------------------------------------------------------------- */

static ikt_status show_checkpoint(ikt_context *ctx, const char *path, ikt_stage_file *file,
                                  bool configuration, bool as_json) {
    ikt_loop_numbers number = {.iteration = -1};
    const ikt_part numbers = ikt_part_shared("numbers", IKT_PART_I64, IKT_NUMBERS(number), &number);
    const ikt_stage_head head = ikt_stage_file_head(file);
    if (strcmp(head.stage, "loop") == 0) IKT_TRY(ikt_stage_file_read(file, &numbers, 1));
    if (ikt_rank(ctx) != 0) return IKT_OK;
    if (configuration) {
        fputs(head.settings, stdout);
    } else if (as_json) {
        ikt_json json = {stdout, 0, false};
        ikt_json_begin(&json, NULL, '{');
        ikt_json_text(&json, "kind", "checkpoint");
        ikt_json_text(&json, "stage", head.stage);
        ikt_json_text(&json, "version", head.version);
        ikt_json_text(&json, "build", head.build);
        ikt_json_text(&json, "instruction_set", head.isa);
        ikt_json_text(&json, "input", head.input);
        if (number.iteration >= 0) ikt_json_int(&json, "iterations_done", number.iteration);
        if (head.iterations > 0) ikt_json_int(&json, "iterations", head.iterations);
        ikt_json_end(&json, '}');
    } else {
        printf("%s: checkpoint of the stage '%s'", path, head.stage);
        if (number.iteration >= 0) printf(", %lld iterations done", (long long)number.iteration);
        if (head.iterations > 0) printf(", %lld in all", (long long)head.iterations);
        printf("\n  version: %s\n  build: %s\n  instruction set: %s\n  input: %s\n", head.version,
               head.build, head.isa, head.input);
    }
    return IKT_OK;
}

/* --- a saved graph (output.graph) ------------------------------------------------------------- */

/* LOCAL, rank 0. settings: of the run that made it, or NULL. */
static ikt_status print_graph(const ikt_graph_file *file, bool has_labels, const char *settings,
                              bool as_json) {
    static const char *const starts[] = {[IKT_GRAPH_START_NONE] = "none",
                                         [IKT_GRAPH_START_PCA] = "principal components",
                                         [IKT_GRAPH_START_LANDMARK] = "places among landmarks"};
    /* Attributes of the file, in the order in which they are shown. */
    static const char *const texts[] = {
        "version",          "input",          "neighbour_label_accuracy", "neighbour_similarity",
        "neighbours_found", "cells_differing"};
    static const char *const numbers[] = {
        "seed", "psi", "pool", "rows_without_similarity", "recall_sample", "cell_sample"};
    int64_t q;
    ikt_json json = {stdout, 0, false};
    const char *start = starts[ikt_graph_file_start(file, &q)];
    const int64_t n = ikt_graph_file_rows(file), entries = ikt_graph_file_entries(file);
    const bool is_ordered = ikt_graph_file_is_ordered(file);
    if (as_json) {
        ikt_json_begin(&json, NULL, '{');
        ikt_json_text(&json, "kind", "graph");
        ikt_json_int(&json, "rows", n);
        ikt_json_int(&json, "entries", entries);
        ikt_json_bool(&json, "ordered", is_ordered);
        ikt_json_text(&json, "start", start);
        ikt_json_bool(&json, "labels", has_labels);
    } else {
        printf("%s: graph of %lld rows, %lld entries p_j|i, saved by a run, %s labels\n",
               ikt_graph_file_name(file), (long long)n, (long long)entries,
               has_labels ? "with" : "without");
        put_fact(NULL, "order of the rows", is_ordered ? "by coarse cells" : "that of the input");
        put_fact(NULL, "start", start);
    }
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        char *text = NULL;
        IKT_TRY(ikt_graph_file_text(file, texts[t], &text));
        if (text) put_fact(as_json ? &json : NULL, texts[t], text);
        ikt_free(&text);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int64_t value;
        if (!ikt_graph_file_int(file, numbers[i], &value)) continue;
        if (as_json) ikt_json_int(&json, numbers[i], value);
        if (!as_json) printf("  %-28s %lld\n", numbers[i], (long long)value);
    }
    if (settings && as_json) ikt_json_text(&json, "settings", settings);
    if (settings && !as_json) printf("made with\n%s", settings);
    if (as_json) ikt_json_end(&json, '}');
    return IKT_OK;
}

/* COLLECTIVE. What a saved graph is and how it was made; of `configuration` only the settings. */
static ikt_status show_graph(ikt_context *ctx, const ikt_graph_file *file, bool configuration,
                             bool as_json) {
    int64_t label;
    bool has_labels;
    char *names IKT_AT_END(ikt_free) = NULL, *settings IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_graph_file_labels(file, "labels", 0, 1, &label, &has_labels, &names));
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0) {
        st = ikt_graph_file_text(file, "settings", &settings);
        if (st == IKT_OK && !configuration) st = print_graph(file, has_labels, settings, as_json);
        if (st == IKT_OK && configuration && settings) fputs(settings, stdout);
    }
    return ikt_agree(ctx, st);
}

/* --- what repeats a run ----------------------------------------------------------------------- */

/* The facts of the head, in this order. */
enum { VERSION, COMMIT, ISA, HASH, HOST, START, DIRECTORY, COMMAND, FACTS };
static const char *const names[FACTS] = {"version", "commit", "instruction_set", "embedding_hash",
                                         "host",    "start",  "directory",       "command"};

typedef struct {
    char text[FACTS][4096]; /* "" where the file does not say */
} head;

/* A comment ends with its line. */
static void take_fact(void *self, const char *name, const char *text, bool varying) {
    head *h = self;
    (void)varying;
    for (int f = 0; f < FACTS; f++) {
        if (strcmp(name, names[f]) != 0) continue;
        snprintf(h->text[f], sizeof h->text[f], "%s", text);
        ikt_make_printable(h->text[f]);
    }
}

/* Prints the configuration. Names of files that the run wrote besides output.file become comments:
 * a repetition would refuse to replace them. */
static void print_lines(const char *text) {
    static const char *const outputs[] = {"  picture: ", "  model: ", "  graph: "};
    bool is_output = false;
    while (*text) {
        const size_t length = strcspn(text, "\n");
        bool is_named = false;
        if (*text != ' ' && *text != '#') is_output = strncmp(text, "output:", 7) == 0;
        for (size_t k = 0; k < sizeof outputs / sizeof *outputs && is_output; k++) {
            const size_t key = strlen(outputs[k]);
            is_named |= strncmp(text, outputs[k], key) == 0 && strncmp(text + key, "\"\"", 2) != 0;
        }
        if (is_named)
            printf("  # not written again: %.*s\n", (int)length - 2, text + 2);
        else
            printf("%.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* COLLECTIVE. Prints (rank 0) the stored configuration as YAML that `iktsne embed` takes. Comments
 * at the head name program, instruction set, folder and hash, and for a file that another verb made
 * the command that made it. Errors: IKT_ERR_DATA where the file holds no configuration. */
static ikt_status print_repetition(ikt_context *ctx, const char *path, ikt_result_file *file) {
    char *text IKT_AT_END(ikt_free) = NULL;
    head *h IKT_AT_END(ikt_free) = NULL;
    const char *known[FACTS];
    IKT_TRY(ikt_result_configuration(file, &text));
    IKT_TRY(ikt_agree(
        ctx,
        text ? IKT_OK : ikt_fail(ctx, IKT_ERR_DATA, "%s holds no configuration of a run", path)));
    IKT_TRY(ikt_alloc_all(ctx, &h, 1, sizeof *h, "provenance"));
    IKT_TRY(ikt_result_notes(file, take_fact, h));
    if (ikt_rank(ctx) != 0) return IKT_OK;
    for (int f = 0; f < FACTS; f++)
        known[f] = h->text[f][0] ? h->text[f] : "unknown";
    printf("# embedding hash %s: iktsne %s (%s), instruction set %s\n", known[HASH], known[VERSION],
           known[COMMIT], known[ISA]);
    if (h->text[DIRECTORY][0])
        printf("# made on %s, %s; names of files are relative to %s\n", known[HOST], known[START],
               h->text[DIRECTORY]);
    if (h->text[COMMAND][0])
        printf("# repeated by: %s\n"
               "# What follows is the configuration of the run that made the model, with the "
               "input of this file.\n",
               h->text[COMMAND]);
    print_lines(text);
    return IKT_OK;
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    bool configuration, as_json, help;
    char dataset[IKT_STRING_MAX];
    const ikt_option options[] = {
        {"config", IKT_FLAG(&configuration),
         "Print the configuration that repeats the run, as YAML: `iktsne embed` with it and "
         "another output.file gives the same embedding"},
        {"dataset", IKT_TEXT("NAME", "auto", dataset),
         "The data set to describe; auto describes what embed takes, and lists all matrices that "
         "it could take"},
        {"json", IKT_FLAG(&as_json), "Print as JSON"},
        {0}};
    const char *path;
    IKT_TRY(ikt_options_parse(ctx, &ikt_verb_info, options, argc, argv, &path, 1, 1, NULL, &help));
    if (help) return IKT_OK;
    ikt_result_file *file IKT_AT_END(ikt_result_close) = NULL;
    ikt_stage_file *saved IKT_AT_END(ikt_stage_file_close) = NULL;
    ikt_status st = ikt_stage_file_open(ctx, path, NULL, &saved);
    if (st == IKT_OK) return show_checkpoint(ctx, path, saved, configuration, as_json);
    if (st == IKT_ERR_USAGE) return st; /* of a newer program */
    ikt_clear(ctx);
    /* Embeddings and their configurations are in HDF5 files; what is not may be data. */
    if (!configuration && ikt_max_one(ctx, ikt_rank(ctx) == 0 && !ikt_source_is_hdf5(path)) > 0)
        return show_data(ctx, path, dataset, as_json);
    ikt_graph_file *graph = NULL;
    st = ikt_graph_file_open(ctx, path, &graph);
    if (st != IKT_OK) ikt_clear(ctx);
    const bool is_graph = graph && ikt_graph_file_is_kept(graph);
    if (is_graph) st = show_graph(ctx, graph, configuration, as_json);
    ikt_graph_file_close(&graph);
    if (is_graph) return st;
    st = ikt_result_open(ctx, path, &file);
    if (st == IKT_ERR_DATA && !configuration) { /* no embedding in it: a data set, then */
        ikt_clear(ctx);
        return show_data(ctx, path, dataset, as_json);
    }
    IKT_TRY(st);
    return configuration ? print_repetition(ctx, path, file)
                         : show_result(ctx, path, file, as_json);
}

const ikt_verb ikt_verb_info = {
    "info", "FILE [options]", "Tell what a file is and how it was made",
    "The file may be a data set, an embedding, a saved graph or a checkpoint", run};
