/* What the files of base/ share about a context; other folders use the functions only. */
#ifndef IKT_BASE_CONTEXT_H
#define IKT_BASE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include "base/log.h"
#include "base/status.h"
#include "base/timer.h"
#include "iktsne/watcher.h"

enum { IKT_MESSAGE_MAX = 2048, IKT_PURPOSES_MAX = 64, IKT_STAGES_OPEN_MAX = 16 };

typedef struct {
    const char *name;
    int64_t now, peak; /* bytes */
    int64_t at_peak;   /* when the sum of all was largest */
} ikt_purpose;

enum { IKT_WARNINGS_MAX = 16, IKT_WARNING_MAX = 512 };

/* What a rank has warned of (ikt_warn), each text once. */
typedef struct {
    char text[IKT_WARNINGS_MAX][IKT_WARNING_MAX];
    bool is_new[IKT_WARNINGS_MAX]; /* not printed yet */
    int count;
} ikt_warnings;

/* See watch.h. Times in seconds of ikt_now. */
typedef struct {
    bool is_on, is_signal;         /* is_signal: the last request was not that of the clock */
    bool has_saved;                /* since the watch began */
    const struct ikt_saver *saver; /* of IKT_MAY_PAUSE; NULL: nobody may pause there */
    bool *has_worked;              /* likewise */
    double stop_at, spare;         /* the end, and what is kept free before it */
    double save_every, saved_at, save_seconds;
} ikt_watch;

enum { IKT_WHOLE_FILES = 8 };

/* A file as it is; the change in nanoseconds since 1970. */
typedef struct {
    uint64_t device, inode;
    int64_t changed;
} ikt_file_id;

/* Which bytes stand in a file, as rank 0 sees it (row_hash.c). Without gaps: compared as memory. */
typedef struct {
    int64_t device, inode, bytes, modified[2], changed[2]; /* seconds, nanoseconds */
    int64_t is_settled;                                    /* any change from now on shows */
} ikt_file_state;

struct ikt_context {
    MPI_Comm comm;
    int rank, size, threads;
    int node_ranks, node_rank; /* ranks that share this node's memory */
    bool is_crowded;     /* ranks sleep while they wait, as processors are too few (context.c); the
                            same on all ranks */
    int64_t piece_bytes; /* most bytes in one MPI call */
    int *counts;         /* [2 * size] for calls of MPI that take counts of all ranks; owned */
    ikt_file_id *replaced; /* [replaced_count] those that a command replaces (files.c); owned */
    int64_t replaced_count;
    bool may_fork; /* see sandbox.h; false in programs of others */

    ikt_status status;             /* of `message` */
    char message[IKT_MESSAGE_MAX]; /* first failure on this rank */

    int64_t memory_now, memory_peak; /* bytes */
    ikt_stage memory_peak_stage;
    int64_t address_space; /* what limits left at the start; INT64_MAX: no limit */
    int purposes;
    ikt_purpose purpose[IKT_PURPOSES_MAX];

    ikt_log_level level;
    bool is_json;   /* the log's lines */
    char delimiter; /* of text (io/formats/reader.h); 0: what it shows */
    bool terminal, bar_open;
    ikt_warnings warnings;
    double progress_start, progress_last; /* seconds */
    int64_t progress_first;

    double stage_begun[IKT_STAGE_COUNT], stage_seconds[IKT_STAGE_COUNT];
    int64_t stage_count[IKT_STAGE_COUNT];
    ikt_stage stage_open[IKT_STAGES_OPEN_MAX]; /* those that run, outermost first */
    int stages_open;

    int64_t traffic[IKT_STAGE_COUNT][IKT_TRAFFIC_KINDS]; /* without the stages below */
    double waited[IKT_STAGE_COUNT];                      /* seconds in calls of MPI, the same */
    double longest_wait[IKT_STAGE_COUNT];                /* in one of them */

    ikt_watch watch;

    /* Of a program that calls the library; both borrowed for one call. */
    const ikt_watcher *watcher; /* is told of progress (watch.h); NULL: none */
    bool wants_stop;            /* it has asked this rank to stop */
    const void *borrowed;       /* arrays in place of files (io/sources/source.h); NULL: none */

    ikt_file_state whole[IKT_WHOLE_FILES]; /* the last sealed files that were whole */
    int whole_next;
    struct ikt_part_lock *part_locks; /* of files that are not complete (part_file.h) */
};

/* LOCAL. A context of one process without MPI, which need not have begun (it may not be available
 * on a login node). Collective functions are those of a group of one; HDF5 opens files as without
 * MPI. What hands a communicator to others cannot be called with it: eigenvectors (ScaLAPACK),
 * shared grids (FFTW), and the exchanges of the layout (ikt_transfer of comm.h, dist/halo.h).
 *   threads   as for ikt_context_create
 *   out       receives the context, freed with ikt_context_destroy; NULL on failure
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_context_create_alone(int threads, ikt_context **out);

/* LOCAL, whatever rank and level: one line on stderr. `message` is changed: control characters
 * become '?'. `numbers` as in ikt_log_numbers, or NULL. */
void ikt_log_line(const ikt_context *ctx, ikt_log_level level, const ikt_log_number *numbers,
                  char *message);

/* LOCAL. Which warning of this rank has that text; -1 where none has. */
int ikt_warning_find(const ikt_warnings *warnings, const char *text);

/* LOCAL. Prints a warning with the ranks that gave it: `count` of them, from `first` to `last`. */
void ikt_warning_print(const ikt_context *ctx, const char *text, int64_t count, int64_t first,
                       int64_t last);

/* LOCAL. This rank prints its new warnings by itself: where there will be no agreement any more. */
void ikt_warnings_print(const ikt_context *ctx);

/* How MPI begins and ends: under a launcher, or in a process alone.
 *
 * A process that no launcher started needs no network and no daemon that would start further
 * processes. Open MPI 4 readies both all the same, which took 0.30 of the 0.35 s that a command of
 * one process needed to begin; it is told not to, by parameters in the environment, which other MPI
 * libraries ignore. What the user has set of them is left as it is.
 */

/* LOCAL, once, by a main program of ours. Begins MPI with
 * MPI_THREAD_FUNNELED: in all processes of the launcher, or alone where there is none.
 *   has_threads   receives whether the library allows threads
 * Returns whether MPI has begun. */
bool ikt_mpi_begin(bool *has_threads);

/* COLLECTIVE over the processes of the launcher, last of all: ends what ikt_mpi_begin began. */
void ikt_mpi_end(void);

/* LOCAL, also before MPI. The first line of what the MPI library calls itself; "" where unknown. */
void ikt_mpi_library(char name[MPI_MAX_LIBRARY_VERSION_STRING]);

/* LOCAL, also before MPI. Whether there is an MPI library: not in a build for one process
 * (one_process/mpi.c), whose name for it is "none". */
bool ikt_mpi_is_there(void);

#endif
