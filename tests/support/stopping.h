/* TriMap that asks to be stopped on the way: as the objective is made it becomes that of the way in
 * which triplets are drawn, whose evaluation is gone through here. */
#ifndef IKT_TEST_STOPPING_H
#define IKT_TEST_STOPPING_H

#include <signal.h>

#include "base/comm.h"
#include "objective/objective.h"

static int64_t stop_at = -1;
static const ikt_objective_kind *stopping_way;
static ikt_objective_kind stopping_kind;

static ikt_status evaluate_and_stop(ikt_objective *objective, int64_t iteration, bool want_value,
                                    ikt_gradient *gradient, ikt_objective_terms *terms) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (iteration == stop_at && rank == 0) raise(SIGTERM);
    return stopping_way->evaluate(objective, iteration, want_value, gradient, terms);
}

static ikt_status create_stopping(ikt_context *ctx, const ikt_objective_inputs *inputs,
                                  ikt_objective *out) {
    const ikt_status st = ikt_objective_trimap.create(ctx, inputs, out);
    stopping_way = out->kind;
    stopping_kind = *stopping_way;
    stopping_kind.evaluate = evaluate_and_stop;
    out->kind = &stopping_kind;
    return st;
}

static inline ikt_objective_kind stopping_trimap(void) {
    ikt_objective_kind kind = ikt_objective_trimap;
    kind.create = create_stopping;
    return kind;
}

#endif
