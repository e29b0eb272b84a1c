/* The settings of a verb that works on a run: names of files, a configuration, assignments.
 *
 *   [CONFIG.yaml] [DATA [OUT.h5]] [section.key=value ...]
 * A word with an = in it is an assignment, unless a / stands before it; a name that ends in .yaml
 * or .yml, or is no ordinary file (a pipe), is the configuration; others are the data and the
 * result. Values come from the defaults, then the preset, the configuration, the names, the
 * assignments: the later one wins.
 */
#ifndef IKT_APP_SETTINGS_READ_H
#define IKT_APP_SETTINGS_READ_H

#include "settings/settings.h"

enum { IKT_WORDS_MOST = 256 };

/* What the command line says. */
typedef struct {
    const char *word[IKT_WORDS_MOST]; /* as ikt_options_parse collects them */
    int count;
    int preset;                  /* of --preset; IKT_RUN_PRESET_NONE: that of run.preset */
    const ikt_config_part *more; /* a section beside those of a run, with its values; or NULL */
} ikt_settings_words;

/* The option --preset of verbs that read settings. */
#define IKT_PRESET_OPTION(member)                                                                  \
    {                                                                                              \
        "preset", IKT_KEY_CHOICE, "NAME", "none", 0, 0, ikt_preset_names, member,                  \
            "Begin with the settings for a first look (quick), those of the paper (paper), or "    \
            "those for millions of rows (large); the same as run.preset=NAME. Settings that are "  \
            "given win over the preset"                                                            \
    }

/* LOCAL. The name of what is made of a result: run.h5 -> run.png, x.embedding.h5 -> x.png, in the
 * same folder.
 *   end   ".png"
 * Errors: IKT_ERR_USAGE where it is too long. */
ikt_status ikt_name_after(ikt_context *ctx, const char *name, const char *end,
                          char out[IKT_STRING_MAX]);

/* COLLECTIVE.
 *   settings   receives the settings. Where DATA was given, names of outputs that nobody gave are
 *              made: the result DATA.embedding.h5 in the current folder, and the picture after the
 *              result (ikt_name_after): DATA.png, or OUT.png beside OUT.h5
 * Errors: IKT_ERR_USAGE, IKT_ERR_FILE. */
ikt_status ikt_settings_read(ikt_context *ctx, const ikt_settings_words *words,
                             ikt_settings *settings);

#endif
