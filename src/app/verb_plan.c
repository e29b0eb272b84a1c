/* iktsne plan: what a run would take, before it is run; and measuring the machine for it. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "app/print.h"
#include "app/settings_read.h"
#include "app/verb.h"
#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"
#include "pipeline/pipeline.h"
#include "plan/machine.h"
#include "plan/plan.h"
#include "recipe/recipe.h"
#include "settings/checks.h"

enum { TIMED_BYTES = 8 << 20, FLOAT16 = 3 /* the choice of --type after the types of ours */ };

typedef struct {
    int64_t points, columns, entries, ranks;
    int64_t nodes, cores, domains;
    int type;
    bool as_json, calibrate, steps;
    char memory[IKT_STRING_MAX], machine[IKT_STRING_MAX];
} arguments;

static ikt_status calibrate(ikt_context *ctx, const arguments *a) {
    char path[IKT_STRING_MAX], scratch[IKT_STRING_MAX + 16];
    bool exists;
    ikt_machine machine;
    ikt_config_part part = ikt_machine_part(&machine);
    ikt_machine_file(ctx, path, &exists);
    if (a->machine[0]) memcpy(path, a->machine, sizeof a->machine);
    if (!path[0])
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "neither XDG_CONFIG_HOME nor HOME is set: name the file to write with --machine FILE");
    snprintf(scratch, sizeof scratch, "%s.rows.h5", path);
    IKT_TRY(ikt_config_defaults(ctx, &part, 1));
    IKT_TRY(ikt_machine_check(ctx, path));
    IKT_TRY(ikt_calibrate(ctx, scratch, &machine));
    IKT_TRY(ikt_machine_write(ctx, &machine, path));
    char *text = NULL;
    ikt_status st = ikt_config_print(ctx, &part, 1, &text);
    if (st == IKT_OK && ikt_rank(ctx) == 0) printf("%swritten to %s\n", text, path);
    ikt_free(&text);
    return st;
}

/* MB a second and rank at which the file itself can be read: it may be compressed, or far away. Of
 * sparse rows also how many columns two rows share on average, in those of rank 0. */
static ikt_status time_file(ikt_context *ctx, ikt_source *source, double *rate,
                            ikt_data_shape *shape) {
    const ikt_rows distribution =
        ikt_rows_make(ikt_source_rows(source), ikt_size(ctx), ikt_rank(ctx));
    const int64_t size = (int64_t)ikt_type_size(ikt_source_type(source));
    const int64_t row = ikt_source_columns(source) * size;
    const int64_t most = shape->is_sparse ? ikt_source_block_rows(source) : TIMED_BYTES / row + 1;
    const int64_t count = ikt_smaller(distribution.count, most);
    const int64_t first = count > 0 ? distribution.first : 0;
    ikt_sparse_rows sparse IKT_AT_END(ikt_sparse_rows_destroy) = {0};
    IKT_ARRAYS(held, ctx, "rows of X");
    void *rows = shape->is_sparse ? NULL : ikt_claim(&held, count * row, 1);
    IKT_TRY(ikt_arrays_agree(&held));
    const double begin = ikt_now();
    IKT_TRY(shape->is_sparse ? ikt_source_read_sparse(source, first, count, &sparse)
                             : ikt_source_read(source, first, count, rows));
    const double seconds = ikt_calibrate_slowest(ctx, ikt_now() - begin);
    const int64_t bytes = shape->is_sparse ? sparse.start[count] * (4 + size) : count * row;
    *rate = (double)ikt_max_one(ctx, ikt_larger(bytes, 1)) / seconds / 1e6;
    if (!shape->is_sparse) return IKT_OK;
    double *part = NULL; /* [columns] of rank 0: of the rows those that have a value there */
    if (ikt_rank(ctx) == 0) part = ikt_claim(&held, shape->d, sizeof *part);
    for (int64_t e = 0; part && e < sparse.start[count]; e++)
        part[sparse.column[e]] += 1 / (double)count;
    for (int64_t k = 0; part && k < shape->d; k++)
        shape->overlap += part[k] * part[k];
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_broadcast(ctx, &shape->overlap, sizeof shape->overlap, 0);
    return IKT_OK;
}

/* The shape of the inputs: from the options, or from the files that the settings name, the first of
 * which is also timed then, and stays open. */
