/* Which build of the program this is. See build.h. */
#include "base/build.h"

#include <stdio.h>

#include "iktsne/build.h"

const char *ikt_build_text(void) {
    static char text[1024];
    snprintf(text, sizeof text, "commit %s, sources %s, %s", IKT_COMMIT, ikt_sources_hash,
             IKT_COMPILER " " IKT_COMPILE_FLAGS);
    return text;
}
