/* Command-line options of a verb. */
#include "app/verb.h"

#include <stdio.h>
#include <string.h>

#include "app/help.h"
#include "app/json.h"
#include "base/atomic_file.h"
#include "base/encoding.h"
#include "base/log.h"
#include "config/config.h"
#include "config/value.h"
#include "settings/settings.h"

/* Settings of a run that options of other verbs stand for. */
static const struct {
    const char *setting, *option;
} same[] = {{"input.file", "input"},       {"input.dataset", "dataset"},
            {"input.labels", "labels"},    {"input.labels", "colour-by"},
            {"output.picture", "picture"}, {"output.overwrite", "overwrite"}};
enum { SAME = sizeof same / sizeof *same };

const char *ikt_option_setting(const ikt_option *option) {
    for (int s = 0; s < SAME; s++)
        if (strcmp(same[s].option, option->name) == 0) return same[s].setting;
    return NULL;
}

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

static bool takes_settings(const ikt_verb *verb) {
    return strstr(verb->synopsis, "=VALUE") || strstr(verb->synopsis, "=value");
}

/* What was meant by an option that the verb does not have: one of its own, or of every verb; the
 * name of another program; a setting. */
static ikt_status refuse_option(ikt_context *ctx, const ikt_verb *verb, const ikt_option *options,
                                const char *name) {
    const char *wanted = name + strspn(name, "-"), *sentence = ikt_peer_hint(wanted);
    ikt_nearest own = ikt_nearest_begin(wanted), setting = own;
    ikt_nearest positive = ikt_nearest_begin(strncmp(wanted, "no-", 3) == 0 ? wanted + 3 : "");
    for (const ikt_option *o = options; o->name; o++) {
        ikt_nearest_offer(&own, o->name);
        ikt_nearest_offer(&positive, o->name);
    }
    for (const ikt_program_option *o = ikt_program_options; o->name; o++)
        ikt_nearest_offer(&own, o->name);
    const char *near = ikt_text_or(own.name, positive.name);
    if (near[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "iktsne %s has no option %s; did you mean --%s? (`iktsne %s --help` lists "
                        "them)",
                        verb->name, name, near, verb->name);
    if (sentence)
        return ikt_fail(ctx, IKT_ERR_USAGE, "iktsne %s has no option %s; %s", verb->name, name,
                        sentence);
    if (takes_settings(verb)) {
        ikt_settings settings;
        ikt_config_part parts[IKT_SETTINGS_PARTS];
        ikt_settings_parts(&settings, parts);
        ikt_config_offer(&setting, parts, IKT_SETTINGS_PARTS);
    }
    if (setting.name[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "iktsne %s has no option %s; settings are written without dashes: "
                        "%s=VALUE",
                        verb->name, name, setting.name);
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "iktsne %s has no option %s (`iktsne %s --help` lists them)%s%s", verb->name,
                    name, verb->name,
                    strchr(name, '.') ? "; a file of that name is written ./" : "",
                    strchr(name, '.') ? name : "");
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
        return refuse_option(ctx, verb, options, name);
    }
    if (equals && negated)
        return ikt_fail(ctx, IKT_ERR_USAGE, "--no-%s takes no value", option->name);
    if (equals) return set(ctx, option, equals + 1);
    if (option->type == IKT_KEY_BOOL) return set(ctx, option, negated ? "no" : "yes");
    if (*at + 1 < argc) return set(ctx, option, argv[++*at]);
    return ikt_fail(ctx, IKT_ERR_USAGE, "--%s needs a value (%s)", option->name, option->argument);
}

/* The characters of a setting's name at the beginning of "section.key=value"; 0: it is none. */
static size_t setting_length(const char *word) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    const size_t section = strspn(word, letters);
    const size_t key = word[section] == '.' ? strspn(word + section + 1, letters) : 0;
    const size_t length = section + 1 + key;
    return section > 0 && key > 0 && word[length] == '=' ? length : 0;
}

/* "section.key=value" as the option of the verb that stands for it; *is_taken: there is one. A verb
 * that reads settings gets the others as arguments; for one that reads none they are a mistake. */
static ikt_status take_setting(ikt_context *ctx, const ikt_verb *verb, const ikt_option *options,
                               const char *word, bool *is_taken) {
    const size_t length = setting_length(word);
    *is_taken = false;
    if (length == 0) return IKT_OK;
    for (int s = 0; s < SAME; s++)
        for (const ikt_option *option = options; option->name; option++)
            if (strcmp(option->name, same[s].option) == 0 && strlen(same[s].setting) == length &&
                strncmp(word, same[s].setting, length) == 0) {
                *is_taken = true;
                return set(ctx, option, word + length + 1);
            }
    if (takes_settings(verb)) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "iktsne %s does not take the setting %.*s (`iktsne %s --help` lists its "
                    "options; a file of that name is written ./%.80s)",
                    verb->name, (int)length, word, verb->name, word);
}

ikt_status ikt_options_parse(ikt_context *ctx, const ikt_verb *verb, const ikt_option *options,
                             int argc, char **argv, const char **positional, int min_positional,
                             int max_positional, int *n_positional, bool *help) {
    int count = 0;
    *help = ikt_option_given("help", argc, argv);
    for (int at = 0; at < argc && strcmp(argv[at], "--") != 0; at++)
        *help |= strcmp(argv[at], "-h") == 0;
    if (*help) return ikt_help_options(ctx, verb, options, argc, argv);
    const bool is_json = ikt_log_is_json(ctx);
    if (is_json) ikt_json_among_lines();
    for (const ikt_option *option = options; option->name; option++) {
        const bool is_set = is_json && strcmp(option->name, "json") == 0;
        IKT_TRY(set(ctx, option, is_set ? "yes" : option->fallback));
    }
    bool options_end = false;
    for (int at = 0; at < argc; at++) {
        const bool is_option = !options_end && argv[at][0] == '-' && argv[at][1] != '\0';
        if (is_option && strcmp(argv[at], "--") == 0) {
            options_end = true;
        } else if (is_option) {
            IKT_TRY(take_option(ctx, verb, options, argc, argv, &at));
        } else {
            bool is_taken = false;
            if (!options_end) IKT_TRY(take_setting(ctx, verb, options, argv[at], &is_taken));
            if (is_taken) continue;
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

ikt_status ikt_inputs_check(ikt_context *ctx, const char *const *names, int n) {
    char path[IKT_STRING_MAX];
    ikt_status st = IKT_OK;
    for (int i = 0; i < n && st == IKT_OK && ikt_rank(ctx) == 0; i++) {
        snprintf(path, sizeof path, "%.*s", (int)ikt_file_name_length(names[i]), names[i]);
        st = ikt_input_check(ctx, path);
    }
    return ikt_agree(ctx, st);
}
