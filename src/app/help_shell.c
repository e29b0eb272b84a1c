/* Help as completions of shells: one table for all, between the head and the tail of each shell's
 * own script (shell/). A line of the table is a command with quoted words, which bash, zsh and fish
 * read alike. */
#include <string.h>

#include "app/help.h"
#include "app/shell_scripts.h"

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
