/* iktsne evaluate: measures of a finished embedding. */
#include <stdio.h>
#include <string.h>

#include "app/embedding_file.h"
#include "app/print.h"
#include "app/verb.h"
#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/encoding.h"
#include "base/files.h"
#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "io/results/beside.h"
#include "io/results/result.h"
#include "io/sources/labels.h"
#include "isolation/codes.h"
#include "pipeline/outcome.h"
#include "settings/checks.h"

enum { ARGUMENTS_MOST = 256 };

typedef struct {
    char input[IKT_STRING_MAX], labels[IKT_STRING_MAX], only[IKT_STRING_MAX], curve[IKT_STRING_MAX];
    ikt_measure_settings how;
    int64_t seed, memory;
    bool divergence, kernel, overwrite, json;
    bool is_k_given, is_trust_k_given;
    const char *argument[ARGUMENTS_MOST]; /* the embedding's file, then settings */
    int arguments;
} command;

/* The embedding and what is compared with it. */
typedef struct {
    ikt_result_file *file;
    ikt_settings settings; /* of the run, as stored in its file */
    bool has_settings;
    ikt_rows rows;
    float *y;
    int64_t *labels, *marked, n_marked;
    bool has_labels;
    char *label_names; /* a line a class, or NULL */
    ikt_source *source;
    ikt_dataset *data;
    ikt_codes codes; /* of the own rows, with --kernel */
} subject;

static void subject_close(subject *s) {
    ikt_result_close(&s->file);
    ikt_pipeline_close(&s->source, &s->data);
    ikt_free_all(&s->y, &s->labels, &s->label_names, &s->marked);
    ikt_codes_destroy(&s->codes);
}

/* Preprocessing and P of the run come from the configuration that it stored; for a file of another
 * program from the defaults. Assignments on the command line win over both. */
static ikt_status read_settings(ikt_context *ctx, const command *asked, subject *s) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char *text IKT_AT_END(ikt_free) = NULL;
    ikt_settings_parts(&s->settings, parts);
    IKT_TRY(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    IKT_TRY(ikt_result_configuration(s->file, &text));
    s->has_settings = text && text[0]; /* of a map of another program there are none */
    if (s->has_settings)
        IKT_TRY(ikt_config_parse_text(ctx, parts, IKT_SETTINGS_PARTS, "the stored configuration",
                                      text));
    s->settings.input.inherited = strcmp(s->settings.input.file, asked->input) != 0;
    if (s->settings.input.inherited)
        IKT_TRY(ikt_source_adopt(ctx, asked->input, s->settings.input.dataset));
    for (int a = 1; a < asked->arguments; a++)
        IKT_TRY(ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, asked->argument[a]));
    ikt_input_rename(&s->settings.input, asked->input);
    return IKT_OK;
}

/* Labels in a file of their own, of the rows of the map or of all rows of its input. */
static ikt_status read_label_file(ikt_context *ctx, const char *name, subject *s, char **names) {
    ikt_beside beside IKT_AT_END(ikt_beside_close) = {.ctx = ctx};
    ikt_place place;
    IKT_TRY(ikt_place_find(ctx, name, &place));
    s->has_labels = place.file[0] != '\0';
    if (!s->has_labels) return IKT_OK;
    IKT_TRY(ikt_beside_open(ctx, s->file, s->rows.first, s->rows.count, &beside));
    return ikt_beside_labels(&beside, name, s->labels, names);
}

/* Labels beside the embedding, or else beside the input. */
static ikt_status read_labels(ikt_context *ctx, const command *asked, subject *s) {
    const bool is_default = ikt_labels_are_default(asked->labels);
    IKT_TRY(ikt_result_read_labels(s->file, asked->labels, s->rows.first, s->rows.count, s->labels,
                                   &s->has_labels));
    if (s->has_labels && is_default)
        IKT_TRY(ikt_result_read_text(s->file, "label_names", &s->label_names));
    if (!s->has_labels && s->source) {
        IKT_TRY(ikt_source_read_labels(s->source, asked->labels, s->rows.first, s->rows.count,
                                       s->labels, &s->has_labels));
        if (s->has_labels) IKT_TRY(ikt_source_read_text(s->source, "label_names", &s->label_names));
    }
    if (!s->has_labels && !s->source && !is_default)
        IKT_TRY(read_label_file(ctx, asked->labels, s, &s->label_names));
    if (s->has_labels) ikt_labels_leave_unnamed(s->label_names, s->labels, s->rows.count);
    if (!s->has_labels && s->source && !is_default)
        return ikt_source_no_labels(s->source, asked->labels, "--labels");
    if (!s->has_labels && !is_default)
        return ikt_fail(ctx, IKT_ERR_DATA, "there is no data set '%s' of labels", asked->labels);
    return ikt_result_read_marked(s->file, &s->marked, &s->n_marked);
}

