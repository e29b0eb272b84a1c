/* A verb of the program: `iktsne VERB ...`. */
#ifndef IKT_APP_VERB_H
#define IKT_APP_VERB_H

#include "base/status.h"

typedef struct {
    const char *name;     /* "embed" */
    const char *synopsis; /* "CONFIG.yaml [SECTION.KEY=VALUE ...]" */
    const char *summary;  /* one sentence */
    /* COLLECTIVE. argv holds what follows the verb. Returns an agreed status. */
    ikt_status (*run)(ikt_context *ctx, int argc, char **argv);
} ikt_verb;

#endif
