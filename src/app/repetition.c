/* What repeats a run. See info.h. */
#include "app/info.h"

#include <stdio.h>
#include <string.h>

#include "base/encoding.h"
#include "base/memory.h"

/* The facts of the head, in this order. */
enum { VERSION, COMMIT, ISA, HASH, HOST, START, DIRECTORY, COMMAND, FACTS };
static const char *const names[FACTS] = {"version", "commit", "instruction_set", "embedding_hash",
                                         "host",    "start",  "directory",       "command"};

typedef struct {
    char text[FACTS][4096]; /* "" where the file does not say */
} head;

/* A comment ends with its line. */
static void take(void *self, const char *name, const char *text, bool varying) {
    head *h = self;
    (void)varying;
    for (int f = 0; f < FACTS; f++) {
        if (strcmp(name, names[f]) != 0) continue;
        snprintf(h->text[f], sizeof h->text[f], "%s", text);
        ikt_make_printable(h->text[f]);
    }
}

static void print_head(const head *h) {
    const char *const unknown = "unknown";
#define FACT(which) (h->text[which][0] ? h->text[which] : unknown)
    printf("# embedding hash %s: iktsne %s (%s), instruction set %s\n", FACT(HASH), FACT(VERSION),
           FACT(COMMIT), FACT(ISA));
    if (h->text[DIRECTORY][0])
        printf("# made on %s, %s; names of files are relative to %s\n", FACT(HOST), FACT(START),
               h->text[DIRECTORY]);
#undef FACT
    if (h->text[COMMAND][0])
        printf("# repeated by: %s\n"
               "# What follows is the configuration of the run that made the model, with the input "
               "of this file.\n",
               h->text[COMMAND]);
}

static bool starts(const char *line, const char *with) {
    return strncmp(line, with, strlen(with)) == 0;
}

/* Whether a line of the section names a file that the run wrote besides output.file. */
static bool is_further_output(const char *section, const char *line) {
    static const char *const keys[] = {"  picture: ", "  model: ", "  graph: "};
    if (!starts(section, "output:")) return false;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (starts(line, keys[k])) return !starts(line + strlen(keys[k]), "\"\"");
    return false;
}

static void print_lines(const char *text) {
    const char *section = "";
    while (*text) {
        const size_t length = strcspn(text, "\n");
        if (*text != ' ' && *text != '#') section = text;
        if (is_further_output(section, text))
            printf("  # not written again: %.*s\n", (int)length - 2, text + 2);
        else
            printf("%.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

ikt_status ikt_repetition_print(ikt_context *ctx, const char *path, ikt_result_file *file) {
    char *text = NULL;
    head *h = NULL;
    IKT_TRY(ikt_result_configuration(file, &text));
    ikt_status st = IKT_OK;
    if (!text) st = ikt_fail(ctx, IKT_ERR_DATA, "%s holds no configuration of a run", path);
    if (st == IKT_OK) st = ikt_alloc(ctx, &h, 1, sizeof *h, "provenance");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_result_notes(file, take, h);
    if (st == IKT_OK && ikt_rank(ctx) == 0) {
        print_head(h);
        print_lines(text);
    }
    ikt_free(&h);
    ikt_free(&text);
    return st;
}
