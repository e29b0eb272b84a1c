/* What the files of base/ share about a context; other folders use the functions only. */
#ifndef IKT_BASE_CONTEXT_H
#define IKT_BASE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/timer.h"
#include "base/traffic.h"
#include "base/warning.h"

enum { IKT_MESSAGE_MAX = 2048, IKT_PURPOSES_MAX = 64, IKT_STAGES_OPEN_MAX = 16 };

typedef struct {
    const char *name;
    int64_t now, peak; /* bytes */
    int64_t at_peak;   /* when the sum of all was largest */
} ikt_purpose;

/* See watch.h. Times in seconds of ikt_now. */
typedef struct {
    bool is_on, is_signal; /* is_signal: why the run was stopped */
    double stop_at, spare; /* the end, and what is kept free before it */
    double save_every, saved_at, save_seconds;
    int64_t heard;
} ikt_watch;

struct ikt_context {
    MPI_Comm comm;
    int rank, size, threads;
    int node_ranks, node_rank; /* ranks that share this node's memory */
    int64_t piece_bytes;       /* most bytes in one MPI call */
    bool may_fork;             /* see sandbox.h; false in programs of others */

    ikt_status status;             /* of `message` */
    char message[IKT_MESSAGE_MAX]; /* first failure on this rank */

    int64_t memory_now, memory_peak; /* bytes */
    ikt_stage memory_peak_stage;
    int64_t address_space; /* what limits left at the start; INT64_MAX: no limit */
    int purposes;
    ikt_purpose purpose[IKT_PURPOSES_MAX];

    ikt_log_level level;
    bool is_json; /* the log's lines */
    bool terminal, bar_open;
    ikt_warnings warnings;
    double progress_start, progress_last; /* seconds */
    int64_t progress_first;

    double stage_begun[IKT_STAGE_COUNT], stage_seconds[IKT_STAGE_COUNT];
    int64_t stage_count[IKT_STAGE_COUNT];
    ikt_stage stage_open[IKT_STAGES_OPEN_MAX]; /* those that run, outermost first */
    int stages_open;

    int64_t traffic[IKT_STAGE_COUNT][IKT_TRAFFIC_KINDS]; /* without the stages below */

    ikt_watch watch;
};

/* LOCAL. A context of one rank without MPI, which need not have begun: for texts and memory. No
 * collective function may be called with it. NULL where there is no memory; freed with
 * ikt_context_destroy. */
ikt_context *ikt_context_create_alone(void);

#endif
