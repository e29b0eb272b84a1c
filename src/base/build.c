/* Which build of the program this is. See build.h. */
#include "base/build.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/row_hash.h"
#include "iktsne/build.h"
#include "iktsne/version.h"

const char *ikt_build_text(void) {
    static char text[1024];
    snprintf(text, sizeof text, "commit %s, sources %s, %s", ikt_commit, ikt_sources_hash,
             IKT_COMPILER " " IKT_COMPILE_FLAGS);
    return text;
}

static const char *after_commit(const char *text) {
    const char *sources = strstr(text, "sources ");
    return sources ? sources : text;
}

bool ikt_build_is_same(const char *a, const char *b) {
    return strcmp(after_commit(a), after_commit(b)) == 0;
}

uint32_t ikt_build_tag(void) {
    const char *text = after_commit(ikt_build_text());
    return (uint32_t)ikt_hash_bytes(text, strlen(text), 0);
}

const char *ikt_build_name(void) {
    static char text[256];
    snprintf(text, sizeof text, "%s %.100s-%08" PRIx32, IKT_VERSION, ikt_commit, ikt_build_tag());
    return text;
}
