/* The program: MPI where it is needed, a context, a verb, one message, an exit code. */
#include <cairo.h>
#include <errno.h>
#include <fftw3.h>
#include <hdf5.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>
#include <zlib.h>

#include "app/help.h"
#include "app/verb.h"
#include "base/build.h"
#include "base/comm.h"
#include "base/context.h"
#include "base/cpu.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "base/sandbox.h"
#include "config/config.h"
#include "config/value.h"
#include "iktsne/build.h"
#include "io/formats/reader.h"
#include "io/hdf5/h5.h"

static const ikt_verb *const verbs[] = {
    &ikt_verb_embed, &ikt_verb_generate, &ikt_verb_convert,   &ikt_verb_evaluate, &ikt_verb_plot,
    &ikt_verb_info,  &ikt_verb_plan,     &ikt_verb_transform, &ikt_verb_study,    &ikt_verb_export,
    &ikt_verb_align, &ikt_verb_view,     &ikt_verb_landmarks};
enum { VERBS = sizeof verbs / sizeof *verbs };

/* NULL with a message where there is none of that name. */
static const ikt_verb *find_verb(ikt_context *ctx, const char *name) {
    ikt_nearest nearest = ikt_nearest_begin(name);
    for (int v = 0; v < VERBS; v++) {
        if (strcmp(verbs[v]->name, name) == 0) return verbs[v];
        ikt_nearest_offer(&nearest, verbs[v]->name);
    }
    if (name[0] == '-')
        ikt_fail(ctx, IKT_ERR_USAGE,
                 "%.60s is no option of iktsne itself; options of a verb follow the verb "
                 "(`iktsne --help` lists both)",
                 name);
    else
        ikt_fail(ctx, IKT_ERR_USAGE, "there is no verb '%.60s'%s (`iktsne --help` lists them)",
                 name, ikt_nearest_say(&nearest));
    return NULL;
}

/* The value after the = of argv[*at], or in the word that follows; `type` says what it may be. */
static ikt_status take_value(ikt_context *ctx, int argc, char **argv, int *at, ikt_key type,
                             void *value) {
    char name[16];
    const char *text = strchr(argv[*at], '=');
    snprintf(name, sizeof name, "--%s", type.name);
    if (!text && ++*at >= argc) return ikt_fail(ctx, IKT_ERR_USAGE, "%s needs a value", name);
    return ikt_value_parse(ctx, &type, name, text ? text + 1 : argv[*at], value);
}

static bool is_option(const char *word, size_t length, const char *name) {
    return length == strlen(name) && strncmp(word, name, length) == 0;
}

/* Takes the options that every verb has out of argv, up to `--`. */
static ikt_status take_global_options(ikt_context *ctx, int *argc, char **argv) {
    const ikt_key threads = {
        .name = "threads", .type = IKT_KEY_INT, .low = 1, .high = IKT_THREADS_MOST};
    const ikt_key log = {.name = "log", .type = IKT_KEY_CHOICE, .choices = "text|json"};
    const ikt_key delimiter = {
        .name = "delimiter", .type = IKT_KEY_CHOICE, .choices = IKT_DELIMITER_NAMES};
    static const char delimiters[] = IKT_DELIMITERS;
    int left = 0, format, sign;
    int64_t count;
    bool options_end = false;
    for (int at = 0; at < *argc; at++) {
        const char *word = argv[at];
        const size_t length = strcspn(word, "=");
        options_end |= strcmp(word, "--") == 0;
        if (options_end) {
            argv[left++] = argv[at];
        } else if (strcmp(word, "--quiet") == 0) {
            ikt_context_set_log(ctx, IKT_LOG_WARN);
        } else if (strcmp(word, "--verbose") == 0) {
            ikt_context_set_log(ctx, IKT_LOG_DETAIL);
        } else if (is_option(word, length, "--threads")) {
            IKT_TRY(take_value(ctx, *argc, argv, &at, threads, &count));
            ikt_context_set_threads(ctx, (int)count);
        } else if (is_option(word, length, "--log")) {
            IKT_TRY(take_value(ctx, *argc, argv, &at, log, &format));
            ikt_context_set_log_format(ctx, (ikt_log_format)format);
        } else if (is_option(word, length, "--delimiter")) {
            IKT_TRY(take_value(ctx, *argc, argv, &at, delimiter, &sign));
            ikt_delimiter_use(ctx, delimiters[sign]);
        } else {
            /* So that what is said before settings are read is JSON as well. */
            if (strcmp(word, "run.log=json") == 0) ikt_context_set_log_format(ctx, IKT_LOG_JSON);
            argv[left++] = argv[at];
        }
    }
    *argc = left;
    return IKT_OK;
}

