/* Life of a context, and its plain accessors. */
#define _POSIX_C_SOURCE 200809L
#include "base/context.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/launch.h"
#include "base/memory.h"

static const int64_t default_piece_bytes = (int64_t)1 << 30;

ikt_status ikt_context_create(MPI_Comm comm, int threads, ikt_context **out) {
    *out = NULL;
    ikt_mpi_choose_file_parts();
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

ikt_status ikt_context_create_single(int threads, ikt_context **out, const char **why) {
    *out = NULL;
    *why = ikt_mpi_begin_for_host();
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
