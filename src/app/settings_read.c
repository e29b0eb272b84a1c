/* The settings of a verb that works on a run. */
#include "app/settings_read.h"

#include <string.h>

ikt_status ikt_settings_read(ikt_context *ctx, const ikt_config_part *parts, size_t n, int count,
                             const char **arguments) {
    for (int a = 0; a < count; a++) {
        if (strchr(arguments[a], '=')) {
            IKT_TRY(ikt_config_override(ctx, parts, n, arguments[a]));
        } else if (a == 0) {
            IKT_TRY(ikt_config_load(ctx, parts, n, arguments[a]));
        } else {
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "'%.80s' is neither a setting (section.key=value) nor in the first "
                            "place, where the configuration file stands",
                            arguments[a]);
        }
    }
    return IKT_OK;
}
