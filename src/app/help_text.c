/* Help as text: what --help prints. */
#include <stdio.h>
#include <string.h>

#include "app/help.h"
#include "base/memory.h"

static void text_verb(ikt_text *text, const ikt_verb *verb) {
    ikt_text_add(text, "usage: iktsne %s %s\n\n", verb->name, verb->synopsis);
    ikt_text_wrap(text, 0, verb->summary);
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
    ikt_text_add(text, "      (%s; default %s)\n", expected,
                 option->fallback[0] ? option->fallback : "none");
}

static void text_common(ikt_text *text) {
    ikt_text_add(text, "  --help, --quiet, --verbose, --log text|json, --threads N\n"
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

static void text_end(ikt_text *text, const ikt_verb *verb) {
    (void)text, (void)verb;
}

/* --- the program ------------------------------------------------------------------------------ */

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

static void text_tail(ikt_text *text) {
    (void)text;
}

const ikt_help_form ikt_help_text = {.name = "text",
                                     .program = text_program,
                                     .tail = text_tail,
                                     .verb = text_verb,
                                     .option = text_option,
                                     .common = text_common,
                                     .heading = text_heading,
                                     .entry = text_entry,
                                     .keys = text_keys,
                                     .verbatim = text_verbatim,
                                     .end = text_end};
