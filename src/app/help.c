/* Help of a verb in several forms. See help.h. */
#include "app/help.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static const ikt_help_form *const forms[] = {&ikt_help_text, &ikt_help_man, &ikt_help_bash,
                                             &ikt_help_zsh, &ikt_help_fish};
enum { FORMS = sizeof forms / sizeof *forms };

const ikt_help_form *ikt_help_form_of(int argc, char **argv) {
    static const char option[] = "--help=";
    for (int at = 0; at < argc && strcmp(argv[at], "--") != 0; at++) {
        if (strncmp(argv[at], option, sizeof option - 1) != 0) continue;
        for (int f = 0; f < FORMS; f++)
            if (strcmp(forms[f]->name, argv[at] + sizeof option - 1) == 0) return forms[f];
        return NULL;
    }
    return &ikt_help_text;
}

const char *ikt_help_choices(ikt_key_type type, const char *choices) {
    return type == IKT_KEY_BOOL ? "yes|no" : type == IKT_KEY_CHOICE ? choices : "";
}

bool ikt_help_takes_keys(const ikt_verb *verb) {
    return strstr(verb->synopsis, "=VALUE") || strstr(verb->synopsis, "=value");
}

ikt_help ikt_help_begin(ikt_context *ctx, const ikt_verb *verb, int argc, char **argv) {
    const ikt_help_form *form = ikt_help_form_of(argc, argv);
    return (ikt_help){form ? form : &ikt_help_text, verb, {ctx, NULL, 0, 0, IKT_OK}};
}

void ikt_help_heading(ikt_help *help, const char *title, const char *words) {
    help->form->heading(&help->text, title, words);
}

void ikt_help_entry(ikt_help *help, const char *name, const char *words, const char *note) {
    help->form->entry(&help->text, help->verb, name, words, note);
}

void ikt_help_keys(ikt_help *help, const ikt_config_part *parts, size_t n) {
    help->form->keys(&help->text, parts, n);
}

void ikt_help_verbatim(ikt_help *help, const char *lines) {
    help->form->verbatim(&help->text, lines);
}

ikt_status ikt_help_end(ikt_help *help) {
    const ikt_text *text = &help->text;
    if (text->status == IKT_OK && text->data && ikt_rank(text->ctx) == 0) fputs(text->data, stdout);
    ikt_free(&help->text.data);
    return text->status;
}

static ikt_status unknown_form(ikt_context *ctx, const ikt_verb *verb) {
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "iktsne %s --help=FORM: the forms are text, man, bash, zsh and fish",
                    verb->name);
}

ikt_status ikt_help_options(ikt_context *ctx, const ikt_verb *verb, const ikt_option *options,
                            size_t n, int argc, char **argv) {
    ikt_help help = ikt_help_begin(ctx, verb, argc, argv);
    if (!ikt_help_form_of(argc, argv)) return unknown_form(ctx, verb);
    help.form->verb(&help.text, verb);
    for (size_t o = 0; o < n; o++)
        help.form->option(&help.text, verb, &options[o]);
    help.form->common(&help.text);
    return ikt_help_end(&help);
}
