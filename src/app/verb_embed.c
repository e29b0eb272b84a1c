/* iktsne embed: the main job. */
#include <stdio.h>
#include <string.h>

#include "app/help.h"
#include "app/print.h"
#include "app/settings_read.h"
#include "app/verb.h"
#include "base/arrays.h"
#include "base/log.h"
#include "base/watch.h"
#include "pipeline/outcome.h"
#include "recipe/facts.h"
#include "recipe/recipe.h"

static ikt_status describe_keys(ikt_context *ctx, int argc, char **argv) {
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_text presets = {ctx, NULL, 0, 0, IKT_OK};
    ikt_help help = ikt_help_begin(ctx, &ikt_verb_embed, argc, argv);
    ikt_settings_parts(&settings, parts);
    ikt_presets_describe(&presets);
    ikt_help_heading(&help, "names of the files", "");
    ikt_help_verbatim(
        &help, "Where DATA alone is given, the result is DATA.embedding.h5 and the picture is\n"
               "DATA.png, both in the current folder. The picture is always named after the\n"
               "result: with OUT.h5 it is OUT.png; output.picture=none draws none.\n");
    ikt_help_heading(&help, "presets", "and the settings that they begin with");
    if (presets.status == IKT_OK) ikt_help_verbatim(&help, presets.data);
    ikt_free(&presets.data);
    ikt_help_heading(&help, "keys of the configuration",
                     "as `section: {key: value}` in the file or section.key=value on the command "
                     "line, with their defaults");
    ikt_help_keys(&help, parts, IKT_SETTINGS_PARTS);
    IKT_TRY(ikt_help_end(&help));
    return presets.status;
}

/* Everything a run would refuse and decide, and nothing else. */
static ikt_status rehearse(ikt_context *ctx, const ikt_settings *settings, bool as_json) {
    ikt_machine machine;
    ikt_rehearsal *rehearsal IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_machine_load(ctx, "", &machine));
    IKT_TRY(ikt_alloc_all(ctx, &rehearsal, 1, sizeof *rehearsal, "rehearsal"));
    IKT_TRY(ikt_rehearse(ctx, settings, &machine, rehearsal));
    return ikt_rehearsal_print(ctx, rehearsal, as_json);
}

/* With --verbose: the tables of measures and stages, and what else is known. */
static void print_details(ikt_context *ctx, const ikt_run *run, const ikt_run_cost *cost,
                          const ikt_measures *measures) {
    const ikt_trace *trace = &run->embedding.trace;
    printf("\n");
    ikt_measures_print(measures);
    ikt_times_print(cost, ikt_size(ctx));
    printf("\n");
    ikt_memory_print(cost, run->predicted_bytes);
    ikt_traffic_print(cost, ikt_size(ctx));
    if (ikt_affinity_of(&run->settings.affinity)->zero_similarity_because)
        printf("rows without any similarity: %lld\n", (long long)run->embedding.zero_similarity);
    if (run->embedding.accuracy >= 0)
        printf("10-NN accuracy   %.4f among the most similar rows, before the first iteration\n",
               run->embedding.accuracy);
    if (run->embedding.recall.sample > 0) {
        char what[IKT_RECALL_TEXT];
        ikt_recall_describe(&run->embedding.recall, what);
        printf("neighbours       %s\n", what);
    }
    if (run->embedding.cells.sample > 0)
        printf("cells            %.2f %% differ from the exact ones (on %lld rows)\n",
               100 * run->embedding.cells.differing, (long long)run->embedding.cells.sample);
    printf("iterations       %lld, of which %lld exaggerated; stopped because %s\n",
           (long long)trace->end, (long long)trace->exaggeration_end,
           trace->has_converged ? "the objective settled" : "they are done");
    if (trace->count > 0)
        printf("%-16s %.6f", strcmp(trace->value_name, "KL") == 0 ? "KL divergence" : "cost",
               ikt_trace_last(trace));
    if (ikt_trace_last_error(trace) > 0)
        printf(" +- %.6f (standard error; estimated on a sample of pairs)",
               ikt_trace_last_error(trace));
    if (trace->count > 0) printf("\n");
    if (trace->eigenvalues > 0) {
        printf("KL divergence    %.6f without the regulariser\n", trace->divergence);
        printf("eigenvalues      of the map's graph, from the second on:");
        for (int64_t k = 0; k < trace->eigenvalues; k++)
            printf(" %.4f", trace->eigenvalue[k]);
        printf("\n");
    }
}