/* The checksum of the rows that a run has read, among what its file tells. */
static void keep_fingerprint(void *self, const char *name, const char *text, bool varying) {
    if (!varying && strcmp(name, "input_fingerprint") == 0)
        snprintf(self, IKT_INPUTS_TEXT, "%s", text);
}

/* COLLECTIVE. Warns where the input has other values than the run has read. A graph beside the rows
 * has a checksum in place of theirs. */
static ikt_status compare_input(ikt_context *ctx, const command *asked, const subject *s) {
    char read[IKT_INPUTS_TEXT] = "", here[IKT_INPUT_TEXT];
    if (!ikt_result_is_run(s->file) || !s->source || s->settings.input.graph[0]) return IKT_OK;
    IKT_TRY(ikt_result_notes(s->file, keep_fingerprint, read));
    if (!read[0]) return IKT_OK;
    IKT_TRY(ikt_fingerprint_input(ctx, s->source, here));
    const size_t length = strlen(here);
    const bool is_same =
        strncmp(read, here, length) == 0 && (read[length] == '\0' || strchr(",;", read[length]));
    if (!is_same)
        ikt_log(ctx, IKT_LOG_WARN,
                "the values of %s, or their type, are not those that the run of %s has read: where "
                "these are other data, measures against the input mean nothing",
                asked->input, asked->argument[0]);
    return IKT_OK;
}

/* The curve comes with the family `ranks`; its file is refused before anything long, where it is
 * one that is read, which the settings of the run tell. */
static ikt_status check_curve(ikt_context *ctx, const command *asked,
                              const ikt_settings *settings) {
    ikt_files files = {.ctx = ctx};
    if (!asked->curve[0]) return IKT_OK;
    if (!asked->input[0] || !ikt_measures_need_ranks(asked->only))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--curve needs --input, and the family ranks among --measures");
    ikt_files_add(&files, IKT_FILE_READ, "RUN.h5", asked->argument[0]);
    ikt_run_files_read(settings, &files);
    ikt_files_add(&files, IKT_FILE_READ, "--labels", asked->labels);
    ikt_files_add_written(&files, "--curve", asked->curve, "CSV text", ".csv .txt");
    IKT_TRY(ikt_files_check(&files));
    return ikt_atomic_check_stream(ctx, asked->curve, asked->overwrite);
}

static ikt_status subject_open(ikt_context *ctx, const command *asked, subject *s) {
    IKT_TRY(ikt_result_open(ctx, asked->argument[0], &s->file));
    const int64_t q = ikt_result_dimensions(s->file);
    s->rows = ikt_rows_make(ikt_result_rows(s->file), ikt_size(ctx), ikt_rank(ctx));
    IKT_TRY(ikt_alloc_all(ctx, &s->y, q * s->rows.count, sizeof *s->y, "embedding"));
    IKT_TRY(ikt_alloc_all(ctx, &s->labels, s->rows.count, sizeof *s->labels, "labels"));
    IKT_TRY(ikt_result_read_embedding(s->file, s->rows.first, s->rows.count, s->y));
    IKT_TRY(read_settings(ctx, asked, s));
    IKT_TRY(check_curve(ctx, asked, &s->settings));
    /* P and codes need the settings of the run; P may come from its graph, which is read again. */
    const bool has_graph = s->settings.input.graph[0] && !asked->kernel;
    if ((asked->divergence || asked->kernel) &&
        !((asked->input[0] || has_graph) && s->has_settings))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--%s needs --input and an embedding of `iktsne embed`, whose file holds "
                        "the settings of %s; a map of another program has none",
                        asked->divergence ? "kl" : "kernel",
                        asked->divergence ? "P" : "the kernel");
    if (asked->input[0]) IKT_TRY(ikt_pipeline_open(ctx, &s->settings, NULL, &s->source, &s->data));
    if (s->data && ikt_dataset_rows(s->data) != s->rows.n)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s has %lld rows, the embedding %lld: not the same data", asked->input,
                        (long long)ikt_dataset_rows(s->data), (long long)s->rows.n);
    IKT_TRY(compare_input(ctx, asked, s));
    IKT_TRY(read_labels(ctx, asked, s));
    return asked->kernel ? ikt_measure_codes(ctx, &s->settings, s->data, &s->rows, &s->codes)
                         : IKT_OK;
}

