/* Measuring the constants of machine.h on the machine at hand.
 *
 * Method: the stages themselves run on small made-up data, with all ranks and threads of the launch
 * at work at the same time, and are timed; the slowest rank counts, and the least of some tries.
 * Advantage: what is measured is what runs, with its overheads. Disadvantage: small data stays in
 * caches; where that matters (the FFT) two sizes are measured.
 */
#ifndef IKT_PLAN_CALIBRATE_H
#define IKT_PLAN_CALIBRATE_H

#include "plan/machine.h"

/* COLLECTIVE. Measures for a few seconds and fills `out`; what cannot be measured on one rank keeps
 * its value from `out`: latency, bandwidth, reduction.
 *   scratch   name of a file that may be written and is removed again, some 30 MB a rank.
 * Errors: IKT_ERR_RESOURCE, IKT_ERR_FILE. */
ikt_status ikt_calibrate(ikt_context *ctx, const char *scratch, ikt_machine *out);

/* The parts, each COLLECTIVE: rates of what comes before P; of sparse rows there, after it; from P
 * on; of files and messages. */
ikt_status ikt_calibrate_rows(ikt_context *ctx, ikt_machine *out);
ikt_status ikt_calibrate_sparse(ikt_context *ctx, ikt_machine *out);
ikt_status ikt_calibrate_loop(ikt_context *ctx, ikt_machine *out);
ikt_status ikt_calibrate_transfers(ikt_context *ctx, const char *scratch, ikt_machine *out);

/* COLLECTIVE. The same on all ranks: the most of a number of seconds. */
double ikt_calibrate_slowest(ikt_context *ctx, double seconds);

#endif
