/* Presets of a run: what a first look, the paper or millions of rows ask for, as tables of
 * settings.
 *
 * run.preset sets the keys that its table names, before any setting of the user, so that every one
 * of those wins over it; where the table is silent, the defaults hold. What a run writes into its
 * provenance are the values of the keys. (layout.preset is narrower: the schedule of the loop that
 * its keys follow where they are auto; the preset `paper` sets it.)
 */
#ifndef IKT_SETTINGS_PRESET_H
#define IKT_SETTINGS_PRESET_H

#include "config/config.h"
#include "config/value.h"

enum { IKT_PRESET_SETTINGS_MOST = 16 };

enum { IKT_RUN_PRESET_NONE, IKT_RUN_PRESETS = 8 };

/* The choices of run.preset, in the order of the table below. */
#define IKT_PRESET_NAMES "none|quick|paper|large|umap|largevis|laptsne|laptsne-paper"

typedef struct {
    const char *name;                                  /* "quick" */
    const char *help;                                  /* what for, and what it costs */
    const char *setting[IKT_PRESET_SETTINGS_MOST + 1]; /* "section.key=value", ended by NULL */
} ikt_preset;

/* The tables of the presets; that of NONE is empty. */
extern const ikt_preset ikt_presets[IKT_RUN_PRESETS];

/* SAME-ARGS. Sets the keys of the table. Errors: IKT_ERR_INTERNAL for a table that the keys do not
 * allow (a defect of it). */
ikt_status ikt_preset_apply(ikt_context *ctx, const ikt_config_part *parts, size_t n, int preset);

/* LOCAL. All presets for people; as Markdown: a heading of the second level and a table. */
void ikt_presets_describe(ikt_text *text);
void ikt_presets_describe_markdown(ikt_text *text);

#endif