/* COLLECTIVE. KL(P || Q); where P follows labels, by those that the file of the run holds. */
static ikt_status add_divergence(ikt_context *ctx, const subject *s, int q,
                                 ikt_measures *measures) {
    double kl, error;
    char note[128] = "KL(P || Q), P computed again from the input";
    bool present = false;
    ikt_companions own IKT_AT_END(ikt_companions_free) = {.labels = NULL};
    IKT_TRY(ikt_alloc_all(ctx, &own.labels, s->rows.count, sizeof *own.labels, "labels"));
    IKT_TRY(ikt_result_read_labels(s->file, "labels", s->rows.first, s->rows.count, own.labels,
                                   &present));
    if (present) IKT_TRY(ikt_result_read_text(s->file, "label_names", &own.label_names));
    if (!present && ikt_affinity_of(&s->settings.affinity)->scores == IKT_SCORES_CLASSES)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "--kl: P follows the labels of the run, and %s has no data set 'labels' "
                        "that would hold them",
                        ikt_result_path(s->file));
    if (!present) ikt_free(&own.labels);
    IKT_TRY(
        ikt_measure_divergence(ctx, &s->settings, s->data, &own, &s->rows, q, s->y, &kl, &error));
    if (error > 0)
        snprintf(note, sizeof note,
                 "KL(P || Q), estimated on pairs of rows with a standard error of %.5f", error);
    return ikt_agree(ctx, ikt_measures_add(ctx, measures, "KL divergence", kl, 0, note));
}

/* Neighbours that were not asked for are as many as there can be among few rows. */
static void fit_neighbours(ikt_context *ctx, const command *asked, int64_t n,
                           ikt_measure_settings *how) {
    how->fits_k = !asked->is_k_given;
    if (!asked->is_trust_k_given) how->trust_k = ikt_measure_trust_k(how->trust_k, n);
    if (how->trust_k < asked->how.trust_k && asked->input[0])
        ikt_log(ctx, IKT_LOG_STAGE,
                "trustworthiness and continuity: of %lld rows, %lld neighbours are taken "
                "(--trust-k)",
                (long long)n, (long long)how->trust_k);
}

static ikt_status measure(ikt_context *ctx, const command *asked, const subject *s,
                          ikt_measures *measures) {
    const ikt_measured what = {.rows = s->rows,
                               .y = s->y,
                               .q = ikt_result_dimensions(s->file),
                               .labels = s->labels,
                               .names = s->label_names,
                               .has_labels = s->has_labels,
                               .data = s->data,
                               .codes = asked->kernel ? &s->codes : NULL};
    ikt_measure_settings how = asked->how;
    fit_neighbours(ctx, asked, s->rows.n, &how);
    IKT_TRY(ikt_measures_compute(ctx, &how, &what, measures));
    if (asked->divergence) IKT_TRY(add_divergence(ctx, s, (int)what.q, measures));
    IKT_TRY(ikt_measure_marked(ctx, &what, s->marked, s->n_marked, measures));
    if (measures->count > 0) return IKT_OK;
    return ikt_fail(
        ctx, IKT_ERR_USAGE,
        "nothing can be measured: the file has no labels, and no --input is given to compare with");
}

/* A file of the columns k, Q and R, a line for every k, in 17 digits, which give the same double.
 */
static ikt_status write_curve(ikt_context *ctx, const command *asked, const ikt_rank_curve *curve) {
    char temporary[IKT_PATH_MAX];
    ikt_status st = IKT_OK;
    IKT_TRY(ikt_atomic_begin_stream(ctx, asked->curve, asked->overwrite, temporary));
    if (ikt_rank(ctx) == 0) {
        FILE *file = ikt_atomic_open(temporary);
        if (file) fprintf(file, "k,Q,R\n");
        for (int64_t k = 1; file && k <= curve->count; k++)
            fprintf(file, "%lld,%.17g,%.17g\n", (long long)k, curve->overlap[k - 1],
                    curve->rescaled[k - 1]);
        bool failed = !file || ferror(file) != 0;
        failed = (file && fclose(file) != 0) || failed;
        if (failed) st = ikt_atomic_failed(ctx, asked->curve, NULL);
    }
    return ikt_atomic_end(ctx, asked->curve, temporary, st);
}

static ikt_status evaluate(ikt_context *ctx, const command *asked) {
    subject s IKT_AT_END(subject_close) = {.file = NULL};
    ikt_measures measures IKT_AT_END(ikt_measures_destroy) = {0};
    IKT_TRY(subject_open(ctx, asked, &s));
    IKT_TRY(measure(ctx, asked, &s, &measures));
    if (asked->curve[0]) IKT_TRY(write_curve(ctx, asked, &measures.curve));
    if (ikt_rank(ctx) != 0) return IKT_OK;
    if (!asked->json) {
        ikt_measures_print(&measures);
        return IKT_OK;
    }
    ikt_json json = {stdout, 0, false};
    ikt_json_begin(&json, NULL, '{');
    ikt_json_text(&json, "embedding", asked->argument[0]);
    ikt_json_int(&json, "rows", s.rows.n);
    ikt_measures_json(&json, &measures);
    ikt_json_end(&json, '}');
    return IKT_OK;
}

