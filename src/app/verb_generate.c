/* `iktsne generate`: writes a generated data set. */
#include <string.h>

#include "app/help.h"
#include "app/verb.h"
#include "base/encoding.h"
#include "base/files.h"
#include "base/memory.h"
#include "config/value.h"
#include "data/generate.h"

enum { OPTIONS_MAX = 16 };

/* The sets, with the options that each has and what auto is there. */
static ikt_status describe_sets(ikt_context *ctx, int argc, char **argv) {
    ikt_help help = ikt_help_begin(ctx, &ikt_verb_generate, argc, argv);
    const ikt_generator *generator;
    ikt_help_heading(&help, "sets (NAME)", "each with its options and the meaning of auto");
    for (int i = 0; (generator = ikt_generator_at(i)) != NULL; i++) {
        ikt_text uses = {ctx, NULL, 0, 0, IKT_OK};
        for (const ikt_generate_use *use = generator->uses; use->key; use++)
            ikt_text_add(&uses, "%s--%s %s", use == generator->uses ? "" : " ", use->key,
                         ikt_text_or(use->fallback, "(needed)"));
        ikt_help_entry(&help, generator->name, generator->help, uses.data ? uses.data : "");
        ikt_free(&uses.data);
    }
    return ikt_help_end(&help);
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    ikt_generate_settings settings;
    int64_t seed;
    bool overwrite, help;
    const ikt_option own[] = {{"seed", IKT_KEY_INT, "S", "1", 0, 1e15, NULL, &seed,
                               "The seed: the same seed and settings give the same data"},
                              {"overwrite", IKT_FLAG(&overwrite), "Replace OUT.h5 if it exists"}};
    ikt_option options[OPTIONS_MAX + 1] = {{0}};
    const char *positional[2];
    size_t n = 0;
    if (ikt_generate_section.n_keys + sizeof own / sizeof *own > OPTIONS_MAX)
        return ikt_fail(ctx, IKT_ERR_INTERNAL, "more options than %d", OPTIONS_MAX);
    /* The settings of the sets are options of the same names. */
    for (; n < ikt_generate_section.n_keys; n++) {
        const ikt_key *key = &ikt_generate_section.keys[n];
        options[n] = (ikt_option){.name = key->name,
                                  .type = key->type,
                                  .argument = key->unit,
                                  .fallback = key->fallback,
                                  .low = key->low,
                                  .high = key->high,
                                  .choices = key->choices,
                                  .help = key->help,
                                  .value = (char *)&settings + key->offset};
    }
    memcpy(options + n, own, sizeof own);
    IKT_TRY(ikt_options_parse(ctx, &ikt_verb_generate, options, argc, argv, positional, 2, 2, NULL,
                              &help));
    if (help) return describe_sets(ctx, argc, argv);
    ikt_generation *generation = NULL;
    ikt_files files = {.ctx = ctx};
    ikt_files_add(&files, IKT_FILE_READ, "--source", settings.source);
    ikt_files_add_hdf5(&files, IKT_FILE_WRITTEN, "OUT.h5", positional[1], ".h5", false);
    IKT_TRY(ikt_files_check(&files));
    IKT_TRY(ikt_generation_open(ctx, positional[0], &settings, (uint64_t)seed, &generation));
    ikt_status st = ikt_generation_write(generation, positional[1], overwrite);
    ikt_generation_close(&generation);
    return st;
}

const ikt_verb ikt_verb_generate = {"generate", "NAME OUT.h5 [options]",
                                    "Write a data set with a known answer",
                                    "NAME is one of the sets below: the synthetic sets of the "
                                    "papers, surfaces, and images of digits",
                                    run};
