/* Help of a verb in several forms: the tables that all forms share, the form of a text, and what
 * puts the parts together. See help.h. */
#include "app/help.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "io/formats/reader.h"

/* --- tables ----------------------------------------------------------------------------------- */

const char ikt_program_summary[] = "t-SNE with the Isolation kernel, for millions of points on MPI";

const ikt_program_option ikt_program_options[] = {
    {"help", "", "", "print the complete help of the verb"},
    {"help", "=FORM", "man|bash|zsh|fish",
     "print a manual page (man) or the completion for a shell (bash, zsh, fish)"},
    {"version", "", "", "print version, libraries and instruction set, instead of running a verb"},
    {"quiet", "", "", "print warnings and results only"},
    {"verbose", "", "", "print details of each stage"},
    {"log", "KIND", "text|json",
     "write the lines of the log as text, or as json, one object a line"},
    {"threads", "N", "",
     "OpenMP threads of each rank (default: the processors that the launcher gave)"},
    {"delimiter", "NAME", IKT_DELIMITER_NAMES,
     "the sign that separates the cells of tables that are text (default: the one that they show)"},
    {NULL, NULL, NULL, NULL}};

const ikt_exit_code ikt_exit_codes[] = {
    {IKT_OK, "success"},
    {IKT_ERR_INTERNAL, "internal error: please report it"},
    {IKT_ERR_USAGE, "wrong usage or configuration"},
    {IKT_ERR_DATA, "data that cannot be used"},
    {IKT_ERR_FILE, "a file that cannot be opened, read or written"},
    {IKT_ERR_RESOURCE, "not enough memory or other resources"},
    {IKT_STOPPED,
     "stopped by a signal or a time limit, with a checkpoint: the same command goes on"},
    {0, NULL}};

static const ikt_example examples[] = {
    {"generate", "iktsne generate five-subspace data.h5", NULL},
    {"embed", "mpirun -n 2 iktsne embed config/five-subspace.yaml input.file=data.h5 run.seed=7",
     "Run on two ranks; the command line wins over the file"},
    {"embed", "iktsne embed input.file=data.h5 output.file=run.h5 output.picture=run.png",
     "Without a configuration file everything else has its default"},
    {"align", "iktsne align run2.h5 run.h5 aligned.h5",
     "Bring the second run as near to the first as turning and scaling can"},
    {"export", "iktsne export run.h5 positions.npy", "The ending of the name gives the format"},
    {"view", "iktsne view run.h5 run.html", NULL},
    {"embed", "iktsne embed config.yaml --extend 500",
     "Add iterations to the finished run in output.file"},
    {"convert",
     "iktsne convert t10k-images-idx3-ubyte.gz digits.h5 --labels "
     "t10k-labels-idx1-ubyte.gz",
     NULL},
    {"convert", "iktsne convert cells.csv cells.h5 --label-column type", NULL},
    {"evaluate", "iktsne evaluate run.h5 --input digits.h5 --json",
     "Add the measures that compare with the input"},
    {"plot", "iktsne plot run.h5 picture.png --title Digits", NULL},
    {"info", "iktsne info run.h5 --config >again.yaml",
     "Write the configuration with which `iktsne embed again.yaml output.file=again.h5` repeats "
     "the run"},
    {"plan", "iktsne plan config.yaml", "Predict memory and time before asking for an allocation"},
    {"transform", "iktsne transform model.h5 new.h5 placed.h5 --picture placed.png", NULL},
    {"landmarks", "iktsne landmarks digits.h5 landmarks.h5 --count 500",
     "Then `iktsne embed landmarks.h5 map.h5 output.model=model.h5`, and all rows by `iktsne "
     "transform model.h5 digits.h5 placed.h5`"},
    {"study", "iktsne study config/studies/table5.yaml --data data --output table5", NULL}};

const ikt_example *ikt_example_of(const char *verb, int i) {
    for (size_t e = 0; e < sizeof examples / sizeof *examples; e++)
        if ((!verb || strcmp(examples[e].verb, verb) == 0) && i-- == 0) return &examples[e];
    return NULL;
}

/* --- help as text ----------------------------------------------------------------------------- */

static void text_verb(ikt_text *text, const ikt_verb *verb) {
    ikt_text_add(text, "usage: iktsne %s %s\n\n", verb->name, verb->synopsis);
    if (verb->details) {
        char sentences[1024];
        snprintf(sentences, sizeof sentences, "%s. %s.", verb->summary, verb->details);
        ikt_text_wrap(text, 0, sentences);
    } else {
        ikt_text_wrap(text, 0, verb->summary);
    }
    const ikt_example *example;
    for (int i = 0; (example = ikt_example_of(verb->name, i)) != NULL; i++) {
        ikt_text_add(text, "%s    %s\n", i == 0 ? "\nexamples:\n" : "", example->command);
        if (example->help) ikt_text_wrap(text, 8, example->help);
    }
    ikt_text_add(text, "\noptions:\n");
}

