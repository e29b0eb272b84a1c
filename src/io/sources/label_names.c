/* Names of classes in one text. */
#include "io/sources/label_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int64_t ikt_label_names_count(const char *names) {
    int64_t count = 0;
    for (const char *at = names; *at; at++)
        count += *at == '\n';
    return count;
}

const char *ikt_label_name(const char *names, int64_t label, char *text, size_t size) {
    const char *at = label >= 0 ? names : NULL;
    for (int64_t line = 0; at && line < label; line++) {
        at = strchr(at, '\n');
        if (at) at++;
    }
    const char *end = at ? strchr(at, '\n') : NULL;
    if (end)
        snprintf(text, size, "%.*s", (int)(end - at), at);
    else if (names && label == IKT_LABEL_MISSING)
        snprintf(text, size, "(missing)");
    else
        snprintf(text, size, "%" PRId64, label);
    return text;
}
