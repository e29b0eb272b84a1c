/* P from weighted neighbour lists, by the two steps that a run takes. */
#ifndef IKT_TEST_SYMMETRISE_H
#define IKT_TEST_SYMMETRISE_H

#include <string.h>

#include "base/comm.h"
#include "graph/graph.h"

/* COLLECTIVE. The lists are taken over: empty afterwards, also on failure. */
static inline ikt_status ikt_test_symmetrise(ikt_context *ctx, const ikt_rows *rows,
                                             ikt_neighbours *lists, ikt_graph *out) {
    ikt_directed directed;
    memset(out, 0, sizeof *out);
    IKT_TRY(ikt_agree(ctx, ikt_directed_from_lists(ctx, lists, &directed)));
    return ikt_graph_from_directed(ctx, rows, &directed, out);
}

#endif
