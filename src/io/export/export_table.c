/* The formats of exports, and finding one by name. */
#include <stdio.h>
#include <string.h>

#include "io/export/export.h"

static const ikt_export_format *const formats[] = {
    &ikt_export_npy, &ikt_export_csv, &ikt_export_tsv, &ikt_export_h5ad, &ikt_export_vtkhdf};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool ends_with(const char *text, size_t length, const char *ending, size_t of_ending) {
    return length > of_ending && memcmp(text + length - of_ending, ending, of_ending) == 0;
}

/* Whether the first `length` characters of a name end as those of the format do. */
static bool has_ending(const ikt_export_format *format, const char *path, size_t length) {
    for (const char *at = format->endings; *at;) {
        const size_t width = strcspn(at, " ");
        if (ends_with(path, length, at, width)) return true;
        at += width + strspn(at + width, " ");
    }
    return false;
}

const ikt_export_format *ikt_export_find(const char *name, const char *path, bool *is_gzipped) {
    size_t length = strlen(path);
    *is_gzipped = ends_with(path, length, ".gz", 3);
    if (*is_gzipped) length -= 3;
    for (int f = 0; f < FORMATS; f++) {
        const bool is_named = strcmp(name, formats[f]->name) == 0;
        const bool is_meant = strcmp(name, "auto") == 0 && has_ending(formats[f], path, length);
        if (is_named || (is_meant && (!*is_gzipped || formats[f]->is_text))) return formats[f];
    }
    return NULL;
}

void ikt_export_names(char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int f = 0; f < FORMATS && used < size; f++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", f > 0 ? ", " : "",
                                 formats[f]->endings);
}
