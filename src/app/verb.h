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

/* All verbs; the table is in main.c. */
extern const ikt_verb ikt_verb_embed, ikt_verb_generate, ikt_verb_convert, ikt_verb_evaluate,
    ikt_verb_plot, ikt_verb_info, ikt_verb_plan, ikt_verb_transform, ikt_verb_study,
    ikt_verb_export, ikt_verb_align, ikt_verb_view;

#endif
