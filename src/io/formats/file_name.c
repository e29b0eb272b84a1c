/* Names that may be FILE, or FILE:WHAT. */
#define _POSIX_C_SOURCE 200809L
#include "io/formats/file_name.h"

#include <string.h>
#include <unistd.h>

size_t ikt_file_name_length(const char *name) {
    const char *colon = strrchr(name, ':');
    if (!colon || colon == name || access(name, F_OK) == 0) return strlen(name);
    return (size_t)(colon - name);
}
