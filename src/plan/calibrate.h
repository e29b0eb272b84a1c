/* Measuring the rates of machine.h on the machine at hand.
 *
 * Method: the inner kernels of the program and plain reads of memory run for some milliseconds, on
 * all ranks and threads of the launch at the same time; the slowest thread counts, and the best of
 * some tries. Advantage: a second suffices. Disadvantage: what a stage takes beyond its inner
 * kernel is a fixed multiple of these (plan.c), which was measured on one machine.
 */
#ifndef IKT_PLAN_CALIBRATE_H
#define IKT_PLAN_CALIBRATE_H

#include "plan/machine.h"

/* COLLECTIVE. Measures and fills `out`; what cannot be measured on one rank keeps its value from
 * `out`: latency, bandwidth, reduction.
 *   scratch  name of a file that may be written and is removed again, 16 MB a rank.
 * Memory: some 6 MB a thread. Errors: IKT_ERR_RESOURCE, IKT_ERR_FILE. */
ikt_status ikt_calibrate(ikt_context *ctx, const char *scratch, ikt_machine *out);

/* COLLECTIVE. The same on all ranks: the most of a number of seconds, and more than 0. */
double ikt_calibrate_slowest(ikt_context *ctx, double seconds);

#endif