/* What the program is made of: version, compiler, libraries, instruction set. */
static void print_version(void) {
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    unsigned major = 0, minor = 0, release = 0;
    ikt_mpi_library(mpi);
    H5get_libversion(&major, &minor, &release);
    printf("iktsne %s (%s)\n", IKT_VERSION, ikt_commit);
    printf("compiler:        %s %s\n", IKT_COMPILER, IKT_COMPILE_FLAGS);
    printf("instruction set: %s\n", ikt_isa_name(ikt_cpu_isa()));
    printf("MPI:             %s\n", mpi);
    printf("HDF5:            %u.%u.%u\n", major, minor, release);
    printf("FFTW:            %s\n", fftw_version);
    if (ikt_mpi_is_there()) printf("FFTW for MPI:    transposes of shared grids\n");
    printf("libyaml:         %s\n", yaml_get_version_string());
    printf("zlib:            %s\n", zlibVersion());
    printf("cairo:           %s\n", cairo_version_string());
}

/* COLLECTIVE. Ranks that are asked for different things would make what none was asked for, or wait
 * for each other in different places: what take_global_options leaves is the same, and the
 * delimiter; threads may differ, and rank 0 says what is logged. `taken` is what it returned. */
static ikt_status agree_on_words(ikt_context *ctx, ikt_status taken, int argc, char **argv) {
    uint64_t mine = (uint64_t)(unsigned char)ctx->delimiter;
    IKT_TRY(ikt_agree(ctx, taken));
    for (int at = 0; at < argc; at++)
        mine = ikt_hash_bytes(argv[at], strlen(argv[at]) + 1, mine);
    uint64_t first = mine;
    ikt_broadcast(ctx, &first, (int64_t)sizeof first, 0);
    int64_t log[] = {ctx->level, ctx->is_json};
    ikt_broadcast(ctx, log, (int64_t)sizeof log, 0);
    ikt_context_set_log(ctx, (ikt_log_level)log[0]);
    ikt_context_set_log_format(ctx, log[1] ? IKT_LOG_JSON : IKT_LOG_TEXT);
    if (first == mine) return ikt_agree(ctx, IKT_OK);
    return ikt_agree(ctx, ikt_fail(ctx, IKT_ERR_USAGE,
                                   "rank %d was started with other arguments than rank 0: give "
                                   "the same to all ranks of a run",
                                   ikt_rank(ctx)));
}

/* The first word asks for help, of the program or of the verb that follows it. */
static ikt_status help(ikt_context *ctx, int argc, char **argv) {
    char asked[] = "--help", *arguments[] = {asked};
    IKT_TRY(ikt_memory_check_start(ctx));
    if (argc < 2) return ikt_document_overview(ctx, verbs, VERBS);
    const ikt_verb *verb = find_verb(ctx, argv[1]);
    return verb ? verb->run(ctx, 1, arguments) : IKT_ERR_USAGE;
}

/* Does what the words ask for. Output that did not arrive (a full disk, a closed pipe) is a
 * failure, too. */
static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    const ikt_status taken = take_global_options(ctx, &argc, argv);
    IKT_TRY(agree_on_words(ctx, taken, argc, argv));
    const char *word = argc > 0 ? argv[0] : "help";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        IKT_TRY(help(ctx, argc, argv));
    } else if (ikt_option_given("version", argc, argv)) {
        if (ikt_rank(ctx) == 0) print_version();
    } else {
        const char *limit =
            ikt_is_alone(ctx) ? ikt_limits_check(false) : NULL; /* else before MPI */
        if (limit) return ikt_fail(ctx, IKT_ERR_RESOURCE, "%s", limit);
        IKT_TRY(ikt_cpu_check_launch(ctx));
        IKT_TRY(ikt_memory_check_start(ctx));
        const ikt_verb *verb = find_verb(ctx, word);
        IKT_TRY(verb ? verb->run(ctx, argc - 1, argv + 1) : IKT_ERR_USAGE);
    }
    if (ikt_rank(ctx) != 0 || (fflush(stdout) == 0 && !ferror(stdout))) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "standard output cannot be written: %s", strerror(errno));
}