static void text_option(ikt_text *text, const ikt_verb *verb, const ikt_option *option) {
    char expected[256];
    ikt_key key = ikt_option_key(option);
    (void)verb;
    ikt_value_expected(&key, expected, sizeof expected);
    ikt_text_add(text, "  --%s%s%s\n", option->name, option->argument ? " " : "",
                 option->argument ? option->argument : "");
    ikt_text_wrap(text, 6, option->help);
    if (option->type == IKT_KEY_BOOL) {
        if (strcmp(option->fallback, "yes") == 0)
            ikt_text_add(text, "      (the default; --no-%s turns it off)\n", option->name);
        return;
    }
    const char *setting = ikt_option_setting(option);
    ikt_text_add(text, "      (%s; default %s%s%s%s%s)\n", expected,
                 ikt_text_or(option->fallback, "none"), setting ? "; also as " : "",
                 setting ? setting : "", setting ? "=" : "", setting ? option->argument : "");
}

static void text_common(ikt_text *text) {
    ikt_text_add(text,
                 "  --help, --quiet, --verbose, --log text|json, --threads N, --delimiter NAME\n"
                 "      as for every verb; see `iktsne --help`\n");
}

static void text_heading(ikt_text *text, const char *title, const char *words) {
    char line[512];
    snprintf(line, sizeof line, "%s%s%s:", title, words[0] ? ", " : "", words);
    ikt_text_add(text, "\n");
    ikt_text_wrap(text, 0, line);
}

static void text_entry(ikt_text *text, const ikt_verb *verb, const char *name, const char *help,
                       const char *note) {
    (void)verb;
    ikt_text_add(text, "  %s\n", name);
    ikt_text_wrap(text, 6, help);
    if (note[0]) ikt_text_add(text, "      %s\n", note);
}

static void text_keys(ikt_text *text, const ikt_config_part *parts, size_t n) {
    char *keys = NULL;
    if (text->status == IKT_OK) text->status = ikt_config_describe(text->ctx, parts, n, &keys);
    ikt_text_add(text, "\n%s", keys ? keys : "");
    ikt_free(&keys);
}

static void text_verbatim(ikt_text *text, const char *lines) {
    ikt_text_add(text, "\n%s", lines);
}

static void text_program(ikt_text *text, const ikt_verb *const *verbs, int n) {
    ikt_text_add(text,
                 "iktsne: %s\n\n"
                 "usage: iktsne VERB [arguments] [options]\n"
                 "       mpirun -n RANKS iktsne VERB [arguments] [options]\n\n",
                 ikt_program_summary);
    for (int v = 0; v < n; v++)
        ikt_text_add(text, "  %-9s %s\n", verbs[v]->name, verbs[v]->summary);
    ikt_text_add(text, "\noptions of every verb, also before it:\n");
    for (const ikt_program_option *o = ikt_program_options; o->name; o++) {
        const char *blank = o->argument[0] && o->argument[0] != '=' ? " " : "";
        const int room = 11 - (int)(strlen(o->name) + strlen(blank));
        ikt_text_add(text, "  --%s%s%-*s %s\n", o->name, blank, room, o->argument, o->help);
    }
    ikt_text_add(text, "\nexit codes:\n");
    for (const ikt_exit_code *e = ikt_exit_codes; e->help; e++)
        ikt_text_add(text, "  %2d  %s\n", e->code, e->help);
    ikt_text_add(text, "\nexamples:\n");
    for (int i = 0; i < 2; i++)
        ikt_text_add(text, "  %s\n", ikt_example_of(NULL, i)->command);
}

static const ikt_help_form as_text = {.name = "text",
                                      .program = text_program,
                                      .verb = text_verb,
                                      .option = text_option,
                                      .common = text_common,
                                      .heading = text_heading,
                                      .entry = text_entry,
                                      .keys = text_keys,
                                      .verbatim = text_verbatim};

/* --- a page in any form ----------------------------------------------------------------------- */

static const ikt_help_form *const forms[] = {&as_text, &ikt_help_man, &ikt_help_bash, &ikt_help_zsh,
                                             &ikt_help_fish};
enum { FORMS = sizeof forms / sizeof *forms };

/* The form that `--help` or `--help=FORM` among the arguments asks for: NULL where there is none of
 * that name; text where nobody asks. *is_named: whether a form is named. */
static const ikt_help_form *form_of(int argc, char **argv, bool *is_named) {
    static const char option[] = "--help=";
    *is_named = true;
    for (int at = 0; at < argc && strcmp(argv[at], "--") != 0; at++) {
        if (strncmp(argv[at], option, sizeof option - 1) != 0) continue;
        for (int f = 0; f < FORMS; f++)
            if (strcmp(forms[f]->name, argv[at] + sizeof option - 1) == 0) return forms[f];
        return NULL;
    }
    *is_named = false;
    return &as_text;
}

