/* What a run costs: begins and ends of stages; seconds, transfers and memory over the ranks. */
#ifndef IKT_BASE_TIMER_H
#define IKT_BASE_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arrays.h"
#include "base/status.h"
#include "iktsne/context.h"

/* The stages of a run, and what a rank counts under each: the clock, and what it sends and
 * receives.
 *
 * Every function of comm.h and the boundary exchange count what they move, under the innermost
 * stage that runs, or under `total` where none does. What is counted is payload, the numbers that
 * the program itself hands over, and not what an algorithm inside MPI makes of them:
 *   reduction    sent: the values this rank contributes; received: the result, which is as long
 *   broadcast    sent: the data, by the root; received: the same, by every other rank
 *   exchange     sent, received: what goes to and comes from OTHER ranks, piece by piece
 * A group of one rank moves nothing, so its bytes are 0, but its collective calls are counted.
 * Transfers inside HDF5, ScaLAPACK and other libraries are not seen.
 * Counts depend on the data, the settings and the number of ranks, and not on the machine; the
 * seconds that a rank spends in calls of MPI, waiting for others and for bytes, depend on all.
 */

/* The stages of a run, one row each. The row makes a stage known to the timer, the log and the
 * report, to checkpoints and to the tables that are indexed by it (plan/memory_plan.c). */
/* clang-format off */
/* ROW(ID, name, depth, saved)
 *   depth   in the tree of stages; those that follow a stage and are deeper are its children, which
 *           are part of it
 *   saved   what a checkpoint calls the stage; NULL: nothing of it is saved */
#define IKT_STAGE_TABLE(ROW) \
    ROW(TOTAL, "total", 0, NULL) \
    ROW(READ, "read", 1, NULL) \
    ROW(PREPROCESS, "preprocess", 1, NULL) \
    ROW(PCA, "pca", 1, NULL) \
    ROW(LANDMARKS, "landmarks", 1, NULL) \
    ROW(CODES, "codes", 1, "codes") \
    ROW(CELLS, "cells", 1, NULL) \
    ROW(ORDER, "order", 1, NULL) \
    ROW(NEIGHBOURS, "neighbours", 1, "neighbours") \
    ROW(RECALL, "recall", 1, NULL) \
    ROW(AFFINITY, "affinity", 1, "probabilities") \
    ROW(GRAPH, "graph", 1, NULL) \
    ROW(SPECTRUM, "spectrum", 1, NULL) \
    ROW(LAYOUT, "layout", 1, "loop") \
    ROW(ATTRACTION, "attraction", 2, NULL) \
    ROW(REPULSION, "repulsion", 2, NULL) \
    ROW(SPREAD, "spread", 3, NULL) \
    ROW(GRID_SUM, "grid sum", 3, NULL) \
    ROW(FFT, "fft", 3, NULL) \
    ROW(GATHER, "gather", 3, NULL) \
    ROW(EIGENVECTORS, "eigenvectors", 2, NULL) \
    ROW(HALO, "halo", 2, NULL) \
    ROW(STEP, "step", 2, NULL) \
    ROW(WRITE, "write", 1, NULL) \
    ROW(PICTURE, "picture", 1, NULL) \
    ROW(MEASURES, "measures", 1, NULL)
/* clang-format on */

#define IKT_STAGE_ID(id, name, depth, saved) IKT_STAGE_##id,
typedef enum { IKT_STAGE_TABLE(IKT_STAGE_ID) IKT_STAGE_COUNT } ikt_stage;
#undef IKT_STAGE_ID

/* LOCAL, pure. What the table says of a stage. */
const char *ikt_stage_name(ikt_stage stage);
const char *ikt_stage_saved(ikt_stage stage);
/* LOCAL, pure. The first stage from this number on that is saved; IKT_STAGE_COUNT: there is none.
 */
ikt_stage ikt_stage_next_saved(int stage);
#define IKT_FOR_SAVED_STAGES(s)                                                                    \
    for (ikt_stage s = ikt_stage_next_saved(0); s < IKT_STAGE_COUNT;                               \
         s = ikt_stage_next_saved((int)s + 1))
int ikt_stage_depth(ikt_stage stage);

/* LOCAL. Whether the stage runs. */
bool ikt_stage_is_open(const ikt_context *ctx, ikt_stage stage);

/* LOCAL. The stage of the first depth that runs; IKT_STAGE_TOTAL where none does. */
ikt_stage ikt_stage_current(const ikt_context *ctx);

/* LOCAL. The stage begun last of those that run; IKT_STAGE_TOTAL where none does. */
ikt_stage ikt_stage_innermost(const ikt_context *ctx);

/* LOCAL. Seconds on a monotonic clock with an arbitrary origin. */
double ikt_now(void);

/* LOCAL. The seconds that this rank has spent in a stage. */
double ikt_stage_seconds(const ikt_context *ctx, ikt_stage stage);

typedef enum {
    IKT_TRAFFIC_BYTES_SENT,
    IKT_TRAFFIC_BYTES_RECEIVED,
    IKT_TRAFFIC_MESSAGES_SENT, /* point to point, to other ranks; cut pieces count each */
    IKT_TRAFFIC_MESSAGES_RECEIVED,
    IKT_TRAFFIC_COLLECTIVES, /* collective calls of MPI */
    IKT_TRAFFIC_KINDS
} ikt_traffic_kind;

