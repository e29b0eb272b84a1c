/* The version of the library. */
#include "iktsne/version.h"

const char *ikt_version(void) {
    return IKT_VERSION;
}
