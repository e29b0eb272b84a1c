/* Damages a file again and again and has a verb of the program work on it:
 *
 *   corruption FILE CASES [FIRST] -- VERB ARGUMENTS...
 *   corruption FILE NUMBER        only writes that case to damaged.bin, and none that lies
 *
 * In the arguments @ stands for the damaged file and % for a name of an output. Case number FIRST +
 * i decides what is damaged: the file is cut, bits are flipped, or a piece of it is zeroed or
 * filled with noise. Of a file that is sealed (base/row_hash.h), half of the cases lie: what stands
 * before the seal is damaged like that, or a number of a data set or an attribute is another, and
 * the seal is right. Each case runs in a process of its own, forked from this one, which has MPI
 * started: the verb as the program calls it, a limit on memory and a watchdog.
 *
 * A case is right when the verb succeeds (a file without checksums may well hold other numbers), or
 * ends with exit code 2 to 5 and one line `iktsne: error: ...`. It must not succeed where the seal
 * is not that of the bytes, nor where a model has none. Prints the counts; a case that is not right
 * leaves its file, and its number repeats it. */
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
#include "base/row_hash.h"
#include "base/sandbox.h"

/* The check of a file by HDF5 (base/sandbox.h) may itself take a minute and a half, where others
 * use the machine. */
enum { WATCHDOG_SECONDS = 180, WORDS_MOST = 32, NAME_SIZE = 64, TEXT_SIZE = 8192, FLIPS_MOST = 8 };
enum { SEAL_BYTES = 24, PLACES_MOST = 128 };
static const char damaged_name[] = "damaged.bin", errors_name[] = "damaged.err",
                  output_name[] = "damaged.out";

typedef struct {
    unsigned char *bytes;
    int64_t size;
} content;

/* What was done to a file, and whether the verb has to refuse it. */
typedef struct {
    const char *how;
    int must_fail;
} harm;

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

/* Damages bytes; returns what was done, in words. */
static const char *damage(content *c, int64_t number) {
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

/* --- lies ------------------------------------------------------------------------------------- */

static int is_sealed(const content *c) {
    return c->size > SEAL_BYTES && memcmp(c->bytes + c->size - SEAL_BYTES, "iktseal1", 8) == 0;
}

/* Data sets of a file, and attributes of its root. */
typedef struct {
    char name[PLACES_MOST][NAME_SIZE];
    int count;
} places;

static herr_t note_place(hid_t group, const char *name, const H5L_info_t *info, void *target) {
    places *all = target;
    (void)info;
    const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    if (H5Iget_type(object) == H5I_DATASET && all->count < PLACES_MOST)
        snprintf(all->name[all->count++], NAME_SIZE, "%s", name);
    return H5Oclose(object) < 0;
}

static herr_t note_attribute(hid_t object, const char *name, const H5A_info_t *info, void *target) {
    places *all = target;
    (void)object, (void)info;
    if (all->count < PLACES_MOST) snprintf(all->name[all->count++], NAME_SIZE, "%s", name);
    return 0;
}

/* Another number in place of one: NaN or -1, a large one, 0, or one of another bit. */
static void change_number(unsigned char *bytes, size_t size, int64_t number) {
    static const int filled[] = {0xff, 0x7f, 0};
    const int64_t how = draw(number, 3, 4);
    if (how < 3)
        memset(bytes, filled[how], size);
    else
        bytes[draw(number, 4, (int64_t)size)] ^= (unsigned char)(1 << draw(number, 5, 8));
}

/* Changes a number of a data set, or of an attribute of numbers. */
static void change_object(hid_t object, int is_attribute, int64_t number) {
    const hid_t type = is_attribute ? H5Aget_type(object) : H5Dget_type(object);
    const hid_t space = is_attribute ? H5Aget_space(object) : H5Dget_space(object);
    const int64_t count = H5Sget_simple_extent_npoints(space);
    const size_t size = H5Tget_size(type);
    if (H5Tget_class(type) != H5T_STRING && count > 0) {
        unsigned char *all = malloc((size_t)count * size);
        need(all && (is_attribute ? H5Aread(object, type, all)
                                  : H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all)) >= 0,
             "a number cannot be read");
        change_number(all + (size_t)draw(number, 2, count) * size, size, number);
        need((is_attribute ? H5Awrite(object, type, all)
                           : H5Dwrite(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all)) >= 0,
             "a number cannot be written");
        free(all);
    }
    H5Sclose(space);
    H5Tclose(type);
}

