/* Help as manual pages (roff, macros man), and as completions of shells. */
#include <stdio.h>
#include <string.h>

#include "app/help.h"
#include "app/shell_scripts.h"
#include "base/encoding.h"
#include "iktsne/build.h"

/* Text as roff: what it would take for requests, escapes or typographic signs. A line of `words`
 * that begins with a dot or an apostrophe is text, too. */
static void add_escaped(ikt_text *text, const char *words) {
    static const char signs[] = "\\-'`^~";
    static const char *const escapes[] = {"\\e", "\\-", "\\(aq", "\\(ga", "\\(ha", "\\(ti"};
    for (const char *c = words; *c; c++) {
        const char *sign = strchr(signs, *c);
        if ((c == words || c[-1] == '\n') && (*c == '.' || *c == '\'')) ikt_text_add(text, "\\&");
        if (sign)
            ikt_text_add(text, "%s", escapes[sign - signs]);
        else
            ikt_text_add(text, "%c", *c);
    }
}

static void add_line(ikt_text *text, const char *words) {
    add_escaped(text, words);
    ikt_text_add(text, "\n");
}

static void add_sentence(ikt_text *text, const char *words) {
    add_escaped(text, words);
    ikt_text_add(text, ".\n");
}

static void add_upper(ikt_text *text, const char *words) {
    for (const char *c = words; *c; c++)
        ikt_text_add(text, "%c", *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
}

/* "-embed" behind the program's name; nothing for the program itself. */
static void add_head(ikt_text *text, const char *verb, const char *summary) {
    ikt_text_add(text, ".\\\" Made by `iktsne%s%s --help=man`.\n.TH IKTSNE", verb ? " " : "",
                 verb ? verb : "");
    if (verb) ikt_text_add(text, "\\-");
    if (verb) add_upper(text, verb);
    ikt_text_add(text, " 1 \"%s\" \"iktsne %s\" \"User Commands\"\n.SH NAME\niktsne%s%s \\- ",
                 IKT_DATE, IKT_VERSION, verb ? "\\-" : "", verb ? verb : "");
    add_line(text, summary);
}

/* A term and what it means; `sign` stands between its bold name and its argument. */
static void add_term(ikt_text *text, const char *dashes, const char *name, const char *sign,
                     const char *argument) {
    ikt_text_add(text, ".TP\n\\fB");
    add_escaped(text, dashes);
    add_escaped(text, name);
    ikt_text_add(text, "\\fR%s", sign);
    if (argument[0]) {
        ikt_text_add(text, "\\fI");
        add_escaped(text, argument);
        ikt_text_add(text, "\\fR");
    }
    ikt_text_add(text, "\n");
}

static void man_heading(ikt_text *text, const char *title, const char *words) {
    ikt_text_add(text, ".SH ");
    add_upper(text, title);
    ikt_text_add(text, "\n");
    if (!words[0]) return;
    add_upper(text, (char[]){words[0], '\0'});
    add_sentence(text, words + 1);
}

static void add_examples(ikt_text *text, const char *verb, int most) {
    const ikt_example *example;
    for (int i = 0; i < most && (example = ikt_example_of(verb, i)) != NULL; i++) {
        if (i == 0) man_heading(text, "examples", "");
        ikt_text_add(text, "%s.nf\n.RS\n", i > 0 ? ".PP\n" : "");
        add_line(text, example->command);
        ikt_text_add(text, ".RE\n.fi\n");
        if (!example->help) continue;
        ikt_text_add(text, ".PP\n");
        add_sentence(text, example->help);
    }
}

static void add_exit_codes(ikt_text *text) {
    man_heading(text, "exit status", "");
    for (const ikt_exit_code *e = ikt_exit_codes; e->help; e++) {
        ikt_text_add(text, ".TP\n.B %d\n", e->code);
        add_line(text, e->help);
    }
}

static void add_program_options(ikt_text *text) {
    for (const ikt_program_option *o = ikt_program_options; o->name; o++) {
        add_term(text, "--", o->name, o->argument[0] && o->argument[0] != '=' ? " " : "",
                 o->argument);
        add_line(text, o->help);
    }
}

/* --- a verb ----------------------------------------------------------------------------------- */

static void man_verb(ikt_text *text, const ikt_verb *verb) {
    add_head(text, verb->name, verb->summary);
    ikt_text_add(text, ".SH SYNOPSIS\n.B iktsne %s\n", verb->name);
    add_line(text, verb->synopsis);
    ikt_text_add(text, ".PP\n.B mpirun \\-n\n.I RANKS\n.B iktsne %s\n\\&...\n", verb->name);
    man_heading(text, "description", "");
    add_sentence(text, verb->summary);
    if (verb->details) add_sentence(text, verb->details);
    man_heading(text, "options", "");
}

static void add_values(ikt_text *text, const char *expected, const char *fallback,
                       const char *unit) {
    ikt_text_add(text, "(");
    add_escaped(text, expected);
    if (unit[0]) ikt_text_add(text, "; ");
    add_escaped(text, unit);
    ikt_text_add(text, "; default ");
    add_escaped(text, ikt_text_or(fallback, "none"));
    ikt_text_add(text, ")\n");
}

static void man_option(ikt_text *text, const ikt_verb *verb, const ikt_option *option) {
    char expected[256], also[128];
    ikt_key key = ikt_option_key(option);
    const char *setting = ikt_option_setting(option);
    (void)verb;
    ikt_value_expected(&key, expected, sizeof expected);
    add_term(text, "--", option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
    add_sentence(text, option->help);
    if (option->type != IKT_KEY_BOOL) add_values(text, expected, option->fallback, "");
    if (setting) {
        snprintf(also, sizeof also, "The setting %s is the same", setting);
        ikt_text_add(text, ".br\n");
        add_sentence(text, also);
    }
    if (option->type == IKT_KEY_BOOL && strcmp(option->fallback, "yes") == 0) {
        ikt_text_add(text, "(the default; \\fB\\-\\-no\\-");
        add_escaped(text, option->name);
        ikt_text_add(text, "\\fR turns it off)\n");
    }
}

static void man_entry(ikt_text *text, const ikt_verb *verb, const char *name, const char *help,
                      const char *note) {
    (void)verb;
    add_term(text, "", name, "", "");
    add_sentence(text, help);
    if (!note[0]) return;
    ikt_text_add(text, ".br\n");
    add_line(text, note + strspn(note, " "));
}

static void man_keys(ikt_text *text, const ikt_config_part *parts, size_t n) {
    for (size_t p = 0; p < n; p++) {
        const ikt_section *section = parts[p].section;
        ikt_text_add(text, ".SS ");
        add_escaped(text, section->name);
        ikt_text_add(text, "\n");
        add_sentence(text, section->help);
        for (size_t k = 0; k < section->n_keys; k++) {
            const ikt_key *key = &section->keys[k];
            char expected[256];
            ikt_value_expected(key, expected, sizeof expected);
            ikt_text_add(text, ".TP\n\\fB%s.", section->name);
            add_escaped(text, key->name);
            ikt_text_add(text, "\\fR\n");
            add_sentence(text, key->help);
            add_values(text, expected, key->fallback, key->unit ? key->unit : "");
        }
    }
}

static void man_verbatim(ikt_text *text, const char *lines) {
    ikt_text_add(text, ".nf\n");
    add_escaped(text, lines);
    ikt_text_add(text, ".fi\n");
}

static void man_end(ikt_text *text, const ikt_verb *verb) {
    add_exit_codes(text);
    add_examples(text, verb->name, 16);
    man_heading(text, "see also", "");
    ikt_text_add(text, ".BR iktsne (1)\n");
}

/* --- the program ------------------------------------------------------------------------------ */

static void man_program(ikt_text *text, const ikt_verb *const *verbs, int n) {
    add_head(text, NULL, ikt_program_summary);
    ikt_text_add(text, ".SH SYNOPSIS\n.B iktsne\n.I VERB\n[arguments] [options]\n.PP\n"
                       ".B mpirun \\-n\n.I RANKS\n.B iktsne\n.I VERB\n[arguments] [options]\n");
    man_heading(text, "verbs", "");
    for (int v = 0; v < n; v++) {
        add_term(text, "", verbs[v]->name, "", "");
        add_sentence(text, verbs[v]->summary);
    }
    man_heading(text, "options", "");
    ikt_text_add(text, "Of every verb, also before it; each verb has more.\n");
    add_program_options(text);
    add_exit_codes(text);
    add_examples(text, NULL, 2);
    man_heading(text, "see also", "");
    for (int v = 0; v < n; v++)
        ikt_text_add(text, ".BR iktsne\\-%s (1)%s\n", verbs[v]->name, v + 1 < n ? "," : "");
}

/* The options of every verb are written out in each page. */
const ikt_help_form ikt_help_man = {.name = "man",
                                    .program = man_program,
                                    .verb = man_verb,
                                    .option = man_option,
                                    .common = add_program_options,
                                    .heading = man_heading,
                                    .entry = man_entry,
                                    .keys = man_keys,
                                    .verbatim = man_verbatim,
                                    .end = man_end};

/* --- completions of shells -------------------------------------------------------------------- */

/* One table for all shells, between the head and the tail of each shell's own script (shell/). A
 * line of the table is a command with quoted words, which bash, zsh and fish read alike. */

enum { WORDS_MOST = 70 };

/* 'words', for all three shells. */
static void add_quoted(ikt_text *text, const char *words) {
    ikt_text_add(text, " '");
    for (const char *c = words; *c; c++)
        ikt_text_add(text, *c == '\'' ? "'\\''" : "%c", *c);
    ikt_text_add(text, "'");
}

/* The first clause of a help, that a list shows beside a name; colons would end it in zsh. */
static void add_clause(ikt_text *text, const char *help) {
    char clause[WORDS_MOST + 1];
    size_t length = strcspn(help, ";:(");
    const char *end = strstr(help, ". ");
    if (end && (size_t)(end - help) < length) length = (size_t)(end - help);
    if (length > WORDS_MOST) length = WORDS_MOST;
    memcpy(clause, help, length);
    while (length > 0 && clause[length - 1] == ' ' && help[length])
        length--;
    clause[length] = '\0';
    if (help[length] && length == WORDS_MOST && strrchr(clause, ' ')) *strrchr(clause, ' ') = '\0';
    add_quoted(text, clause);
}

static void add_option(ikt_text *text, const char *verb, const char *name, const char *argument,
                       const char *choices, const char *help) {
    ikt_text_add(text, "    _iktsne_option");
    add_quoted(text, verb);
    add_quoted(text, name);
    add_quoted(text, argument);
    add_quoted(text, choices);
    add_clause(text, help);
    ikt_text_add(text, "\n");
}

static void shell_program(ikt_text *text, const ikt_verb *const *verbs, int n) {
    for (int v = 0; v < n; v++) {
        ikt_text_add(text, "    _iktsne_verb");
        add_quoted(text, verbs[v]->name);
        add_clause(text, verbs[v]->summary);
        /* Whether it takes section.key=value. */
        const char *synopsis = verbs[v]->synopsis;
        add_quoted(text, strstr(synopsis, "=VALUE") || strstr(synopsis, "=value") ? "keys" : "");
        ikt_text_add(text, "\n");
    }
    for (const ikt_program_option *o = ikt_program_options; o->name; o++)
        add_option(text, "", o->name, o->argument[0] == '=' ? "" : o->argument, o->choices,
                   o->help);
}

/* What an option or key takes: "yes|no", its choices, "" for anything. */
static const char *choices_of(ikt_key_type type, const char *choices) {
    return type == IKT_KEY_BOOL ? "yes|no" : type == IKT_KEY_CHOICE ? choices : "";
}

/* A flag that is on takes --no-NAME; of others nobody would want it. */
static void shell_option(ikt_text *text, const ikt_verb *verb, const ikt_option *option) {
    const bool is_off = option->type == IKT_KEY_BOOL && strcmp(option->fallback, "yes") != 0;
    add_option(text, verb->name, option->name, option->argument ? option->argument : "",
               is_off ? "" : choices_of(option->type, option->choices), option->help);
}

static void shell_entry(ikt_text *text, const ikt_verb *verb, const char *name, const char *help,
                        const char *note) {
    (void)note;
    ikt_text_add(text, "    _iktsne_word");
    add_quoted(text, verb->name);
    add_quoted(text, name);
    add_clause(text, help);
    ikt_text_add(text, "\n");
}

static void shell_keys(ikt_text *text, const ikt_config_part *parts, size_t n) {
    for (size_t p = 0; p < n; p++)
        for (size_t k = 0; k < parts[p].section->n_keys; k++) {
            const ikt_key *key = &parts[p].section->keys[k];
            ikt_text_add(text, "    _iktsne_key '%s.%s'", parts[p].section->name, key->name);
            add_quoted(text, choices_of(key->type, key->choices));
            add_clause(text, key->help);
            ikt_text_add(text, "\n");
        }
}

#define SHELL_FORM(shell)                                                                          \
    {                                                                                              \
        .name = #shell, .program = shell_program, .head = ikt_shell_head_##shell,                  \
        .tail = ikt_shell_tail_##shell, .option = shell_option, .entry = shell_entry,              \
        .keys = shell_keys                                                                         \
    }

const ikt_help_form ikt_help_bash = SHELL_FORM(bash);
const ikt_help_form ikt_help_zsh = SHELL_FORM(zsh);
const ikt_help_form ikt_help_fish = SHELL_FORM(fish);
