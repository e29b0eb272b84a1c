/* Help of a verb in several forms. See help.h. */
#include "app/help.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
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

/* --- documents about the program -------------------------------------------------------------- */

bool ikt_document_wanted(int argc, char **argv) {
    for (int at = 0; at < argc && strcmp(argv[at], "--") != 0; at++)
        if (strncmp(argv[at], "--help=", 7) == 0) return true;
    return false;
}

static ikt_status print_program(ikt_context *ctx, const ikt_help_form *form,
                                const ikt_verb *const *verbs, int n, bool has_tail) {
    ikt_help help = {form, NULL, {ctx, NULL, 0, 0, IKT_OK}};
    if (has_tail)
        form->tail(&help.text);
    else
        form->program(&help.text, verbs, n);
    return ikt_help_end(&help);
}

/* A verb prints its own tables when it is asked for help. */
static ikt_status print_verb(ikt_context *ctx, const ikt_help_form *form, const ikt_verb *verb) {
    char asked[32], *arguments[] = {asked};
    ikt_help help = {form, verb, {ctx, NULL, 0, 0, IKT_OK}};
    snprintf(asked, sizeof asked, "--help=%s", form->name);
    IKT_TRY(verb->run(ctx, 1, arguments));
    form->end(&help.text, verb);
    return ikt_help_end(&help);
}

static const ikt_verb *find_verb(int argc, char **argv, const ikt_verb *const *verbs, int n) {
    for (int at = 0; at < argc; at++)
        for (int v = 0; v < n; v++)
            if (strcmp(argv[at], verbs[v]->name) == 0) return verbs[v];
    return NULL;
}

static ikt_status print_all(ikt_context *ctx, const ikt_help_form *form,
                            const ikt_verb *const *verbs, int n) {
    IKT_TRY(print_program(ctx, form, verbs, n, false));
    for (int v = 0; v < n && form->takes_verbs; v++)
        IKT_TRY(print_verb(ctx, form, verbs[v]));
    return form->takes_verbs ? print_program(ctx, form, verbs, n, true) : IKT_OK;
}

static ikt_status print_form(ikt_context *ctx, int argc, char **argv, const ikt_verb *const *verbs,
                             int n) {
    const ikt_help_form *form = ikt_help_form_of(argc, argv);
    const ikt_verb *verb = find_verb(argc, argv, verbs, n);
    if (!form)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--help=FORM: the forms are text, man, bash, zsh and fish");
    IKT_TRY(verb && !form->takes_verbs ? print_verb(ctx, form, verb)
                                       : print_all(ctx, form, verbs, n));
    if (fflush(stdout) == 0 && !ferror(stdout)) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "standard output cannot be written: %s", strerror(errno));
}

ikt_status ikt_document_print(int argc, char **argv, const ikt_verb *const *verbs, int n) {
    ikt_context *ctx = ikt_context_create_alone();
    if (!ctx) return IKT_ERR_RESOURCE;
    const ikt_status st = print_form(ctx, argc, argv, verbs, n);
    if (st != IKT_OK) fprintf(stderr, "iktsne: error: %s\n", ikt_message(ctx));
    ikt_context_destroy(&ctx);
    return st;
}

ikt_status ikt_document_overview(ikt_context *ctx, const ikt_verb *const *verbs, int n) {
    return print_program(ctx, &ikt_help_text, verbs, n, false);
}
