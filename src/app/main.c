/* The program: MPI, a context, a verb, one message, an exit code. */
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/help.h"
#include "app/verb.h"
#include "app/version.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sandbox.h"
#include "config/value.h"
#include "io/hdf5/h5.h"

static const ikt_verb *const verbs[] = {&ikt_verb_embed,    &ikt_verb_generate,  &ikt_verb_convert,
                                        &ikt_verb_evaluate, &ikt_verb_plot,      &ikt_verb_info,
                                        &ikt_verb_plan,     &ikt_verb_transform, &ikt_verb_study,
                                        &ikt_verb_export,   &ikt_verb_align,     &ikt_verb_view};
enum { VERBS = sizeof verbs / sizeof *verbs };

/* NULL with a message where there is none of that name. */
static const ikt_verb *find_verb(ikt_context *ctx, const char *name) {
    const char *nearest = verbs[0]->name;
    for (int v = 0; v < VERBS; v++) {
        if (strcmp(verbs[v]->name, name) == 0) return verbs[v];
        if (ikt_name_distance(verbs[v]->name, name) < ikt_name_distance(nearest, name))
            nearest = verbs[v]->name;
    }
    if (name[0] == '-')
        ikt_fail(ctx, IKT_ERR_USAGE,
                 "%.60s is no option of iktsne itself; options of a verb follow the verb "
                 "(`iktsne --help` lists both)",
                 name);
    else
        ikt_fail(ctx, IKT_ERR_USAGE,
                 "there is no verb '%.60s'; did you mean '%s'? (`iktsne --help` lists them)", name,
                 nearest);
    return NULL;
}

static ikt_status set_threads(ikt_context *ctx, const char *text) {
    int64_t threads;
    const ikt_key key = {.name = "threads", .type = IKT_KEY_INT, .low = 1, .high = 4096};
    IKT_TRY(ikt_value_parse(ctx, &key, "--threads", text, &threads));
    ikt_context_set_threads(ctx, (int)threads);
    return IKT_OK;
}

static ikt_status set_log(ikt_context *ctx, const char *text) {
    int format;
    const ikt_key key = {.name = "log", .type = IKT_KEY_CHOICE, .choices = "text|json"};
    IKT_TRY(ikt_value_parse(ctx, &key, "--log", text, &format));
    ikt_context_set_log_format(ctx, (ikt_log_format)format);
    return IKT_OK;
}

/* "--name" or "--name=..." */
static bool is_option(const char *word, const char *name) {
    const size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && (word[length] == '\0' || word[length] == '=');
}

/* The value after the = of argv[*at], or in the word that follows. */
static ikt_status take_value(ikt_context *ctx, int argc, char **argv, int *at, const char *name,
                             ikt_status (*set)(ikt_context *ctx, const char *text)) {
    const char *value = strchr(argv[*at], '=');
    if (value) return set(ctx, value + 1);
    if (++*at >= argc) return ikt_fail(ctx, IKT_ERR_USAGE, "%s needs a value", name);
    return set(ctx, argv[*at]);
}

/* Takes the options that every verb has out of argv, up to `--`. */
static ikt_status take_global_options(ikt_context *ctx, int *argc, char **argv) {
    int kept = 0;
    bool options_end = false;
    for (int at = 0; at < *argc; at++) {
        options_end |= strcmp(argv[at], "--") == 0;
        if (options_end) {
            argv[kept++] = argv[at];
        } else if (strcmp(argv[at], "--quiet") == 0) {
            ikt_context_set_log(ctx, IKT_LOG_WARN);
        } else if (strcmp(argv[at], "--verbose") == 0) {
            ikt_context_set_log(ctx, IKT_LOG_DETAIL);
        } else if (is_option(argv[at], "--threads")) {
            IKT_TRY(take_value(ctx, *argc, argv, &at, "--threads", set_threads));
        } else if (is_option(argv[at], "--log")) {
            IKT_TRY(take_value(ctx, *argc, argv, &at, "--log", set_log));
        } else {
            argv[kept++] = argv[at];
        }
    }
    *argc = kept;
    return IKT_OK;
}

static bool asks_for_help(const char *word) {
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

/* Where there is no context to log with. */
static void print_error(const char *message) {
    fprintf(stderr, "iktsne: error: %s\n", message);
}

/* Runs the verb, and makes rank 0 print the one message there may be. Output that did not arrive (a
 * full disk, a closed pipe) is a failure, too. */
static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    ikt_status st = take_global_options(ctx, &argc, argv);
    if (st == IKT_OK && (argc == 0 || asks_for_help(argv[0]))) {
        st = ikt_document_overview(ctx, verbs, VERBS);
    } else if (st == IKT_OK && strcmp(argv[0], "--version") == 0) {
        if (ikt_rank(ctx) == 0) ikt_print_version(stdout);
    } else if (st == IKT_OK) {
        const ikt_verb *verb = NULL;
        st = ikt_cpu_check_launch(ctx);
        if (st == IKT_OK) st = ikt_memory_check_start(ctx);
        if (st == IKT_OK && !(verb = find_verb(ctx, argv[0]))) st = IKT_ERR_USAGE;
        if (st == IKT_OK) st = verb->run(ctx, argc - 1, argv + 1);
    }
    if (st == IKT_OK && ikt_rank(ctx) == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        st = ikt_fail(ctx, IKT_ERR_FILE, "standard output cannot be written: %s", strerror(errno));
    st = ikt_agree(ctx, st);
    if (st != IKT_OK)
        ikt_log(ctx, st == IKT_STOPPED ? IKT_LOG_WARN : IKT_LOG_ERROR, "%s", ikt_message(ctx));
    return st;
}

int main(int argc, char **argv) {
    int provided;
    /* A closed pipe or a limit of file sizes is a failed write, not a death without a word. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (ikt_document_wanted(argc - 1, argv + 1))
        return (int)ikt_document_print(argc - 1, argv + 1, verbs, VERBS);
    ikt_h5_begin();
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
        print_error("MPI cannot be started");
        return IKT_ERR_INTERNAL;
    }
    ikt_context *ctx = NULL;
    ikt_status st = ikt_context_create(MPI_COMM_WORLD, 0, &ctx);
    if (st != IKT_OK) print_error("not enough memory to begin");
    if (st == IKT_OK) ikt_sandbox_allow(ctx);
    if (st == IKT_OK && provided < MPI_THREAD_FUNNELED) {
        ikt_log(ctx, IKT_LOG_WARN,
                "this MPI library does not allow threads; each rank runs one: start more ranks");
        ikt_context_set_threads(ctx, 1);
    }
    if (st == IKT_OK) st = run(ctx, argc - 1, argv + 1);
    ikt_context_destroy(&ctx);
    MPI_Finalize();
    return (int)st;
}
