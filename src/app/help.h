/* The help of a verb in the form that is asked for: text, manual page, completion of a shell.
 *
 * All forms are made from the same tables: options (verb.h), keys (config/key.h), examples. A
 * verb that has more to say than its options does it by these functions, once for all forms:
 *
 *     ikt_help page = ikt_help_begin(ctx, &ikt_verb_it, argc, argv);
 *     ikt_help_heading(&page, "sets", "");
 *     ikt_help_entry(&page, "sphere", "Points on a sphere", "--points 1000");
 *     return ikt_help_end(&page);
 */
#ifndef IKT_APP_HELP_H
#define IKT_APP_HELP_H

#include "app/verb.h"
#include "config/config.h"
#include "config/value.h"

/* What a form makes of each part; a part that is NULL is left out. Texts are plain; a form quotes
 * them as it needs. */
typedef struct {
    const char *name; /* "man", as in --help=man */
    /* Of the program as a whole. A completion has lines before that and, behind all verbs, which
     * then follow, at its end; each list ends with a NULL. */
    void (*program)(ikt_text *text, const ikt_verb *const *verbs, int n);
    const char *const *head, *const *tail;
    /* Before the options of a verb; each; after them: the options that every verb has. */
    void (*verb)(ikt_text *text, const ikt_verb *verb);
    void (*option)(ikt_text *text, const ikt_verb *verb, const ikt_option *option);
    void (*common)(ikt_text *text);
    /* What else a verb has to say: a title with some words, which may be ""; under it a thing with
     * a name (a word that may stand on the command line), note may be ""; keys of the
     * configuration; lines as they stand. */
    void (*heading)(ikt_text *text, const char *title, const char *words);
    void (*entry)(ikt_text *text, const ikt_verb *verb, const char *name, const char *help,
                  const char *note);
    void (*keys)(ikt_text *text, const ikt_config_part *parts, size_t n);
    void (*verbatim)(ikt_text *text, const char *lines);
    /* After all of a verb. */
    void (*end)(ikt_text *text, const ikt_verb *verb);
} ikt_help_form;

extern const ikt_help_form ikt_help_man, ikt_help_bash, ikt_help_zsh, ikt_help_fish;

typedef struct {
    const ikt_help_form *form;
    const ikt_verb *verb;
    ikt_text text;
} ikt_help;

/* LOCAL. Begins a part, adds to it, and prints it on rank 0. Errors: IKT_ERR_RESOURCE. */
ikt_help ikt_help_begin(ikt_context *ctx, const ikt_verb *verb, int argc, char **argv);
void ikt_help_heading(ikt_help *help, const char *title, const char *words);
void ikt_help_entry(ikt_help *help, const char *name, const char *words, const char *note);
void ikt_help_keys(ikt_help *help, const ikt_config_part *parts, size_t n);
void ikt_help_verbatim(ikt_help *help, const char *lines);
ikt_status ikt_help_end(ikt_help *help);

/* LOCAL. Help of a verb and its options. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_help_options(ikt_context *ctx, const ikt_verb *verb, const ikt_option *options,
                            int argc, char **argv);

/* LOCAL, pure. How an option is declared, as a key: for ikt_value_expected and parsing. */
ikt_key ikt_option_key(const ikt_option *option);

/* --- tables: the program in a sentence, options and exit codes of every verb, examples -------- */

extern const char ikt_program_summary[];

typedef struct {
    const char *name;     /* "threads"; NULL ends the table */
    const char *argument; /* "N" or "" */
    const char *choices;  /* "text|json" or "" */
    const char *help;
} ikt_program_option;

extern const ikt_program_option ikt_program_options[];

typedef struct {
    int code;
    const char *help; /* NULL ends the table */
} ikt_exit_code;

extern const ikt_exit_code ikt_exit_codes[];

typedef struct {
    const char *verb;    /* "embed" */
    const char *command; /* as it would be typed */
    const char *help;    /* what it does, or NULL */
} ikt_example;

/* LOCAL. i-th example of a verb; of any verb for NULL. NULL beyond the last. */
const ikt_example *ikt_example_of(const char *verb, int i);

/* --- documents about the program, printed without MPI: manual pages and completions ----------- */

/* LOCAL. Whether the command line asks for one: --help=FORM. */
bool ikt_document_wanted(int argc, char **argv);

/* LOCAL, before MPI_Init. Prints what the command line asks for on standard output: the page of the
 * verb it names, the page of the program, or a completion. `verbs` [n] is the table of verbs.
 * Returns an exit code; what fails is said on standard error. */
ikt_status ikt_document_print(int argc, char **argv, const ikt_verb *const *verbs, int n);

/* LOCAL. Help of the program as a whole, as text. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_document_overview(ikt_context *ctx, const ikt_verb *const *verbs, int n);

#endif
