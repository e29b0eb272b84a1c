/* A verb of the program, `iktsne VERB ...`, and its command-line options, which are declared in a
 * table, parsed and explained from it. */
#ifndef IKT_APP_VERB_H
#define IKT_APP_VERB_H

#include <stdbool.h>

#include "base/status.h"
#include "config/key.h"

typedef struct {
    const char *name;     /* "embed" */
    const char *synopsis; /* "CONFIG.yaml [SECTION.KEY=VALUE ...]" */
    const char *summary;  /* one sentence, without its full stop */
    const char *details;  /* more of them, also without the last full stop; or NULL */
    /* COLLECTIVE. argv holds what follows the verb. Returns an agreed status. */
    ikt_status (*run)(ikt_context *ctx, int argc, char **argv);
} ikt_verb;

/* All verbs; the table is in main.c. */
extern const ikt_verb ikt_verb_embed, ikt_verb_generate, ikt_verb_convert, ikt_verb_evaluate,
    ikt_verb_plot, ikt_verb_info, ikt_verb_plan, ikt_verb_transform, ikt_verb_study,
    ikt_verb_export, ikt_verb_align, ikt_verb_view, ikt_verb_landmarks;

typedef struct {
    const char *name; /* "points", for --points; NULL ends a table */
    ikt_key_type type;
    const char *argument; /* "N" in help; NULL for flags (BOOL) */
    const char *fallback; /* default, as a user would write it */
    double low, high;     /* INT, REAL */
    const char *choices;  /* CHOICE: "a|b" */
    void *value;          /* int64_t, double, bool, char[IKT_STRING_MAX] or int, by type */
    const char *help;     /* sentences, without the last full stop */
} ikt_option;

/* What lies between name and help of the usual kinds: a flag that is off, a text, a choice. */
#define IKT_FLAG(value)                     IKT_KEY_BOOL, NULL, "no", 0, 0, NULL, value
#define IKT_TEXT(argument, fallback, value) IKT_KEY_STRING, argument, fallback, 0, 0, NULL, value
#define IKT_CHOICE(argument, fallback, choices, value)                                             \
    IKT_KEY_CHOICE, argument, fallback, 0, 0, choices, value

/* SAME-ARGS. Sets the values (defaults first) and collects positional arguments.
 *   options        table that ends with an option without a name
 *   positional     [max_positional], receives pointers into argv
 *   n_positional   receives how many there are; may be NULL
 *   help           set when --help was given: it has been printed, in the form that --help=FORM
 *                  asks for, and the verb should return; one that has more to say does so by help.h
 * Where a setting of a run means the same as an option, it is taken in its place
 * (ikt_option_setting), whether or not the verb reads settings.
 * Accepts --name value, --name=value, flags --name, --no-name and --name=yes|no; options may stand
 * between arguments; `--` ends them; `-` alone is an argument. The last of several wins. Where the
 * log is JSON, so is what the verb prints (--json), on one line.
 * Errors: IKT_ERR_USAGE: unknown option (with what was meant, where that can be told), bad value,
 * too few or many arguments.
 */
ikt_status ikt_options_parse(ikt_context *ctx, const ikt_verb *verb, const ikt_option *options,
                             int argc, char **argv, const char **positional, int min_positional,
                             int max_positional, int *n_positional, bool *help);

/* LOCAL, pure. The setting of a run that an option stands for, and by whose name it may also be
 * given, "input.labels=NAME" for --labels NAME; NULL for most. */
const char *ikt_option_setting(const ikt_option *option);

/* COLLECTIVE. Refuses names of inputs, FILE or FILE:PATH, that cannot be read: before outputs are
 * looked at, since a wrong name there explains more. Errors: IKT_ERR_FILE. */
ikt_status ikt_inputs_check(ikt_context *ctx, const char *const *names, int n);

/* LOCAL. True when the option was given on the command line. */
bool ikt_option_given(const char *name, int argc, char **argv);

#endif
