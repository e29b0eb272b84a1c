/* Damages a file again and again and has a verb of the program work on it:
 *
 *   corruption FILE CASES [FIRST] -- VERB ARGUMENTS...
 *   corruption FILE NUMBER        only writes that case to damaged.bin
 *
 * In the arguments @ stands for the damaged file and % for a name of an output. Case number FIRST +
 * i decides what is damaged: the file is cut, bits are flipped, or a piece of it is zeroed or
 * filled with noise. Each case runs in a process of its own, forked from this one, which has MPI
 * started: the verb as the program calls it, a limit on memory and a watchdog.
 *
 * A case is right when the verb succeeds (a file without checksums may well hold other numbers), or
 * ends with exit code 2 to 5 and one line `iktsne: error: ...`. Prints the counts; a case that is
 * not right leaves its file, and its number repeats it. */
#define _DEFAULT_SOURCE /* strdup, setenv */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <hdf5.h>

#include "app/verb.h"
#include "base/rng.h"
#include "base/sandbox.h"

enum { WATCHDOG_SECONDS = 60, WORDS_MOST = 32, NAME_SIZE = 64, TEXT_SIZE = 8192, FLIPS_MOST = 8 };
static const char damaged_name[] = "damaged.bin", errors_name[] = "damaged.err",
                  output_name[] = "damaged.out";

typedef struct {
    unsigned char *bytes;
    int64_t size;
} content;

typedef struct {
    int ran, refused, wrong;
    int refused_by[8]; /* by exit code */
} counts;

static const ikt_verb *const verbs[] = {&ikt_verb_embed, &ikt_verb_convert,  &ikt_verb_evaluate,
                                        &ikt_verb_plot,  &ikt_verb_info,     &ikt_verb_plan,
                                        &ikt_verb_study, &ikt_verb_transform};

static void need(int good, const char *what) {
    if (good) return;
    fprintf(stderr, "corruption: %s\n", what);
    exit(1);
}

static content read_file(const char *path) {
    content c = {NULL, 0};
    FILE *file = fopen(path, "rb");
    need(file && fseek(file, 0, SEEK_END) == 0, "the file cannot be opened");
    c.size = ftell(file);
    rewind(file);
    c.bytes = malloc((size_t)c.size + 1);
    need(c.size > 0 && c.bytes && fread(c.bytes, 1, (size_t)c.size, file) == (size_t)c.size,
         "the file cannot be read");
    fclose(file);
    return c;
}

static int64_t draw(int64_t number, uint64_t which, int64_t bound) {
    return ikt_rng_below(1, IKT_RNG_TEST, number, which, bound);
}

static void flip_bits(content *c, int64_t number, int count) {
    for (int i = 0; i < count; i++)
        c->bytes[draw(number, 10 + 2 * (uint64_t)i, c->size)] ^=
            (unsigned char)(1 << draw(number, 11 + 2 * (uint64_t)i, 8));
}

static void fill_block(content *c, int64_t number, int noise) {
    const int64_t most = c->size < 512 ? c->size : 512;
    const int64_t first = draw(number, 10, c->size), length = 1 + draw(number, 11, most);
    for (int64_t i = first; i < first + length && i < c->size; i++)
        c->bytes[i] = noise ? (unsigned char)draw(number, 100 + (uint64_t)i, 256) : 0;
}

/* What is done to the file, in words. Nothing before the first case, which shows that the verb runs
 * on the whole file. */
static const char *damage(content *c, int64_t number) {
    if (number < 0) return "nothing";
    switch (draw(number, 0, 5)) {
    case 0:
        c->size = draw(number, 1, c->size);
        return "cut";
    case 1:
        flip_bits(c, number, 1);
        return "one bit flipped";
    case 2:
        flip_bits(c, number, 2 + (int)draw(number, 1, FLIPS_MOST - 1));
        return "several bits flipped";
    case 3:
        fill_block(c, number, 0);
        return "a piece zeroed";
    default:
        fill_block(c, number, 1);
        return "a piece of noise";
    }
}

static void write_file(const char *path, const content *c) {
    FILE *file = fopen(path, "wb");
    need(file && fwrite(c->bytes, 1, (size_t)c->size, file) == (size_t)c->size && fclose(file) == 0,
         "the damaged file cannot be written");
}

static void confine(void) {
#if !defined __SANITIZE_ADDRESS__        /* which maps terabytes of addresses */
    const rlim_t most = (rlim_t)8 << 30; /* of addresses; MPI alone has one GB or two */
    const struct rlimit memory = {most, most}, core = {0, 0};
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &core);
#endif
    signal(SIGALRM, SIG_DFL);
    alarm(WATCHDOG_SECONDS);
}

/* What main() of the program does between MPI_Init and MPI_Finalize. */
static int run_verb(ikt_context *ctx, int count, char **words) {
    for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++) {
        if (strcmp(verbs[v]->name, words[0]) != 0) continue;
        ikt_context_set_log(ctx, IKT_LOG_WARN);
        const ikt_status st = verbs[v]->run(ctx, count - 1, words + 1);
        if (st != IKT_OK) fprintf(stderr, "iktsne: error: %s\n", ikt_message(ctx));
        return (int)st;
    }
    fprintf(stderr, "no such verb\n");
    return 1;
}

