/* The settings of a run. What is accepted is written back and read again to the same. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "harness.h"
#include "settings/settings.h"

enum { MEMORY_MOST = 4 << 20 }; /* a text of 1 MiB, and what is written */

static char *print(ikt_context *ctx, const ikt_config_part *parts) {
    char *text = NULL;
    fuzz_check(ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, &text) == IKT_OK,
               "accepted settings cannot be written back");
    return text;
}

static void check_round(ikt_context *ctx, const ikt_config_part *parts) {
    ikt_settings again;
    ikt_config_part other[IKT_SETTINGS_PARTS];
    ikt_settings_parts(&again, other);
    char *first = print(ctx, parts), *second;
    fuzz_check(ikt_config_defaults(ctx, other, IKT_SETTINGS_PARTS) == IKT_OK &&
                   ikt_config_parse_text(ctx, other, IKT_SETTINGS_PARTS, "again", first) == IKT_OK,
               "settings that were written back are refused");
    second = print(ctx, other);
    fuzz_check(strcmp(first, second) == 0, "settings that were written back have changed");
    ikt_free(&first);
    ikt_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ikt_context *ctx = fuzz_context();
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    ikt_settings_parts(&settings, parts);
    fuzz_check(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS) == IKT_OK, "wrong defaults");
    ikt_status st = ikt_config_load(ctx, parts, IKT_SETTINGS_PARTS, fuzz_file(data, size));
    fuzz_check(st == IKT_OK || st == IKT_ERR_USAGE || st == IKT_ERR_FILE, "an undocumented error");
    if (st == IKT_OK) check_round(ctx, parts);
    fuzz_outcome(ctx, st, MEMORY_MOST);
    return 0;
}
