/* Arrays in place of files. See lent.h. */
#include "io/sources/lent.h"

#include <string.h>

#include "base/context.h"

void ikt_lend(ikt_context *ctx, const ikt_lent *lent) {
    ctx->lent = lent;
}

const ikt_lent *ikt_lent_of(const ikt_context *ctx) {
    return ctx->lent;
}

ikt_source *ikt_lent_find(const ikt_context *ctx, const char *name) {
    const ikt_lent *lent = ctx->lent;
    if (!lent) return NULL;
    return strcmp(name, IKT_LENT_GRAPH) == 0   ? lent->graph
           : strcmp(name, IKT_LENT_PAIRS) == 0 ? lent->pairs
           : strcmp(name, IKT_LENT_START) == 0 ? lent->start
                                               : NULL;
}
