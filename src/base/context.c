/* Life of a context, and its plain accessors. */
#define _POSIX_C_SOURCE 200809L
#include "base/context.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"

static const int64_t default_piece_bytes = (int64_t)1 << 30;

ikt_status ikt_context_create(MPI_Comm comm, int threads, ikt_context **out) {
    *out = NULL;
    /* Open MPI 4 chooses a component for shared file pointers at every opening of a file, also
     * where none are used. Its component `lockedfile` writes the absolute path into 256 bytes and
     * thereby ends the program where the path is longer. It is switched off by a parameter that
     * Open MPI reads from the environment at the first opening; other MPI libraries ignore it. */
    setenv("OMPI_MCA_sharedfp", "^lockedfile", 0);
    ikt_context *ctx = calloc(1, sizeof *ctx);
    int size = 1, anywhere = 1;
    MPI_Comm_size(comm, &size);
    if (ctx) ctx->counts = malloc(2 * (size_t)size * sizeof *ctx->counts);
    int missing = ctx == NULL || ctx->counts == NULL;
    if (MPI_Allreduce(&missing, &anywhere, 1, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS || anywhere ||
        MPI_Comm_dup(comm, &ctx->comm) != MPI_SUCCESS) {
        if (ctx) free(ctx->counts);
        free(ctx);
        return IKT_ERR_RESOURCE;
    }
    MPI_Comm_set_errhandler(ctx->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(ctx->comm, &ctx->rank);
    ctx->size = size;
    ctx->piece_bytes = default_piece_bytes;
    ctx->level = IKT_LOG_STAGE;
    ctx->terminal = isatty(STDERR_FILENO) == 1;
    ikt_cpu_node_ranks(ctx, &ctx->node_ranks, &ctx->node_rank);
    ikt_context_set_threads(ctx, threads);
    ctx->address_space = ikt_address_space_left();
    *out = ctx;
    return IKT_OK;
}

static pid_t mpi_process; /* that began MPI here; its forks are not to end it */

/* At the exit of the process, where we have begun MPI and nobody has ended it. */
static void end_mpi(void) {
    int is_over = 1;
    if (mpi_process != getpid()) return;
    if (MPI_Finalized(&is_over) == MPI_SUCCESS && !is_over) MPI_Finalize();
}

/* MPI_Init_thread of a process without a launcher, with what Open MPI needs for that; other MPI
 * libraries ignore it. Open MPI would start a daemon, which serves to start further processes; the
 * context of one process needs none. What it then writes into the environment about itself is taken
 * out again: programs that are started from here inherit it, and mpirun would fail without a word.
 */
static bool init_alone(void) {
    static const char *const names[] = {"OMPI_MCA_ess_singleton_isolated", "OMPI_MCA_ess",
                                        "OMPI_MCA_pmix"};
    enum { NAMES = sizeof names / sizeof *names };
    bool was_there[NAMES];
    int level = MPI_THREAD_SINGLE;
    for (int i = 0; i < NAMES; i++)
        was_there[i] = getenv(names[i]) != NULL;
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    /* Without that daemon there is no folder for files in which Open MPI shares the pointers
     * into files; we use none (ikt_context_create has the other component). */
    setenv("OMPI_MCA_sharedfp", "^lockedfile,sm", 0);
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) return false;
    for (int i = 0; i < NAMES; i++)
        if (!was_there[i]) unsetenv(names[i]);
    return true;
}

/* Begins MPI, or finds it begun. NULL, or why it cannot be used. */
static const char *begin_mpi(void) {
    int has_begun = 0, is_over = 0, level = MPI_THREAD_SINGLE, is_main = 1;
    if (MPI_Initialized(&has_begun) != MPI_SUCCESS || MPI_Finalized(&is_over) != MPI_SUCCESS)
        return "MPI does not say whether it has begun in this process";
    if (is_over)
        return "MPI was ended (MPI_Finalize) in this process, and cannot be begun again: keep it "
               "until the last call of iktsne";
    if (!has_begun) {
        if (!init_alone()) return "MPI cannot be begun in this process (MPI_Init_thread failed)";
        mpi_process = getpid();
        if (atexit(end_mpi) != 0) return "there is no memory for what ends MPI at the exit";
    }
    if (MPI_Query_thread(&level) != MPI_SUCCESS || MPI_Is_thread_main(&is_main) != MPI_SUCCESS)
        return "MPI does not say what it allows the threads of this process";
    if (level < MPI_THREAD_SERIALIZED && !is_main)
        return "MPI allows calls from the thread that began it only, and this is another one: "
               "begin it with MPI_THREAD_SERIALIZED, or call iktsne from that thread";
    return NULL;
}

ikt_status ikt_context_create_single(int threads, ikt_context **out, const char **why) {
    *out = NULL;
    *why = begin_mpi();
    if (*why) return IKT_ERR_USAGE;
    const ikt_status st = ikt_context_create(MPI_COMM_SELF, threads, out);
    if (st != IKT_OK) *why = "there is not enough memory for a context";
    return st;
}

ikt_status ikt_context_create_alone(int threads, ikt_context **out) {
    ikt_context *ctx = *out = calloc(1, sizeof *ctx);
    if (ctx) ctx->counts = malloc(2 * sizeof *ctx->counts);
    if (!ctx || !ctx->counts) {
        free(ctx);
        *out = NULL;
        return IKT_ERR_RESOURCE;
    }
    ctx->comm = MPI_COMM_NULL;
    ctx->size = ctx->node_ranks = 1;
    ctx->piece_bytes = default_piece_bytes;
    ctx->level = IKT_LOG_STAGE;
    ctx->terminal = isatty(STDERR_FILENO) == 1;
    ikt_context_set_threads(ctx, threads);
    ctx->address_space = ikt_address_space_left();
    return IKT_OK;
}

ikt_status ikt_context_split(ikt_context *ctx, int group, ikt_context **out) {
    MPI_Comm comm = MPI_COMM_NULL;
    *out = NULL;
    ikt_clear(ctx);
    if (!ikt_is_alone(ctx) && MPI_Comm_split(ctx->comm, group, ctx->rank, &comm) != MPI_SUCCESS)
        ikt_abort(ctx, "MPI_Comm_split failed");
    ikt_status st = ikt_is_alone(ctx) ? ikt_context_create_alone(ctx->threads, out)
                                      : ikt_context_create(comm, ctx->threads, out);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    if (st == IKT_OK) {
        (*out)->level = ctx->level;
        ikt_context_set_log_format(*out, ctx->is_json ? IKT_LOG_JSON : IKT_LOG_TEXT);
        (*out)->piece_bytes = ctx->piece_bytes;
        (*out)->may_fork = ctx->may_fork;
    } else {
        ikt_fail(ctx, st, "out of memory for a group of ranks");
    }
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) ikt_context_destroy(out);
    return st;
}