static ikt_status find_shape(ikt_context *ctx, const arguments *a, const ikt_settings *settings,
                             ikt_shape *out, double *file_rate, ikt_source **source) {
    const bool is_half = a->type == FLOAT16;
    const ikt_data_shape said = {.n = a->points,
                                 .d = a->columns,
                                 .type = is_half ? IKT_TYPE_F32 : (ikt_type)a->type,
                                 .is_half = is_half,
                                 .is_sparse = a->entries > 0,
                                 .entries = (double)a->entries};
    const bool has_rows = ikt_input_has_rows(&settings->input);
    if (said.n != IKT_AUTO_INT && said.d != IKT_AUTO_INT && (has_rows || !settings->input.graph[0]))
        return ikt_shape_describe(ctx, settings, &said, out);
    if (!has_rows && !settings->input.graph[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the size of the data is not known: give --points and --columns, or an "
                        "input.file to take it from");
    IKT_TRY(ikt_shape_look(ctx, settings, NULL, false, out, source));
    const ikt_status st = *source ? time_file(ctx, *source, file_rate, &out->data) : IKT_OK;
    if (said.n != IKT_AUTO_INT && has_rows) out->data.n = said.n;
    if (said.d != IKT_AUTO_INT && has_rows) out->data.d = said.d;
    if (st != IKT_OK) ikt_shape_destroy(out);
    return st;
}

/* Bytes of "256G" or "256gb", in powers of 1024 as schedulers count memory; 0 where it is no such
 * text. */
static int64_t bytes_of(const char *text) {
    static const char units[] = "KMGTP";
    char *end;
    const double number = strtod(text, &end);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (end == text || !unit ||
        (end[1] && strcasecmp(end + 1, "B") != 0 && strcasecmp(end + 1, "iB") != 0))
        return 0;
    const double bytes = ldexp(number, 10 * (int)(unit - units + 1));
    return bytes >= 1 && bytes < 0x1p62 ? (int64_t)bytes : 0;
}

/* What there is to run on: this machine, but for what the options say. */
static ikt_status find_cluster(ikt_context *ctx, const arguments *a, ikt_cluster *out) {
    *out = ikt_cluster_here();
    ikt_broadcast(ctx, out, (int64_t)sizeof *out, 0);
    if (a->cores != IKT_AUTO_INT && a->cores != out->cores) {
        out->cores = a->cores;
        out->domains = a->domains == IKT_AUTO_INT && out->domains > a->cores ? 1 : out->domains;
    }
    if (a->nodes != IKT_AUTO_INT) out->nodes = a->nodes;
    if (a->domains != IKT_AUTO_INT) out->domains = a->domains;
    if (out->domains > out->cores)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--domains %lld: a node has only %lld cores to divide among them",
                        (long long)out->domains, (long long)out->cores);
    if (strcmp(a->memory, "auto") == 0) return IKT_OK;
    out->memory = bytes_of(a->memory);
    if (out->memory > 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "--memory: '%.80s' is no amount of memory: write a number with K, M, G or T "
                    "behind it, such as 256G",
                    a->memory);
}

/* Whether the options describe what to run on. */
static bool has_cluster(const arguments *a) {
    return a->nodes != IKT_AUTO_INT || a->cores != IKT_AUTO_INT || a->domains != IKT_AUTO_INT ||
           strcmp(a->memory, "auto") != 0;
}