static ikt_status print_summary(ikt_context *ctx, const ikt_run *run, const ikt_run_cost *cost,
                                const ikt_measures *measures) {
    const bool is_verbose = ikt_log_is_verbose(ctx);
    const ikt_status st = ikt_run_summary_print(ctx, run, cost, measures, !is_verbose);
    if (is_verbose) print_details(ctx, run, cost, measures);
    printf("embedding hash   %016llx\n", (unsigned long long)run->hash);
    return st;
}

static void print_json(ikt_context *ctx, const ikt_run *run, const ikt_run_cost *cost,
                       const ikt_measures *measures) {
    const ikt_trace *trace = &run->embedding.trace;
    ikt_json writer = {stdout, 0, false}, *json = &writer;
    ikt_json_begin(json, NULL, '{');
    ikt_json_int(json, "rows", run->rows.n);
    ikt_json_int(json, "columns", run->d);
    ikt_json_int(json, "dimensions", run->settings.layout.dimensions);
    ikt_json_int(json, "ranks", ikt_size(ctx));
    ikt_json_int(json, "threads", ikt_threads(ctx));
    ikt_json_hash(json, "hash", run->hash);
    ikt_facts_json(json, run->facts);
    ikt_memory_json(json, cost, run->predicted_bytes);
    ikt_times_json(json, cost);
    ikt_traffic_json(json, cost);
    ikt_json_begin(json, "trace", '[');
    for (int64_t i = 0; i < trace->count; i++) {
        ikt_json_begin(json, NULL, '{');
        ikt_json_int(json, "iteration", trace->point[i].iteration);
        ikt_json_real(json, ikt_trace_key(trace), trace->point[i].value);
        if (trace->point[i].error > 0) ikt_json_real(json, "standard_error", trace->point[i].error);
        ikt_json_real(json, "gradient_norm", trace->point[i].gradient_norm);
        ikt_json_end(json, '}');
    }
    ikt_json_end(json, ']');
    ikt_measures_json(json, measures);
    ikt_json_end(json, '}');
}

/* The run, its file, its picture, its measures: files first, so that nothing is lost after. */
static ikt_status embed(ikt_context *ctx, const ikt_settings *settings, bool as_json) {
    ikt_run run IKT_AT_END(ikt_run_destroy) = {.d = 0};
    ikt_measures measures IKT_AT_END(ikt_measures_destroy) = {0};
    ikt_run_cost cost;
    {
        IKT_IN_STAGE(ctx, IKT_STAGE_TOTAL);
        IKT_TRY(ikt_pipeline_run(ctx, settings, NULL, &run));
        ikt_status st = ikt_run_write(ctx, &run);
        if (st == IKT_OK) st = ikt_run_model_end(ctx, &run);
        if (st == IKT_OK) st = ikt_run_picture(ctx, &run);
        if (st == IKT_OK) ikt_run_finish(ctx, &run);
        ikt_watch_signals_end(); /* measures are not worth waiting for */
        IKT_TRY(st);
        IKT_TRY(ikt_run_measures(ctx, &run, &measures));
    }
    ikt_run_cost_collect(ctx, &cost);
    ikt_cost_log(ctx, &cost, run.predicted_bytes);
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0 && as_json) print_json(ctx, &run, &cost, &measures);
    if (ikt_rank(ctx) == 0 && !as_json) st = print_summary(ctx, &run, &cost, &measures);
    return ikt_agree(ctx, st);
}

/* What needs no settings, and takes none: all keys with their defaults, as YAML or Markdown. */
static ikt_status print_tables(ikt_context *ctx, bool as_yaml, const ikt_settings_words *words) {
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char *keys IKT_AT_END(ikt_free) = NULL;
    if (words->count > 0 || words->preset != IKT_RUN_PRESET_NONE)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--%s takes no settings; --print-config prints what would be used",
                        as_yaml ? "print-defaults" : "print-reference");
    memset(&settings, 0, sizeof settings);
    ikt_settings_parts(&settings, parts);
    IKT_TRY(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    IKT_TRY((as_yaml ? ikt_config_print_commented
                     : ikt_config_describe_markdown)(ctx, parts, IKT_SETTINGS_PARTS, &keys));
    if (ikt_rank(ctx) != 0) return IKT_OK;
    if (as_yaml) {
        printf("# Every setting of `iktsne embed` with its default. What is left out of a "
               "configuration has it.\n\n%s",
               keys);
        return IKT_OK;
    }
    ikt_text presets = {ctx, NULL, 0, 0, IKT_OK};
    ikt_presets_describe_markdown(&presets);
    if (presets.status == IKT_OK) printf("%s\n%s", keys, presets.data);
    ikt_free(&presets.data);
    return presets.status;
}