/* The help of --measures, which tells all families. */
static void describe_families(char *text, size_t size) {
    snprintf(text, size,
             "Compute only these families of measures, separated by commas; by default all that "
             "labels and input allow. Single measures are asked for by name, such as "
             "trustworthiness, continuity, accuracy or silhouette");
    for (int f = 0; ikt_measure_family_name(f); f++)
        ikt_join(text, size, f == 0 ? ". " : "; ", "%s: %s", ikt_measure_family_name(f),
                 ikt_measure_family_help(f));
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    command asked = {.how = ikt_measure_defaults()};
    bool help;
    char families[2560];
    describe_families(families, sizeof families);
    const ikt_option options[] = {
        {"input", IKT_TEXT("DATA.h5", "", asked.input),
         "The data that were embedded. They add the measures that compare with the data, after the "
         "preprocessing that the run used"},
        {"measures", IKT_KEY_STRING, "LIST", "", 0, 0, NULL, asked.only, families},
        {"labels", IKT_TEXT("NAME", "labels", asked.labels),
         "The labels: a data set of the file of the embedding or else of the input, or a file of "
         "their own, labels.npy, FILE.h5:DATASET or FILE.csv:COLUMN"},
        {"kl", IKT_FLAG(&asked.divergence),
         "Add the KL divergence, for which P is computed again from --input with the settings of "
         "the run"},
        {"kernel", IKT_FLAG(&asked.kernel),
         "Add the family kernel, for which the cell codes are computed again from --input with the "
         "settings of the run"},
        {"curve", IKT_TEXT("FILE.csv", "", asked.curve),
         "The file for Q(k) and R(k), the agreement of the neighbourhoods of every size k, as CSV"},
        {"overwrite", IKT_FLAG(&asked.overwrite), "Replace FILE.csv if it exists"},
        {"k", IKT_KEY_INT, "K", "10", 1, 1e6, NULL, &asked.how.k,
         "The number of neighbours for the label accuracy; where it is not given, at most one less "
         "than there are rows"},
        {"trust-k", IKT_KEY_INT, "K", "12", 1, 1e6, NULL, &asked.how.trust_k,
         "The number of neighbours for trustworthiness and continuity; where it is not given, at "
         "most a third of the rows"},
        {"triplets", IKT_KEY_INT, "N", "5", 1, 1e6, NULL, &asked.how.triplets,
         "The number of random triplets of each row"},
        {"clusters", IKT_KEY_INT, "K", "0", 0, 10000, NULL, &asked.how.clusters,
         "The number of k-means clusters that are measured beside as many as there are classes; 0 "
         "for none"},
        {"restarts", IKT_KEY_INT, "N", "10", 1, 1e6, NULL, &asked.how.restarts,
         "The number of restarts of k-means, the best of which counts"},
        {"exact-limit", IKT_KEY_INT, "N", "20000", 0, 1e9, NULL, &asked.how.exact_limit,
         "The largest number of rows up to which each row is compared with all others; beyond it a "
         "sample of rows is. The accuracy of labels in the map looks at every row up to 200000 "
         "rows, and at 100000 of more, unless this is larger"},
        {"sample", IKT_KEY_INT, "N", "2000", 1, 1e9, NULL, &asked.how.sample,
         "The number of rows in that sample, each of which is compared with all rows"},
        {"seed", IKT_KEY_INT, "S", "1", 0, 9e15, NULL, &asked.seed,
         "The seed of the sample, of the triplets and of k-means"},
        {"memory", IKT_KEY_INT, "MIB", "256", 1, 1e6, NULL, &asked.memory,
         "The memory for the distances that a rank holds at a time; more means fewer passes over "
         "the input"},
        {"json", IKT_FLAG(&asked.json), "Print as JSON"},
        {0}};
    IKT_TRY(ikt_options_parse(ctx, &ikt_verb_evaluate, options, argc, argv, asked.argument, 1,
                              ARGUMENTS_MOST, &asked.arguments, &help));
    if (help) return IKT_OK;
    asked.is_k_given = ikt_option_given("k", argc, argv);
    asked.is_trust_k_given = ikt_option_given("trust-k", argc, argv);
    asked.how.seed = (uint64_t)asked.seed;
    asked.how.batch_bytes = asked.memory << 20;
    if (strcmp(asked.curve, "none") == 0) asked.curve[0] = '\0';
    asked.how.keep_curve = asked.curve[0] != 0;
    asked.how.only = ikt_text_or(asked.only, NULL);
    return evaluate(ctx, &asked);
}

const ikt_verb ikt_verb_evaluate = {
    "evaluate", "RUN.h5 [section.key=value ...] [options]", "Measure how good an embedding is",
    "Without --input the measures are those of the embedding and its labels. A setting that is "
    "given replaces that of the run. RUN.h5 may be " IKT_MAP_HELP,
    run};