static void run_child(ikt_context *ctx, int count, char **words) {
    char *own[WORDS_MOST + 1] = {NULL};
    for (int w = 0; w < count; w++) /* verbs may change their words */
        own[w] = strdup(words[w]);
    const int errors = open(errors_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int nowhere = open("/dev/null", O_WRONLY);
    need(errors >= 0 && dup2(errors, STDERR_FILENO) >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0,
         "standard error cannot be caught");
    confine();
    const int code = run_verb(ctx, count, own);
    H5close(); /* as MPI_Finalize would */
    fflush(NULL);
    _exit(code);
}

/* Standard error as it should be: nothing but lines of ours, `errors` of them errors. A sanitizer
 * may remark that it refuses memory, as the system would without a word. */
static int speaks_well(const char *text, int errors) {
    static const char remark[] = "WARNING: AddressSanitizer failed to allocate";
    int found = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        const char *at = strstr(line, remark);
        if (strncmp(line, "==", 2) == 0 && at && at < line + strcspn(line, "\n")) continue;
        if (strncmp(line, "iktsne: ", 8) != 0) return 0;
        found += strncmp(line, "iktsne: error: ", 15) == 0 && line[15] != '\n';
        if (!strchr(line, '\n')) return 0;
    }
    return found == errors;
}

static void keep(int64_t number, const char *how, int outcome, const char *said) {
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "wrong-%lld.bin", (long long)number);
    rename(damaged_name, name);
    printf("WRONG: case %lld (%s): %s %d; it said: %.300s\n", (long long)number, how,
           WIFSIGNALED(outcome) ? "signal" : "exit code",
           WIFSIGNALED(outcome) ? WTERMSIG(outcome) : WEXITSTATUS(outcome), said);
}

static void judge(int64_t number, const char *how, int outcome, counts *c) {
    char said[TEXT_SIZE] = "";
    FILE *file = fopen(errors_name, "rb");
    need(file != NULL, "standard error of a case cannot be read");
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    const int code = WIFEXITED(outcome) ? WEXITSTATUS(outcome) : -1;
    if (code == 0 && speaks_well(said, 0)) {
        c->ran++;
    } else if (code >= 2 && code <= 5 && speaks_well(said, 1)) {
        c->refused++;
        c->refused_by[code]++;
        if (getenv("IKT_VERBOSE")) printf("%lld (%s): %s", (long long)number, how, said);
    } else {
        c->wrong++;
        keep(number, how, outcome, said);
    }
}

/* Writes the damaged file of a case; returns what was done to it. */
static const char *write_case(const content *whole, int64_t number) {
    content copy = {malloc((size_t)whole->size + 1), whole->size};
    need(copy.bytes != NULL, "out of memory");
    memcpy(copy.bytes, whole->bytes, (size_t)whole->size);
    const char *how = damage(&copy, number);
    write_file(damaged_name, &copy);
    free(copy.bytes);
    return how;
}

static void try_case(ikt_context *ctx, const content *whole, int64_t number, int count,
                     char **words, counts *c) {
    int outcome = 0;
    const char *how = write_case(whole, number);
    unlink(output_name);
    fflush(NULL);
    const pid_t child = fork();
    need(child >= 0, "no process can be started");
    if (child == 0) run_child(ctx, count, words);
    need(waitpid(child, &outcome, 0) == child, "a process was lost");
    judge(number, how, outcome, c);
}

/* Puts the names where @ and % stand. */
static int take_words(int argc, char **argv, char **words) {
    static char replaced[WORDS_MOST][2 * NAME_SIZE];
    need(argc >= 1 && argc <= WORDS_MOST, "a verb is missing, or there are too many words");
    for (int w = 0; w < argc; w++) {
        const char *at = strpbrk(argv[w], "@%");
        words[w] = argv[w];
        if (!at) continue;
        snprintf(replaced[w], sizeof replaced[w], "%.*s%s%s", (int)(at - argv[w]), argv[w],
                 *at == '@' ? damaged_name : output_name, at + 1);
        words[w] = replaced[w];
    }
    return argc;
}

/* All cases; true when none is wrong. `first` and `cases` number them. */
static int try_cases(const content *whole, int64_t first, int64_t cases, int argc, char **argv) {
    char *words[WORDS_MOST + 1] = {NULL};
    counts c = {0};
    char folder[4096];
    const int count = take_words(argc, argv, words);
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    setenv("OMPI_MCA_orte_tmpdir_base", getcwd(folder, sizeof folder), 0); /* not shared */
    setenv("OMPI_MCA_opal_signal", "", 1); /* a crash is to be seen as one */
    ikt_context *ctx = NULL;
    MPI_Init(NULL, NULL);
    need(ikt_context_create(MPI_COMM_SELF, 1, &ctx) == IKT_OK, "no context");
    ikt_sandbox_allow(ctx);
    try_case(ctx, whole, -1, count, words, &c);
    need(c.ran == 1, "the verb fails on the whole file");
    c.ran = 0;
    for (int64_t number = first; number < first + cases; number++)
        try_case(ctx, whole, number, count, words, &c);
    printf("%lld cases, %d refused (%d usage, %d data, %d file, %d resources), %d ran, %d wrong\n",
           (long long)cases, c.refused, c.refused_by[2], c.refused_by[3], c.refused_by[4],
           c.refused_by[5], c.ran, c.wrong);
    ikt_context_destroy(&ctx);
    MPI_Finalize();
    return c.wrong == 0;
}

int main(int argc, char **argv) {
    int dashes = 1;
    while (dashes < argc && strcmp(argv[dashes], "--") != 0)
        dashes++;
    need(dashes >= 3, "usage: corruption FILE CASES [FIRST] -- VERB ARGUMENTS...");
    const int64_t number = atoll(argv[2]), first = dashes > 3 ? atoll(argv[3]) : 0;
    const content whole = read_file(argv[1]);
    if (dashes == argc) {
        puts(write_case(&whole, number));
        return 0;
    }
    printf("%s, %s: ", argv[1], dashes + 1 < argc ? argv[dashes + 1] : "");
    return !try_cases(&whole, first, number, argc - dashes - 1, argv + dashes + 1);
}
