/* The settings that a graph depends on: kept with it, and taken from it. */
#ifndef IKT_SETTINGS_GRAPH_SETTINGS_H
#define IKT_SETTINGS_GRAPH_SETTINGS_H

#include "settings/settings.h"

/* LOCAL. The sections preprocess, affinity with its kinds, and isolation, as YAML.
 *   text   freed with ikt_free. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_graph_settings_print(ikt_context *ctx, const ikt_settings *settings, char **text);

/* SAME-ARGS. Puts the settings that made a graph in place of those that are at their defaults.
 *   settings   as the user gave them
 *   text       of ikt_graph_settings_print
 *   name       of the file
 * Errors: IKT_ERR_USAGE, naming the first key whose value is neither the default nor that of the
 * graph; IKT_ERR_DATA where the text makes no sense. */
ikt_status ikt_graph_settings_adopt(ikt_context *ctx, ikt_settings *settings, const char *text,
                                    const char *name);

#endif
