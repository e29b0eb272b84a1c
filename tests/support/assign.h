/* Settings as a test writes them down. */
#ifndef IKT_TEST_ASSIGN_H
#define IKT_TEST_ASSIGN_H

#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "settings/settings.h"
#include "support/expect.h"

/* Assigns KEY=VALUE ..., divided by blanks. */
static inline void set(ikt_context *ctx, ikt_settings *settings, const char *text) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char copy[1024], *word = copy;
    ikt_settings_parts(settings, parts);
    assert_true(snprintf(copy, sizeof copy, "%s", text) < (int)sizeof copy);
    for (word = strtok(word, " "); word; word = strtok(NULL, " "))
        succeed(ctx, ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, word));
}

#endif