static ikt_status plan(ikt_context *ctx, const arguments *a, ikt_settings_words *words) {
    ikt_settings settings;
    ikt_recommendation recommendation;
    const int64_t base = ikt_memory_beside(ctx);
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    ikt_shape shape;
    ikt_recipe recipe;
    ikt_plan p;
    /* Constants: built in, then those of the machine's file, then of the command line. */
    const ikt_config_part part = ikt_machine_part(&p.machine);
    words->more = &part;
    IKT_TRY(ikt_machine_load(ctx, a->machine, &p.machine));
    IKT_TRY(ikt_settings_read(ctx, words, &settings));
    IKT_TRY(ikt_check_apart(ctx, &settings));
    int ranks = (int)ikt_chosen(a->ranks, ikt_size(ctx));
    int threads = (int)ikt_chosen(settings.run.threads, ikt_threads(ctx));
    IKT_TRY(find_shape(ctx, a, &settings, &shape, &p.machine.file, &source));
    const ikt_status st = ikt_recipe_make(ctx, &settings, &shape, ranks, threads, &recipe);
    ikt_shape_destroy(&shape);
    IKT_TRY(st);
    int64_t n = recipe.work.data.n;
    if (source && a->points == IKT_AUTO_INT &&
        a->columns == IKT_AUTO_INT) { /* else of other rows */
        IKT_TRY(ikt_pipeline_look(ctx, &recipe.settings, &source));
        n = ikt_source_rows(source);
    }
    IKT_TRY(ikt_recipe_fit(ctx, &recipe, n, recipe.work.data.type, &recipe.settings));
    const bool is_asked = has_cluster(a), is_free = a->ranks == IKT_AUTO_INT;
    if (is_asked || is_free) {
        ikt_cluster cluster;
        IKT_TRY(find_cluster(ctx, a, &cluster));
        IKT_TRY(ikt_recommend(ctx, &recipe.settings, &recipe.work.data, &p.machine, base, &cluster,
                              &recommendation));
        if (is_asked && is_free && recommendation.fits) { /* the plan is that of the best */
            ranks = (int)recommendation.best.ranks;
            threads = (int)recommendation.best.threads;
        }
    }
    IKT_TRY(ikt_workload_make(ctx, &recipe.settings, &recipe.work.data, ranks, threads, &p.work));
    IKT_TRY(ikt_plan_make(ctx, base, &p));
    if (ikt_rank(ctx) == 0 && a->steps)
        (a->as_json ? ikt_steps_json : ikt_steps_print)(&recipe.steps, &p);
    else if (ikt_rank(ctx) == 0)
        (a->as_json ? ikt_plan_json : ikt_plan_print)(&p,
                                                      is_asked || is_free ? &recommendation : NULL);
    return IKT_OK;
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    arguments a;
    bool help;
    ikt_settings_words words = {.more = NULL};
    const ikt_option options[] = {
        IKT_PRESET_OPTION(&words.preset),
        {"points", IKT_KEY_INT, "N", "auto", 2, 1e15, NULL, &a.points,
         "The rows of the data; auto takes them from input.file"},
        {"columns", IKT_KEY_INT, "D", "auto", 1, 1e9, NULL, &a.columns,
         "The columns of the data; auto takes them from input.file"},
        {"entries", IKT_KEY_INT, "E", "0", 0, 1e9, NULL, &a.entries,
         "The values of a row of sparse data that are not zero, on average, together with --points "
         "and --columns; 0 means that the rows are dense"},
        {"type", IKT_CHOICE("TYPE", "float32", "uint8|float32|float64|float16", &a.type),
         "The type of the data, together with --points and --columns"},
        {"ranks", IKT_KEY_INT, "R", "auto", 1, 1e7, NULL, &a.ranks,
         "The ranks of the run; auto is the number of ranks of this launch. run.threads=T gives "
         "the threads of each"},
        {"nodes", IKT_KEY_INT, "N", "auto", 1, 1e5, NULL, &a.nodes,
         "Recommend nodes, ranks and threads for a run on so many nodes at most; auto is one. "
         "Where --ranks is not given, the plan is that of the recommendation"},
        {"cores", IKT_KEY_INT, "C", "auto", 1, 4096, NULL, &a.cores,
         "The cores of a node; auto are those that this process may use here"},
        {"memory", IKT_TEXT("SIZE", "auto", a.memory),
         "The memory of a node, such as 256G, of which nine tenths are planned with; auto is what "
         "is free here"},
        {"domains", IKT_KEY_INT, "M", "auto", 1, 4096, NULL, &a.domains,
         "The parts of a node that have memory of their own (NUMA domains, mostly sockets): the "
         "threads of a rank stay within one. auto are those of this machine"},
        {"machine", IKT_TEXT("FILE", "", &a.machine),
         "The file with the constants of the machine. By default it is "
         "$XDG_CONFIG_HOME/iktsne/machine.yaml or ~/.config/iktsne/machine.yaml; where that does "
         "not exist, built-in constants are used. machine.KEY=VALUE changes one"},
        {"calibrate", IKT_FLAG(&a.calibrate),
         "Measure the constants of the machine under this launch, which takes some seconds, and "
         "write them to that file"},
        {"steps", IKT_FLAG(&a.steps),
         "Print the steps of the run, in order: what each takes and makes, the memory and the time "
         "of each, and from which of them a stopped run goes on"},
        {"json", IKT_FLAG(&a.as_json), "Print the plan as JSON"},
        {0}};
    IKT_TRY(ikt_options_parse(ctx, &ikt_verb_plan, options, argc, argv, words.word, 0,
                              IKT_WORDS_MOST, &words.count, &help));
    if (help) return IKT_OK;
    if (a.calibrate && words.count > 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "'%.80s' has no meaning with --calibrate, which measures the machine; name "
                        "the file to write with --machine FILE",
                        words.word[0]);
    return a.calibrate ? calibrate(ctx, &a) : plan(ctx, &a, &words);
}

const ikt_verb ikt_verb_plan = {
    "plan", "[CONFIG.yaml] [DATA.h5] [SECTION.KEY=VALUE ...] [options]",
    "Predict time, memory and communication of a run, and recommend nodes, ranks and threads",
    "The prediction comes from constants of the machine, which --calibrate measures", run};
