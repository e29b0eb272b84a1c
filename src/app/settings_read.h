/* The settings of a verb that works on a run: a configuration file, then assignments. */
#ifndef IKT_APP_SETTINGS_READ_H
#define IKT_APP_SETTINGS_READ_H

#include "config/config.h"

/* COLLECTIVE. Arguments of the command line over the values that are there: first a YAML file, if
 * the first argument is no assignment; then section.key=value, which win over it.
 * Errors: IKT_ERR_USAGE, IKT_ERR_FILE. */
ikt_status ikt_settings_read(ikt_context *ctx, const ikt_config_part *parts, size_t n, int count,
                             const char **arguments);

#endif
