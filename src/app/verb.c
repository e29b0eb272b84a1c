/* Command-line options of a verb. */
#include "app/verb.h"

#include <stdio.h>
#include <string.h>

#include "app/help.h"
#include "config/value.h"

ikt_key ikt_option_key(const ikt_option *option) {
    return (ikt_key){.name = option->name,
                     .type = option->type,
                     .fallback = option->fallback,
                     .low = option->low,
                     .high = option->high,
                     .choices = option->choices,
                     .allow_auto = strcmp(option->fallback, "auto") == 0};
}

static ikt_status set(ikt_context *ctx, const ikt_option *option, const char *text) {
    char what[80];
    ikt_key key = ikt_option_key(option);
    snprintf(what, sizeof what, "--%s", option->name);
    return ikt_value_parse(ctx, &key, what, text, option->value);
}

/* The option of that name; *negated for --no-NAME of a flag. */
static const ikt_option *find(const ikt_option *options, const char *name, size_t length,
                              bool *negated) {
    for (const ikt_option *option = options; option->name; option++) {
        const char *own = option->name;
        *negated = option->type == IKT_KEY_BOOL && length == strlen(own) + 3 &&
                   strncmp(name, "no-", 3) == 0 && strncmp(own, name + 3, length - 3) == 0;
        if (*negated || (strlen(own) == length && strncmp(own, name, length) == 0)) return option;
    }
    return NULL;
}

/* Handles argv[*at], which begins with a dash: dashes, name, perhaps =value. */
static ikt_status take_option(ikt_context *ctx, const ikt_verb *verb, const ikt_option *options,
                              int argc, char **argv, int *at) {
    const char *word = argv[*at], *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : strlen(word);
    bool negated = false;
    const ikt_option *option =
        word[1] == '-' ? find(options, word + 2, length - 2, &negated) : NULL;
    if (!option) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        const char *wanted = name + strspn(name, "-"), *nearest = "help";
        for (const ikt_option *o = options; o->name; o++)
            if (ikt_name_distance(o->name, wanted) < ikt_name_distance(nearest, wanted))
                nearest = o->name;
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "iktsne %s has no option %s; did you mean --%s? (`iktsne %s --help` lists "
                        "them)",
                        verb->name, name, nearest, verb->name);
    }
    if (equals && negated)
        return ikt_fail(ctx, IKT_ERR_USAGE, "--no-%s takes no value", option->name);
    if (equals) return set(ctx, option, equals + 1);
    if (option->type == IKT_KEY_BOOL) return set(ctx, option, negated ? "no" : "yes");
    if (*at + 1 < argc) return set(ctx, option, argv[++*at]);
    return ikt_fail(ctx, IKT_ERR_USAGE, "--%s needs a value (%s)", option->name, option->argument);
}

ikt_status ikt_options_parse(ikt_context *ctx, const ikt_verb *verb, const ikt_option *options,
                             int argc, char **argv, const char **positional, int min_positional,
                             int max_positional, int *n_positional, bool *help) {
    int count = 0;
    *help = ikt_option_given("help", argc, argv);
    for (int at = 0; at < argc && strcmp(argv[at], "--") != 0; at++)
        *help |= strcmp(argv[at], "-h") == 0;
    if (*help) return ikt_help_options(ctx, verb, options, argc, argv);
    for (const ikt_option *option = options; option->name; option++)
        IKT_TRY(set(ctx, option, option->fallback));
    bool options_end = false;
    for (int at = 0; at < argc; at++) {
        const bool is_option = !options_end && argv[at][0] == '-' && argv[at][1] != '\0';
        if (is_option && strcmp(argv[at], "--") == 0) {
            options_end = true;
        } else if (is_option) {
            IKT_TRY(take_option(ctx, verb, options, argc, argv, &at));
        } else {
            if (count < max_positional) positional[count] = argv[at];
            count++;
        }
    }
    if (n_positional) *n_positional = count;
    if (count >= min_positional && count <= max_positional) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE, "too %s arguments; usage: iktsne %s %s",
                    count < min_positional ? "few" : "many", verb->name, verb->synopsis);
}

bool ikt_option_given(const char *name, int argc, char **argv) {
    size_t length = strlen(name);
    for (int at = 0; at < argc && strcmp(argv[at], "--") != 0; at++)
        if (strncmp(argv[at], "--", 2) == 0 && strncmp(argv[at] + 2, name, length) == 0 &&
            (argv[at][2 + length] == '\0' || argv[at][2 + length] == '='))
            return true;
    return false;
}
