/* Counting what a rank sends and receives, stage by stage.
 *
 * Every function of comm.h and the boundary exchange count what they move, under the innermost
 * stage that runs (timer.h), or under `total` where none does. What is counted is payload, the
 * numbers that the program itself hands over, and not what an algorithm inside MPI makes of them:
 *   reduction    sent: the values this rank contributes; received: the result, which is as long
 *   broadcast    sent: the data, by the root; received: the same, by every other rank
 *   exchange     sent, received: what goes to and comes from OTHER ranks, piece by piece
 * A group of one rank moves nothing, so its bytes are 0, but its collective calls are counted.
 * Transfers inside HDF5, ScaLAPACK and other libraries are not seen.
 * Counts depend on the data, the settings and the number of ranks, and not on the machine.
 */
#ifndef IKT_BASE_TRAFFIC_H
#define IKT_BASE_TRAFFIC_H

#include <stdint.h>

#include "base/status.h"
#include "base/timer.h"

typedef enum {
    IKT_TRAFFIC_BYTES_SENT,
    IKT_TRAFFIC_BYTES_RECEIVED,
    IKT_TRAFFIC_MESSAGES_SENT, /* point to point, to other ranks; cut pieces count each */
    IKT_TRAFFIC_MESSAGES_RECEIVED,
    IKT_TRAFFIC_COLLECTIVES, /* collective calls of MPI */
    IKT_TRAFFIC_KINDS
} ikt_traffic_kind;

/* LOCAL. Counts one collective call to which this rank contributed `sent` bytes and from which it
 * got `received` bytes. */
void ikt_traffic_collective(ikt_context *ctx, int64_t sent, int64_t received);

/* LOCAL. Counts point-to-point messages with other ranks: numbers and bytes in all. */
void ikt_traffic_messages(ikt_context *ctx, int64_t sent, int64_t bytes_sent, int64_t received,
                          int64_t bytes_received);

/* LOCAL. What this rank counted under the stage and those below it in the tree of stages, as its
 * time includes theirs; IKT_STAGE_TOTAL: everything. */
int64_t ikt_traffic_count(const ikt_context *ctx, ikt_stage stage, ikt_traffic_kind kind);

/* LOCAL. "bytes_sent": the name of a kind in reports. */
const char *ikt_traffic_name(ikt_traffic_kind kind);

#endif