/* What goes together, by asking what decides it. */
static ikt_status list_methods(ikt_context *ctx) {
    ikt_text text = {ctx, NULL, 0, 0, IKT_OK};
    ikt_methods_describe(&text);
    if (text.status == IKT_OK && ikt_rank(ctx) == 0) fputs(text.data, stdout);
    ikt_free(&text.data);
    return text.status;
}

static ikt_status print_configuration(ikt_context *ctx, ikt_settings *settings) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char *text IKT_AT_END(ikt_free) = NULL;
    /* With a graph it is the graph's file that tells what is in use. */
    if (!settings->input.graph[0]) IKT_TRY(ikt_unused_check(ctx, settings, NULL));
    ikt_settings_parts(settings, parts);
    IKT_TRY(ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, &text));
    if (ikt_rank(ctx) == 0) fputs(text, stdout);
    return IKT_OK;
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    struct {
        bool json, print_config, print_defaults, print_reference, list_methods, dry_run;
        int64_t extend;
    } w;
    bool help;
    ikt_settings settings;
    ikt_settings_words words = {.more = NULL};
    const ikt_option options[] = {
        IKT_PRESET_OPTION(&words.preset),
        {"dry-run", IKT_FLAG(&w.dry_run),
         "Compute and write nothing: refuse what the run would refuse, and print the settings it "
         "would use and the memory and time it would take; with --json as JSON"},
        {"json", IKT_FLAG(&w.json), "Print the summary and measures as JSON on standard output"},
        {"print-config", IKT_FLAG(&w.print_config),
         "Print the configuration with all defaults as YAML, and do nothing else"},
        {"print-defaults", IKT_FLAG(&w.print_defaults),
         "Print every setting with its default and its meaning, as YAML to begin a configuration "
         "from, and do nothing else"},
        {"print-reference", IKT_FLAG(&w.print_reference),
         "Print every setting with its default and its meaning as Markdown, and do nothing else"},
        {"list-methods", IKT_FLAG(&w.list_methods),
         "Print which objectives, affinities, starts and inputs go together, as Markdown, and do "
         "nothing else"},
        {"extend", IKT_KEY_INT, "N", "0", 0, 1e7, NULL, &w.extend,
         "Go on with the finished run in output.file for N more iterations, with the settings that "
         "it had, and replace its result"},
        {0}};
    IKT_TRY(ikt_options_parse(ctx, &ikt_verb_embed, options, argc, argv, words.word, 0,
                              IKT_WORDS_MOST, &words.count, &help));
    if (help) return describe_keys(ctx, argc, argv);
    if (w.print_defaults || w.print_reference) return print_tables(ctx, w.print_defaults, &words);
    if (w.list_methods) return list_methods(ctx);
    IKT_TRY(ikt_settings_read(ctx, &words, &settings));
    if (settings.run.threads != IKT_AUTO_INT)
        ikt_context_set_threads(ctx, (int)settings.run.threads);
    if (settings.run.log == IKT_LOG_JSON) {
        ikt_context_set_log_format(ctx, IKT_LOG_JSON);
        ikt_json_among_lines();
        w.json |= !ikt_option_given("json", argc, argv) && !ikt_option_given("no-json", argc, argv);
    }
    settings.run.extend = w.extend;
    if (w.print_config) return print_configuration(ctx, &settings);
    return w.dry_run ? rehearse(ctx, &settings, w.json) : embed(ctx, &settings, w.json);
}

const ikt_verb ikt_verb_embed = {
    "embed", "[CONFIG.yaml] [DATA.h5 [OUT.h5]] [SECTION.KEY=VALUE ...] [options]",
    "Embed the rows of a data set in one to three dimensions",
    "The embedding is written to an HDF5 file and, where one is asked for, a picture to another "
    "file; measures are printed at the end",
    run};
