/* Names of classes in one text. */
#include "io/sources/label_names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

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

void ikt_label_names_check(ikt_context *ctx, const char *path, const char *names, int64_t count,
                           const int64_t *labels) {
    const int64_t classes = names ? ikt_label_names_count(names) : 0;
    bool is_beyond = false;
    for (int64_t i = 0; classes > 0 && i < count; i++) /* an empty text names none, on purpose */
        is_beyond |= labels[i] >= classes;
    if (is_beyond)
        ikt_warn(ctx,
                 "%s: the attribute 'label_names' names %lld classes, but there are more labels; "
                 "those from %lld on are called by their numbers",
                 path, (long long)classes, (long long)classes);
}
