/* The settings of a verb that works on a run. See settings_read.h. */
#include "app/settings_read.h"

#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "config/config.h"
#include "config/value.h"

/* The words by what they are, and the text of the configuration. */
typedef struct {
    const char *configuration, *data, *result; /* NULL: not given */
    const char *text;
} reading;

static bool is_assignment(const char *word) {
    return word[strcspn(word, "=/")] == '=';
}

static bool ends_in(const char *name, const char *end) {
    const size_t length = strlen(name), own = strlen(end);
    return length > own && strcmp(name + length - own, end) == 0;
}

/* Whether a text begins as a configuration does: its first line that is neither empty nor a comment
 * is "NAME:" with nothing behind it, a brace, or whatever there is where NAME is a section's. */
static bool begins_as_configuration(const char *at, const ikt_config_part *parts, size_t n) {
    static const char blanks[] = " \t\r";
    while (*at == '#' || at[strspn(at, blanks)] == '\n')
        at += strcspn(at, "\n") + (strchr(at, '\n') != NULL);
    const size_t word = strspn(at, "abcdefghijklmnopqrstuvwxyz");
    if (word == 0 || at[word] != ':') return false;
    const char *rest = at + word + 1;
    rest += strspn(rest, blanks);
    bool is_one = *rest == '\0' || strchr("\n#{", *rest) != NULL;
    for (size_t p = 0; p < n; p++)
        is_one |= strlen(parts[p].section->name) == word &&
                  strncmp(parts[p].section->name, at, word) == 0;
    return is_one;
}

/* LOCAL. Whether the content of a regular file, all of which is looked at, is that of a
 * configuration: no zero byte, not too long for one, and a beginning as above. */
static ikt_status holds_configuration(ikt_context *ctx, const char *name,
                                      const ikt_config_part *parts, size_t n, int64_t *answer) {
    char *text IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc(ctx, &text, IKT_SETTINGS_TEXT_MOST + 2, 1, "text file"));
    FILE *file = fopen(name, "rb");
    const size_t length = file ? fread(text, 1, IKT_SETTINGS_TEXT_MOST + 1, file) : 0;
    if (file) fclose(file);
    *answer = length <= IKT_SETTINGS_TEXT_MOST && strlen(text) == length &&
              begins_as_configuration(text, parts, n);
    return IKT_OK;
}

/* COLLECTIVE. Whether the file is a configuration: by the ending of its name, as what a shell puts
 * in the place of a file, or because it begins so. */
static ikt_status is_configuration(ikt_context *ctx, const char *name, const ikt_config_part *parts,
                                   size_t n, bool *is_one) {
    int64_t answer = ends_in(name, ".yaml") || ends_in(name, ".yml");
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0 && !answer) {
        answer = ikt_file_is_of_shell(name);
        if (ikt_file_is_regular(name)) st = holds_configuration(ctx, name, parts, n, &answer);
    }
    IKT_TRY(ikt_agree(ctx, st));
    ikt_broadcast(ctx, &answer, (int64_t)sizeof answer, 0);
    *is_one = answer != 0;
    return IKT_OK;
}

/* --- names of outputs ------------------------------------------------------------------------- */

/* Where the last ending of a name begins, also two of them in data.csv.gz and run.embedding.h5. */
static size_t stem_length(const char *name, bool is_result) {
    static const char second[] = ".embedding";
    const size_t more = sizeof second - 1;
    size_t length = strlen(name) - (ends_in(name, ".gz") ? strlen(".gz") : 0);
    for (size_t dot = length - 1; dot > 0 && name[dot] != '/'; dot--)
        if (name[dot] == '.' && name[dot - 1] != '/') {
            length = dot;
            break;
        }
    const bool has_second = is_result && length > more && name[length - more - 1] != '/' &&
                            strncmp(name + length - more, second, more) == 0;
    return has_second ? length - more : length;
}

static ikt_status set_name(ikt_context *ctx, char *member, const char *name, size_t stem,
                           const char *end) {
    const int length = snprintf(member, IKT_STRING_MAX, "%.*s%s", (int)stem, name, end);
    if (length < IKT_STRING_MAX) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE, "the name of a file is longer than %d characters: %.80s...",
                    IKT_STRING_MAX - 1, name);
}

ikt_status ikt_name_after(ikt_context *ctx, const char *name, const char *end,
                          char out[IKT_STRING_MAX]) {
    return set_name(ctx, out, name, stem_length(name, true), end);
}

/* Names of the command line. */
static ikt_status set_names(ikt_context *ctx, const reading *r, ikt_settings *s) {
    if (r->data) IKT_TRY(set_name(ctx, s->input.file, r->data, strlen(r->data), ""));
    return r->result ? set_name(ctx, s->output.file, r->result, strlen(r->result), "") : IKT_OK;
}

