/* `iktsne generate`: writes a generated data set. */
#include <stdio.h>

#include "app/option.h"
#include "app/verbs.h"
#include "base/memory.h"
#include "config/value.h"
#include "data/generate.h"

enum { OPTIONS_MAX = 16 };

typedef struct {
    ikt_generate_settings settings;
    int64_t seed;
    bool overwrite;
} arguments;

/* The settings of the sets as options of the same names, and the verb's own. */
static size_t make_options(arguments *a, ikt_option options[OPTIONS_MAX]) {
    size_t n = 0;
    for (size_t k = 0; k < ikt_generate_section.n_keys; k++) {
        const ikt_key *key = &ikt_generate_section.keys[k];
        options[n++] = (ikt_option){.name = key->name,
                                    .type = key->type,
                                    .argument = key->unit,
                                    .fallback = key->fallback,
                                    .low = key->low,
                                    .high = key->high,
                                    .choices = key->choices,
                                    .help = key->help,
                                    .value = (char *)&a->settings + key->offset};
    }
    options[n++] = (ikt_option){
        "seed",  IKT_KEY_INT, "S",  "1",
        0,       1e15,        NULL, "Seed: the same seed and settings give the same data",
        &a->seed};
    options[n++] = (ikt_option){
        "overwrite",  IKT_KEY_BOOL, NULL, "no", 0, 0, NULL, "Replace OUT.h5 if it exists",
        &a->overwrite};
    return n;
}

/* One line a set, one with its settings and their defaults. */
static ikt_status print_sets(ikt_context *ctx) {
    ikt_text text = {ctx, NULL, 0, 0, IKT_OK};
    ikt_text_add(&text, "\nsets (NAME), with the options that each has and what auto is there:\n");
    const ikt_generator *generator;
    for (int i = 0; (generator = ikt_generator_at(i)) != NULL; i++) {
        ikt_text_add(&text, "  %s\n", generator->name);
        ikt_text_wrap(&text, 6, generator->help);
        ikt_text_add(&text, "     ");
        for (const ikt_generate_use *use = generator->uses; use->key; use++)
            ikt_text_add(&text, " --%s %s", use->key,
                         use->fallback[0] ? use->fallback : "(needed)");
        ikt_text_add(&text, "\n");
    }
    if (text.status == IKT_OK && ikt_rank(ctx) == 0) fputs(text.data, stdout);
    ikt_free(&text.data);
    return text.status;
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    arguments a;
    ikt_option options[OPTIONS_MAX];
    const char *positional[2];
    int count;
    bool help;
    size_t n = make_options(&a, options);
    IKT_TRY(ikt_options_parse(ctx, &ikt_verb_generate, options, n, argc, argv, positional, 2, 2,
                              &count, &help));
    if (help) return print_sets(ctx);
    ikt_generation *generation = NULL;
    IKT_TRY(ikt_generation_open(ctx, positional[0], &a.settings, (uint64_t)a.seed, &generation));
    ikt_status st = ikt_generation_write(generation, positional[1], a.overwrite);
    ikt_generation_close(&generation);
    return st;
}

const ikt_verb ikt_verb_generate = {"generate", "NAME OUT.h5 [options]",
                                    "write a data set with a known answer: the papers' synthetic "
                                    "sets, surfaces, images of digits",
                                    run};
