/* What a run costs: begins and ends of stages; seconds, transfers and memory over the ranks. */
#ifndef IKT_BASE_TIMER_H
#define IKT_BASE_TIMER_H

#include <stddef.h>

#include "base/arrays.h"
#include "base/stage.h"
#include "base/status.h"

/* LOCAL. Starts and stops a stage; may be repeated (times add up) and nested. The end of a stage
 * ends those that began within it and were left by a failure. Stages within IKT_STAGE_LANDMARKS
 * are not recorded: their time is that of the landmarks. The end of a stage that succeeded is a
 * line of the log: with its seconds on rank 0, the first time and where it took a tenth of one;
 * other ends are details. */
void ikt_stage_begin(ikt_context *ctx, ikt_stage stage);
void ikt_stage_end(ikt_context *ctx, ikt_stage stage);

/* LOCAL. The stage runs from here to the end of the block, by whichever return that is reached:
 *     IKT_IN_STAGE(ctx, IKT_STAGE_READ); */
#define IKT_IN_STAGE(ctx, stage)                                                                   \
    ikt_open_stage ikt_in_stage_ IKT_AT_END(ikt_stage_leave) = ikt_stage_enter(ctx, stage)

typedef struct {
    ikt_context *ctx;
    ikt_stage stage;
} ikt_open_stage;

static inline ikt_open_stage ikt_stage_enter(ikt_context *ctx, ikt_stage stage) {
    ikt_stage_begin(ctx, stage);
    return (ikt_open_stage){ctx, stage};
}

static inline void ikt_stage_leave(const ikt_open_stage *open) {
    ikt_stage_end(open->ctx, open->stage);
}

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
