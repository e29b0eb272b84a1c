/* What a run cost, collected over the ranks: seconds, transfers, memory. */
#ifndef IKT_BASE_COST_H
#define IKT_BASE_COST_H

#include <stddef.h>
#include <stdint.h>

#include "base/timer.h"
#include "base/traffic.h"

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
} ikt_traffic;

/* COLLECTIVE. Fills traffic[IKT_STAGE_COUNT] with what was counted before the call, stages with
 * those below them; the same on every rank. */
void ikt_traffic_collect(ikt_context *ctx, ikt_traffic *traffic);

/* --- the most memory that ranks held, and what for -------------------------------------------- */

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