/* Changes one number in the damaged file, which is whole. */
static const char *lie(int64_t number) {
    places all = {.count = 0};
    const int is_attribute = draw(number, 0, 3) == 0;
    const hid_t file = H5Fopen(damaged_name, H5F_ACC_RDWR, H5P_DEFAULT);
    need(file >= 0 &&
             (is_attribute
                  ? H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, note_attribute, &all)
                  : H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, note_place, &all)) >= 0 &&
             all.count > 0,
         "the file has no numbers");
    const char *name = all.name[draw(number, 1, all.count)];
    const hid_t object =
        is_attribute ? H5Aopen(file, name, H5P_DEFAULT) : H5Dopen2(file, name, H5P_DEFAULT);
    change_object(object, is_attribute, number);
    need((is_attribute ? H5Aclose(object) : H5Dclose(object)) >= 0 && H5Fclose(file) >= 0,
         "the file cannot be closed");
    return is_attribute ? "an attribute changed, sealed" : "a number changed, sealed";
}

static void confine(void) {
#if !defined IKT_SANITIZED               /* which maps terabytes of addresses */
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

static void judge(int64_t number, harm done, int outcome, counts *c) {
    char said[TEXT_SIZE] = "";
    FILE *file = fopen(errors_name, "rb");
    need(file != NULL, "standard error of a case cannot be read");
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    const int code = WIFEXITED(outcome) ? WEXITSTATUS(outcome) : -1;
    if (code == 0 && speaks_well(said, 0) && !done.must_fail) {
        c->ran++;
    } else if (code >= 2 && code <= 5 && speaks_well(said, 1)) {
        c->refused++;
        c->refused_by[code]++;
        if (getenv("IKT_VERBOSE")) printf("%lld (%s): %s", (long long)number, done.how, said);
    } else {
        c->wrong++;
        keep(number, done.how, outcome, said);
    }
}

/* Writes the damaged file of a case. Nothing is damaged before the first case, which shows that the
 * verb runs on the whole file.
 *   ctx        seals files that lie; NULL: there are none
 *   is_model   whether the verb takes no file without a seal */
static harm write_case(ikt_context *ctx, const content *whole, int64_t number, int is_model) {
    content copy = {malloc((size_t)whole->size + 1), whole->size};
    harm done = {"nothing", 0};
    need(copy.bytes != NULL, "out of memory");
    memcpy(copy.bytes, whole->bytes, (size_t)whole->size);
    const int64_t lies = number >= 0 && ctx && is_sealed(whole) ? draw(number, 9, 4) : 3;
    if (lies < 2) copy.size -= SEAL_BYTES;
    if (number >= 0 && lies > 0) done.how = damage(&copy, number);
    write_file(damaged_name, &copy);
    if (lies == 0) done.how = lie(number);
    if (lies < 2)
        need(ikt_seal_put(ctx, damaged_name) == IKT_OK, "no seal");
    else if (copy.size != whole->size || memcmp(copy.bytes, whole->bytes, (size_t)whole->size) != 0)
        done.must_fail = is_sealed(whole) && (is_model || is_sealed(&copy));
    free(copy.bytes);
    return done;
}

static void try_case(ikt_context *ctx, const content *whole, int64_t number, int count,
                     char **words, counts *c) {
    int outcome = 0;
    const harm done = write_case(ctx, whole, number, strcmp(words[0], "transform") == 0);
    unlink(output_name);
    fflush(NULL);
    const pid_t child = fork();
    need(child >= 0, "no process can be started");
    if (child == 0) run_child(ctx, count, words);
    need(waitpid(child, &outcome, 0) == child, "a process was lost");
    judge(number, done, outcome, c);
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
        puts(write_case(NULL, &whole, number, 0).how);
        return 0;
    }
    printf("%s, %s: ", argv[1], dashes + 1 < argc ? argv[dashes + 1] : "");
    return !try_cases(&whole, first, number, argc - dashes - 1, argv + dashes + 1);
}
