/* How long a run will take and what it will send, stage by stage.
 *
 * Method: each stage is one small function of the workload and the machine that returns operations
 * divided by the machine's rate, and the transfers that base/traffic.h would count. Nothing is
 * fitted to whole runs, so the parts stay true when settings, ranks or machines change.
 * Advantage: says what a stage costs and why. Disadvantage: what depends on the values of the data
 * (how large the map grows, how many neighbours are on other ranks) is taken as usual (workload.h).
 */
#ifndef IKT_PLAN_TIME_PLAN_H
#define IKT_PLAN_TIME_PLAN_H

#include "base/timer.h"
#include "plan/machine.h"
#include "plan/workload.h"

/* Of the rank that has most to do. */
typedef struct {
    double seconds;     /* transfers included */
    double bytes_sent;  /* payload, as in base/traffic.h */
    double messages;    /* sent, point to point */
    double collectives; /* calls */
} ikt_cost;

typedef struct {
    ikt_cost stage[IKT_STAGE_COUNT]; /* with the stages below, as times are */
    double gradients;                /* evaluations of the gradient */
} ikt_time_plan;

/* LOCAL, pure.
 *   landmarks   the workload of the landmarks, or NULL where there are none */
ikt_time_plan ikt_time_plan_make(const ikt_workload *work, const ikt_workload *landmarks,
                                 const ikt_machine *machine);

/* LOCAL, pure. The loop, per evaluation of the gradient. */
ikt_cost ikt_time_plan_iteration(const ikt_time_plan *plan);

/* LOCAL, pure. The transfers that times are made of. A reduction or a concatenation takes two
 * latencies for each doubling of the ranks (one for a concatenation) and moves its payload twice
 * (once), less what stays where it is; messages follow one another. Nothing on one rank but the
 * call itself.
 * A scatter is a reduction of which each rank gets a part: half of it.
 *   bytes   of the vector that is reduced; of all parts together */
ikt_cost ikt_cost_reduction(const ikt_machine *machine, int ranks, double bytes);
ikt_cost ikt_cost_scatter(const ikt_machine *machine, int ranks, double bytes);
ikt_cost ikt_cost_concatenation(const ikt_machine *machine, int ranks, double bytes);
ikt_cost ikt_cost_messages(const ikt_machine *machine, double messages, double bytes);

#endif