void ikt_context_destroy(ikt_context **ctx) {
    if (!*ctx) return;
    ikt_warnings_print(*ctx);
#ifndef NDEBUG
    if ((*ctx)->memory_now != 0 && (*ctx)->status == IKT_OK) {
        for (int i = 0; i < (*ctx)->purposes; i++)
            if ((*ctx)->purpose[i].now != 0)
                fprintf(stderr, "iktsne: rank %d: leak: %lld bytes for %s\n", (*ctx)->rank,
                        (long long)(*ctx)->purpose[i].now, (*ctx)->purpose[i].name);
        abort();
    }
#endif
    if ((*ctx)->comm != MPI_COMM_NULL) MPI_Comm_free(&(*ctx)->comm);
    free((*ctx)->counts);
    free(*ctx);
    *ctx = NULL;
}

/* By default one thread per processor of the mask, shared fairly when ranks of a node share one
 * mask (a launcher that does not bind); OMP_NUM_THREADS says more. */
void ikt_context_set_threads(ikt_context *ctx, int threads) {
    if (threads <= 0 && getenv("OMP_NUM_THREADS")) threads = omp_get_max_threads();
    const int mask = ikt_cpu_mask_count();
    if (threads <= 0)
        threads = mask < sysconf(_SC_NPROCESSORS_ONLN) ? mask : mask / ctx->node_ranks;
    ctx->threads = threads < 1 ? 1 : threads;
}

void ikt_context_set_log(ikt_context *ctx, ikt_log_level level) {
    ctx->level = level;
}

void ikt_context_set_log_format(ikt_context *ctx, ikt_log_format format) {
    ctx->is_json = format == IKT_LOG_JSON;
    if (ctx->is_json) ctx->terminal = false; /* no bar among the lines */
}

int ikt_rank(const ikt_context *ctx) {
    return ctx->rank;
}

int ikt_size(const ikt_context *ctx) {
    return ctx->size;
}

int ikt_threads(const ikt_context *ctx) {
    return ctx->threads;
}

MPI_Comm ikt_comm(const ikt_context *ctx) {
    return ctx->comm;
}

const char *ikt_message(const ikt_context *ctx) {
    return ctx->message;
}

void ikt_clear(ikt_context *ctx) {
    ctx->status = IKT_OK;
    ctx->message[0] = '\0';
}
