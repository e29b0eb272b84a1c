/* How MPI begins and ends; life of a context, and its plain accessors. */
#define _POSIX_C_SOURCE 200809L
#include "base/context.h"

#include <math.h>
#include <omp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/control_group.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/part_file.h"

/* --- how MPI begins and ends: under a launcher, or in a process alone ----------------------- */

void ikt_mpi_library(char name[MPI_MAX_LIBRARY_VERSION_STRING]) {
    int length;
    if (MPI_Get_library_version(name, &length) != MPI_SUCCESS) name[0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    for (char *at = name; (at = strchr(at, '\t'));) /* of MPICH */
        *at = ' ';
}

bool ikt_mpi_is_there(void) {
    char name[MPI_MAX_LIBRARY_VERSION_STRING];
    ikt_mpi_library(name);
    return strncmp(name, "none", 4) != 0;
}

/* LOCAL, before the first file is opened by MPI. Open MPI 4 chooses a component for shared file
 * pointers at every opening of a file, also where none are used. Two are switched off: `lockedfile`
 * writes the absolute path into 256 bytes and thereby ends the program where the path is longer;
 * `sm` wants shared memory, and the launcher's folder, without which no file can be opened. What is
 * left then keeps files beside each that is open. */
static void choose_file_parts(bool has_launcher) {
    if (!ikt_mpi_is_there()) return; /* another MPI in the process would see it */
    const bool can_share = has_launcher && access("/dev/shm", W_OK) == 0;
    setenv("OMPI_MCA_sharedfp", can_share ? "^lockedfile" : "^lockedfile,sm", 0);
}

/* A parameter of Open MPI in the environment, and its value for a process alone; NULL where Open
 * MPI itself sets it. There is no folder for the process, since those without a daemon would share
 * one of the node, which the first to end takes away from those that begin. */
typedef struct {
    const char *name, *value;
} parameter;

static const parameter of_one_process[] = {{"OMPI_MCA_ess_singleton_isolated", "1"}, /* no daemon */
                                           {"OMPI_MCA_orte_create_session_dirs", "0"},
                                           {"OMPI_MCA_pml", "^cm,ucx"}, /* no search for networks */
                                           {"OMPI_MCA_btl", "self"},
                                           {"OMPI_MCA_if", "^posix_ipv4"}, /* warns without any */
                                           {"OMPI_MCA_ess", NULL},
                                           {"OMPI_MCA_pmix", NULL}};
enum { PARAMETERS = sizeof of_one_process / sizeof *of_one_process };

/* MPI_Init_thread of a process without a launcher. All parameters are taken out of the environment
 * again: programs that are started from here inherit it, and mpirun would fail without a word. */
static bool begin_alone(int wanted, int *level) {
    bool was_there[PARAMETERS];
    for (int i = 0; i < PARAMETERS; i++) {
        was_there[i] = getenv(of_one_process[i].name) != NULL;
        if (of_one_process[i].value) setenv(of_one_process[i].name, of_one_process[i].value, 0);
    }
    choose_file_parts(false);
    const bool has_begun = MPI_Init_thread(NULL, NULL, wanted, level) == MPI_SUCCESS;
    for (int i = 0; i < PARAMETERS; i++)
        if (!was_there[i]) unsetenv(of_one_process[i].name);
    return has_begun;
}

void ikt_mpi_end(void) {
    MPI_Finalize();
}

/* Under a launcher a process is one of the group's, also where it then works alone. */
static bool begin(int wanted, int *level) {
    if (ikt_mpi_is_there() && !ikt_cpu_has_launcher()) return begin_alone(wanted, level);
    return MPI_Init_thread(NULL, NULL, wanted, level) == MPI_SUCCESS;
}

bool ikt_mpi_begin(bool *has_threads) {
    int level = MPI_THREAD_SINGLE;
    const bool has_begun = begin(MPI_THREAD_FUNNELED, &level);
    *has_threads = level >= MPI_THREAD_FUNNELED;
    return has_begun;
}

static pid_t mpi_process; /* that began MPI here; its forks are not to end it */

/* At the exit of the process, where we have begun MPI and nobody has ended it. */
static void end_mpi(void) {
    int is_over = 1;
    if (mpi_process != getpid()) return;
    if (MPI_Finalized(&is_over) == MPI_SUCCESS && !is_over) MPI_Finalize();
}

/* LOCAL. Begins MPI in a program of others, or finds it begun; what is begun here is ended at the
 * exit of the process. Returns NULL, or why MPI cannot be used here: a sentence, not to be freed.
 */
static const char *begin_mpi_for_host(void) {
    int has_begun = 0, is_over = 0, level = MPI_THREAD_SINGLE, is_main = 1;
    if (MPI_Initialized(&has_begun) != MPI_SUCCESS || MPI_Finalized(&is_over) != MPI_SUCCESS)
        return "MPI does not say whether it has begun in this process";
    if (is_over)
        return "MPI was ended (MPI_Finalize) in this process, and cannot be begun again: keep it "
               "until the last call of iktsne";
    if (!has_begun) {
        if (!begin(MPI_THREAD_SERIALIZED, &level))
            return "MPI cannot be begun in this process (MPI_Init_thread failed)";
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

/* --- contexts --- */

/* COLLECTIVE. Whether somewhere more ranks than processors wait for each other in an MPI that
 * spins; Open MPI's yields by itself where its launcher knows of it. */
static bool is_crowded(ikt_context *ctx) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    ikt_mpi_library(library);
    if (ctx->size == 1 || strncmp(library, "Open MPI", 8) == 0) return false;
    const double quota = ikt_group_processors("/proc/self/cgroup", "/sys/fs/cgroup");
    const double online = (double)sysconf(_SC_NPROCESSORS_ONLN);
    return ikt_max_one(ctx, ctx->node_ranks > (quota > 0 && quota < online ? quota : online)) > 0;
}

static const int64_t default_piece_bytes = (int64_t)1 << 30;

ikt_status ikt_context_create(MPI_Comm comm, int threads, ikt_context **out) {
    *out = NULL;
    choose_file_parts(true); /* what was chosen before MPI began stays */
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
    ctx->is_crowded = is_crowded(ctx);
    ctx->address_space = ikt_address_space_left();
    *out = ctx;
    return IKT_OK;
}

ikt_status ikt_context_create_single(int threads, ikt_context **out, const char **why) {
    *out = NULL;
    *why = begin_mpi_for_host();
    if (*why) return IKT_ERR_USAGE;
    const ikt_status st = ikt_context_create(MPI_COMM_SELF, threads, out);
    if (st != IKT_OK) *why = "there is not enough memory for a context";
    if (st == IKT_OK && !ikt_mpi_is_there() && ikt_cpu_group_is_announced())
        ikt_warn(*out, "a launcher has started this process as one of several, and this iktsne was "
                       "built for one process: each does all that it is asked by itself");
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
        (*out)->delimiter = ctx->delimiter;
        (*out)->may_fork = ctx->may_fork;
        (*out)->is_crowded |= ctx->is_crowded;
    } else {
        ikt_fail(ctx, st, "out of memory for a group of ranks");
    }
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) ikt_context_destroy(out);
    return st;
}

void ikt_context_destroy(ikt_context **ctx) {
    if (!*ctx) return;
    ikt_part_release_all(*ctx);
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
    free((*ctx)->replaced);
    free(*ctx);
    *ctx = NULL;
}

/* By default one thread per processor of the mask, shared fairly when ranks of a node share one
 * mask (a launcher that does not bind), and no more than a quota of the control group feeds;
 * OMP_NUM_THREADS says more. */
void ikt_context_set_threads(ikt_context *ctx, int threads) {
    if (threads <= 0 && getenv("OMP_NUM_THREADS")) threads = omp_get_max_threads();
    if (threads <= 0) {
        const int mask = ikt_cpu_mask_count();
        const double quota = ikt_group_processors("/proc/self/cgroup", "/sys/fs/cgroup");
        threads = mask < sysconf(_SC_NPROCESSORS_ONLN) ? mask : mask / ctx->node_ranks;
        if (quota > 0 && threads * ctx->node_ranks > quota)
            threads = (int)ceil(quota / ctx->node_ranks);
    }
    ctx->threads = threads < 1 ? 1 : threads > IKT_THREADS_MOST ? IKT_THREADS_MOST : threads;
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