ikt_help ikt_help_begin(ikt_context *ctx, const ikt_verb *verb, int argc, char **argv) {
    bool is_named;
    const ikt_help_form *form = form_of(argc, argv, &is_named);
    return (ikt_help){form ? form : &as_text, verb, {ctx, NULL, 0, 0, IKT_OK}};
}

void ikt_help_heading(ikt_help *help, const char *title, const char *words) {
    if (help->form->heading) help->form->heading(&help->text, title, words);
}

void ikt_help_entry(ikt_help *help, const char *name, const char *words, const char *note) {
    help->form->entry(&help->text, help->verb, name, words, note);
}

void ikt_help_keys(ikt_help *help, const ikt_config_part *parts, size_t n) {
    help->form->keys(&help->text, parts, n);
}

void ikt_help_verbatim(ikt_help *help, const char *lines) {
    if (help->form->verbatim) help->form->verbatim(&help->text, lines);
}

ikt_status ikt_help_end(ikt_help *help) {
    const ikt_text *text = &help->text;
    if (text->status == IKT_OK && text->data && ikt_rank(text->ctx) == 0) fputs(text->data, stdout);
    ikt_free(&help->text.data);
    return text->status;
}

ikt_status ikt_help_options(ikt_context *ctx, const ikt_verb *verb, const ikt_option *options,
                            int argc, char **argv) {
    ikt_help help = ikt_help_begin(ctx, verb, argc, argv);
    if (help.form->verb) help.form->verb(&help.text, verb);
    for (const ikt_option *option = options; option->name; option++)
        help.form->option(&help.text, verb, option);
    if (help.form->common) help.form->common(&help.text);
    return ikt_help_end(&help);
}

/* --- documents about the program -------------------------------------------------------------- */

bool ikt_document_wanted(int argc, char **argv) {
    bool is_named;
    form_of(argc, argv, &is_named);
    return is_named;
}

static void add_lines(ikt_text *text, const char *const *lines) {
    for (; lines && *lines; lines++)
        ikt_text_add(text, "%s\n", *lines);
}

/* A verb prints its own tables when it is asked for help. */
static ikt_status print_verb(ikt_context *ctx, const ikt_help_form *form, const ikt_verb *verb) {
    char asked[32], *arguments[] = {asked};
    ikt_help help = {form, verb, {ctx, NULL, 0, 0, IKT_OK}};
    snprintf(asked, sizeof asked, "--help=%s", form->name);
    IKT_TRY(verb->run(ctx, 1, arguments));
    if (form->end) form->end(&help.text, verb);
    return ikt_help_end(&help);
}

/* The page of a verb, or of the program, which in a completion holds those of all verbs. */
static ikt_status print_page(ikt_context *ctx, const ikt_help_form *form, const ikt_verb *verb,
                             const ikt_verb *const *verbs, int n) {
    ikt_help begin = {form, NULL, {ctx, NULL, 0, 0, IKT_OK}}, end = begin;
    if (verb && !form->tail) return print_verb(ctx, form, verb);
    add_lines(&begin.text, form->head);
    form->program(&begin.text, verbs, n);
    IKT_TRY(ikt_help_end(&begin));
    for (int v = 0; v < n && form->tail; v++)
        IKT_TRY(print_verb(ctx, form, verbs[v]));
    add_lines(&end.text, form->tail);
    return ikt_help_end(&end);
}

ikt_status ikt_document_print(int argc, char **argv, const ikt_verb *const *verbs, int n) {
    bool is_named;
    const ikt_help_form *form = form_of(argc, argv, &is_named);
    const ikt_verb *verb = NULL;
    ikt_context *ctx = NULL;
    IKT_TRY(ikt_context_create_alone(1, &ctx));
    for (int at = 0; at < argc && !verb; at++)
        for (int v = 0; v < n && !verb; v++)
            if (strcmp(argv[at], verbs[v]->name) == 0) verb = verbs[v];
    ikt_status st = ikt_memory_check_start(ctx);
    if (st == IKT_OK)
        st = form ? print_page(ctx, form, verb, verbs, n)
                  : ikt_fail(ctx, IKT_ERR_USAGE,
                             "--help=FORM: the forms are text, man, bash, zsh and fish");
    if (st == IKT_OK && (fflush(stdout) != 0 || ferror(stdout)))
        st = ikt_fail(ctx, IKT_ERR_FILE, "standard output cannot be written: %s", strerror(errno));
    if (st != IKT_OK) fprintf(stderr, "iktsne: error: %s\n", ikt_message(ctx));
    ikt_context_destroy(&ctx);
    return st;
}

ikt_status ikt_document_overview(ikt_context *ctx, const ikt_verb *const *verbs, int n) {
    return print_page(ctx, &as_text, NULL, verbs, n);
}
