/* What a run would take, before it is run: memory, and time and transfers stage by stage.
 *
 * Method: each stage is one small function of the workload and the machine: its operations, by what
 * they cost in the machine's few basic rates, and the transfers that base/stage.h would count.
 * Advantage: says what a stage costs and why; nothing is fitted to whole runs, so the parts stay
 * true when settings, ranks or machines change. Disadvantage: what depends on the values of the
 * data (how large the map grows, how many neighbours are on other ranks) is taken as usual
 * (workload.h).
 */
#ifndef IKT_PLAN_PLAN_H
#define IKT_PLAN_PLAN_H

#include "base/timer.h"
#include "plan/machine.h"
#include "plan/memory_plan.h"
#include "plan/workload.h"

/* Of the rank that has most to do. */
typedef struct {
    double seconds;     /* transfers included */
    double bytes_sent;  /* payload, as in base/stage.h */
    double messages;    /* sent, point to point */
    double collectives; /* calls */
} ikt_cost;

typedef struct {
    ikt_cost stage[IKT_STAGE_COUNT]; /* with the stages below, as times are */
    double gradients;                /* evaluations of the gradient */
} ikt_time_plan;

typedef struct {
    ikt_workload work;
    ikt_machine machine;
    ikt_memory_plan memory;
    ikt_time_plan time;
} ikt_plan;

/* SAME-ARGS. Memory and time of plan->work on plan->machine.
 *   base   bytes that the process takes before it reads any data
 * Errors: IKT_ERR_USAGE, as an embedding would. */
ikt_status ikt_plan_make(ikt_context *ctx, int64_t base, ikt_plan *plan);

/* LOCAL. The settings of a workload with everything resolved that data, ranks and threads decide:
 * what a run would write into its provenance. */
void ikt_plan_settings(const ikt_workload *work, ikt_settings *out);

/* LOCAL, pure.
 *   landmarks   the workload of the landmarks, or NULL where there are none */
ikt_time_plan ikt_time_plan_make(const ikt_workload *work, const ikt_workload *landmarks,
                                 const ikt_machine *machine);

/* LOCAL, pure. The loop, per evaluation of the gradient. */
ikt_cost ikt_time_plan_iteration(const ikt_time_plan *plan);

/* LOCAL, pure. The transfers that times are made of. A reduction or a concatenation takes two
 * latencies for each doubling of the ranks (one for a concatenation) and moves its payload twice
 * (once), less what stays where it is; messages follow one another. Nothing on one rank but the
 * call itself. A scatter is a reduction of which each rank gets a part: half of it.
 *   bytes   of the vector that is reduced; of all parts together */
ikt_cost ikt_cost_reduction(const ikt_machine *machine, int ranks, double bytes);
ikt_cost ikt_cost_scatter(const ikt_machine *machine, int ranks, double bytes);
ikt_cost ikt_cost_concatenation(const ikt_machine *machine, int ranks, double bytes);
ikt_cost ikt_cost_messages(const ikt_machine *machine, double messages, double bytes);

#endif