/* Verbs whose work is that of one process: a login node, where MPI may not be available, runs them.
 * None of them writes HDF5, whose files have another layout where MPI did not write them. */
static const ikt_verb *const without_mpi[] = {&ikt_verb_info, &ikt_verb_plot, &ikt_verb_view};

/* Whether the words `argv`, up to a `--`, ask for nothing that needs MPI: help, the version, tables
 * of settings, a verb of the list above, or one that there is none of. */
static bool is_without_mpi(int argc, char **argv) {
    static const char *const words[] = {"--help",           "-h",
                                        "--version",        "--print-config",
                                        "--print-defaults", "--print-reference",
                                        "--list-methods"};
    const char *name = NULL;
    for (int at = 0; at < argc && strcmp(argv[at], "--") != 0; at++) {
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (strcmp(argv[at], words[w]) == 0) return true;
        const bool has_value = strcmp(argv[at], "--threads") == 0 ||
                               strcmp(argv[at], "--log") == 0 ||
                               strcmp(argv[at], "--delimiter") == 0;
        if (has_value)
            at++;
        else if (!name && argv[at][0] != '-')
            name = argv[at];
    }
    for (size_t v = 0; name && v < sizeof without_mpi / sizeof *without_mpi; v++)
        if (strcmp(without_mpi[v]->name, name) == 0) return true;
    for (size_t v = 0; name && v < VERBS; v++)
        if (strcmp(verbs[v]->name, name) == 0) return false;
    return true;
}

/* The group of all ranks; NULL where there is none, which has been said. */
static ikt_context *begin_with_mpi(void) {
    bool has_threads;
    ikt_context *ctx = NULL;
    const char *limit = ikt_limits_check(true);
    if (limit) {
        fprintf(stderr, "iktsne: error: %s\n", limit);
        ikt_limits_exit(IKT_ERR_RESOURCE);
    }
    if (!ikt_mpi_begin(&has_threads)) {
        fprintf(stderr, "iktsne: error: MPI cannot be started\n");
        ikt_limits_exit(IKT_ERR_INTERNAL);
    }
    if (ikt_context_create(MPI_COMM_WORLD, 0, &ctx) != IKT_OK || has_threads) return ctx;
    ikt_log(ctx, IKT_LOG_WARN,
            "this MPI library does not allow threads; each rank runs one: start more ranks");
    ikt_context_set_threads(ctx, 1);
    return ctx;
}

static ikt_context *begin_alone(void) {
    ikt_context *ctx = NULL;
    ikt_context_create_alone(0, &ctx);
    return ctx;
}

int main(int argc, char **argv) {
    ikt_limits_hold_streams();
    /* A closed pipe or a limit of file sizes is a failed write, not a death without a word. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (ikt_document_wanted(argc - 1, argv + 1))
        ikt_limits_exit((int)ikt_document_print(argc - 1, argv + 1, verbs, VERBS));
    ikt_h5_begin();
    /* Of several processes only ranks know which of them writes and prints. */
    const bool is_alone = is_without_mpi(argc - 1, argv + 1) && !ikt_cpu_is_one_of_several();
    ikt_context *ctx = is_alone ? begin_alone() : begin_with_mpi();
    ikt_status st = IKT_ERR_RESOURCE;
    if (ctx) {
        ikt_sandbox_allow(ctx);
        st = ikt_agree(ctx, run(ctx, argc - 1, argv + 1));
        if (st != IKT_OK) /* rank 0 prints the one message there may be */
            ikt_log(ctx, st == IKT_STOPPED ? IKT_LOG_WARN : IKT_LOG_ERROR, "%s", ikt_message(ctx));
        ikt_context_destroy(&ctx);
    } else {
        fprintf(stderr, "iktsne: error: not enough memory to begin\n");
    }
    if (!is_alone) ikt_mpi_end();
    ikt_limits_exit((int)st);
}