/* LOCAL. Counts one collective call to which this rank gave, and from which it got, some bytes. */
void ikt_traffic_collective(ikt_context *ctx, int64_t sent, int64_t received);

/* LOCAL. Counts point-to-point messages with other ranks: numbers and bytes in all. */
void ikt_traffic_messages(ikt_context *ctx, int64_t sent, int64_t bytes_sent, int64_t received,
                          int64_t bytes_received);

/* LOCAL. What this rank counted under the stage and those below it in the tree of stages, as its
 * time includes theirs; IKT_STAGE_TOTAL: everything. */
int64_t ikt_traffic_count(const ikt_context *ctx, ikt_stage stage, ikt_traffic_kind kind);

/* LOCAL. Counts seconds that this rank spent in one call of MPI that waits for other ranks. */
void ikt_wait_add(ikt_context *ctx, double seconds);

/* LOCAL. The seconds that this rank spent in such calls under the stage and those below it, and
 * those of the longest single call. */
double ikt_wait_seconds(const ikt_context *ctx, ikt_stage stage);
double ikt_wait_longest(const ikt_context *ctx, ikt_stage stage);

/* LOCAL. "bytes_sent": the name of a kind in reports. */
const char *ikt_traffic_name(ikt_traffic_kind kind);

/* LOCAL. Starts and stops a stage; may be repeated (times add up) and nested. The end of a stage
 * ends those that began within it and were left by a failure. Stages within IKT_STAGE_LANDMARKS
 * are not recorded: their time is that of the landmarks. The end of a stage that succeeded is a
 * line of the log: with its seconds on rank 0, the first time and where it took a tenth of one;
 * other ends are details. */
void ikt_stage_begin(ikt_context *ctx, ikt_stage stage);
void ikt_stage_end(ikt_context *ctx, ikt_stage stage);

/* A stage that lasts to the end of the block in which this stands, by whichever return that is
 * reached; it ends before what the block declared earlier is destroyed. */
#define IKT_IN_STAGE(ctx, stage)                                                                   \
    const ikt_stage_lasting ikt_in_stage_ IKT_AT_END(ikt_stage_leave) =                            \
        ikt_stage_enter((ctx), (stage))

typedef struct {
    ikt_context *ctx;
    ikt_stage stage;
} ikt_stage_lasting;

static inline ikt_stage_lasting ikt_stage_enter(ikt_context *ctx, ikt_stage stage) {
    ikt_stage_begin(ctx, stage);
    return (ikt_stage_lasting){ctx, stage};
}

static inline void ikt_stage_leave(const ikt_stage_lasting *lasting) {
    ikt_stage_end(lasting->ctx, lasting->stage);
}

/* IKT_TRY of a call that is a stage. */
#define IKT_TRY_STAGE(ctx, stage, call)                                                            \
    do {                                                                                           \
        IKT_IN_STAGE(ctx, stage);                                                                  \
        IKT_TRY(call);                                                                             \
    } while (0)

typedef struct {
    double least, mean, most; /* seconds over ranks */
    int slowest;              /* rank of `most` */
    int64_t count;            /* times begun on rank 0; 0 = the stage did not occur */
} ikt_stage_times;

/* COLLECTIVE. Fills times[IKT_STAGE_COUNT]. */
void ikt_stage_collect(ikt_context *ctx, ikt_stage_times *times);

typedef struct {
    int64_t least, most; /* over ranks */
    double mean;
} ikt_traffic_range;

typedef struct {
    ikt_traffic_range of[IKT_TRAFFIC_KINDS];
    double wait_mean, wait_most; /* seconds in calls of MPI over ranks */
    double wait_longest;         /* of all calls of all ranks */
} ikt_traffic;

/* COLLECTIVE. Fills traffic[IKT_STAGE_COUNT] with what was counted before the call, stages with
 * those below them; the same on every rank. */
void ikt_traffic_collect(ikt_context *ctx, ikt_traffic *traffic);

enum { IKT_PEAK_PURPOSES = 4, IKT_PEAK_RANKS = 64, IKT_PURPOSE_NAME = 32 };

typedef struct {
    char name[IKT_PURPOSE_NAME];
    int64_t bytes;
} ikt_peak_purpose;

/* Peaks as the operating system counts them (resident set: with the program, its libraries and what
 * these allocate); and of the rank that had most, what its own account says of its peak. */
typedef struct {
    int64_t least, most, all; /* bytes of a rank, of all together */
    int rank;                 /* that had `most` */
    int64_t accounted;        /* bytes that rank allocated, at most */
    ikt_stage stage;          /* in which it did; IKT_STAGE_TOTAL where in none */
    ikt_peak_purpose largest[IKT_PEAK_PURPOSES]; /* at that moment, the largest first */
    int n_largest;
    int64_t of_rank[IKT_PEAK_RANKS]; /* bytes of each rank, where there are no more ranks */
    int ranks;
} ikt_memory_peaks;

/* COLLECTIVE. The same on every rank. */
void ikt_memory_peaks_collect(ikt_context *ctx, ikt_memory_peaks *out);

/* LOCAL. "codes 45.0 MB (61 %), P 12.1 MB (16 %)": the largest purposes and their share of what the
 * rank had allocated; "" where there are none. */
void ikt_memory_peaks_describe(const ikt_memory_peaks *peaks, char *text, size_t size);

#endif