/* Names that nobody gave, where the data are named on the command line: the result is named after
 * the data, and the picture after the result. A configuration that names the result says by its
 * output.picture, or by leaving it out, whether there is a picture. */
static ikt_status complete_names(ikt_context *ctx, const ikt_settings_words *words,
                                 const reading *r, bool had_result, ikt_settings *s) {
    static const char picture[] = "output.picture=";
    bool is_said = had_result && !r->result;
    is_said |= strcmp(s->output.picture, "none") == 0;
    ikt_output_settle(&s->output);
    if (!r->data) return IKT_OK;
    const char *slash = strrchr(r->data, '/'), *base = slash ? slash + 1 : r->data;
    if (!s->output.file[0])
        IKT_TRY(set_name(ctx, s->output.file, base, stem_length(base, false), ".embedding.h5"));
    for (int w = 0; w < words->count; w++)
        is_said |= strncmp(words->word[w], picture, sizeof picture - 1) == 0;
    if (s->output.picture[0] || is_said) return IKT_OK;
    return ikt_name_after(ctx, s->output.file, ".png", s->output.picture);
}

/* A name of the command line and a setting that says something else. */
static ikt_status check_name(ikt_context *ctx, const char *key, const char *name,
                             const char *setting) {
    if (!name || strcmp(name, setting) == 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE, "%s is given twice: as '%.80s' and as %s=%.80s", key, name,
                    key, setting);
}

/* --- values ----------------------------------------------------------------------------------- */

static ikt_status apply(ikt_context *ctx, const ikt_settings_words *words, const reading *r,
                        int preset, ikt_settings *settings) {
    ikt_config_part part[IKT_SETTINGS_PARTS + 1];
    size_t count = IKT_SETTINGS_PARTS;
    ikt_settings_parts(settings, part);
    if (words->more) part[count++] = *words->more;
    IKT_TRY(ikt_config_defaults(ctx, part, IKT_SETTINGS_PARTS));
    IKT_TRY(ikt_preset_apply(ctx, part, IKT_SETTINGS_PARTS, preset));
    if (r->text) IKT_TRY(ikt_config_parse_text(ctx, part, count, r->configuration, r->text));
    const bool had_result = settings->output.file[0] != '\0';
    IKT_TRY(set_names(ctx, r, settings));
    for (int w = 0; w < words->count; w++)
        if (is_assignment(words->word[w]))
            IKT_TRY(ikt_config_override(ctx, part, count, words->word[w]));
    if (words->preset != IKT_RUN_PRESET_NONE) settings->run.preset = words->preset;
    IKT_TRY(complete_names(ctx, words, r, had_result, settings));
    ikt_input_delimit(ctx, &settings->input);
    IKT_TRY(check_name(ctx, "input.file", r->data, settings->input.file));
    return check_name(ctx, "output.file", r->result, settings->output.file);
}

ikt_status ikt_settings_read(ikt_context *ctx, const ikt_settings_words *words,
                             ikt_settings *settings) {
    reading r = {NULL, NULL, NULL, NULL};
    ikt_config_part part[IKT_SETTINGS_PARTS + 1];
    size_t count = IKT_SETTINGS_PARTS;
    memset(settings, 0, sizeof *settings);
    ikt_settings_parts(settings, part);
    if (words->more) part[count++] = *words->more;
    for (int w = 0; w < words->count; w++) {
        const char *word = words->word[w];
        if (is_assignment(word)) continue;
        if (!word[0]) return ikt_fail(ctx, IKT_ERR_USAGE, "the name of a file is empty");
        bool is_one;
        IKT_TRY(is_configuration(ctx, word, part, count, &is_one));
        const char **name = is_one ? &r.configuration : !r.data ? &r.data : &r.result;
        if (*name)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "'%.80s' is one name too many: there may be a configuration (.yaml), "
                            "the data, the file to write, and settings as section.key=value",
                            word);
        *name = word;
    }
    char *text IKT_AT_END(ikt_free) = NULL;
    if (r.configuration) {
        IKT_TRY(ikt_text_file_load(ctx, r.configuration, &text));
        snprintf(settings->run.configuration, IKT_STRING_MAX, "%.1023s", r.configuration);
    }
    r.text = text;
    /* The first pass finds which preset is asked for, wherever it stands; a second begins with it.
     */
    IKT_TRY(apply(ctx, words, &r, IKT_RUN_PRESET_NONE, settings));
    if (settings->run.preset == IKT_RUN_PRESET_NONE) return IKT_OK;
    return apply(ctx, words, &r, settings->run.preset, settings);
}
