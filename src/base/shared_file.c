/* A file that all ranks write together. See shared_file.h. */
#define _POSIX_C_SOURCE 200809L
#include "base/shared_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/context.h"
#include "base/memory.h"

struct ikt_shared_file {
    ikt_context *ctx;
    char path[IKT_PATH_MAX], temporary[IKT_PATH_MAX];
    bool is_stream; /* rank 0 writes what all bring, into `stream` */
    FILE *stream;   /* NULL: closed, or not rank 0 */
    MPI_File file;  /* MPI_FILE_NULL: closed */
    int64_t end;    /* bytes so far, of all ranks */
};

static ikt_status refuse(const ikt_shared_file *f, int code, const char *what) {
    char reason[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, reason, &length);
    return ikt_fail(f->ctx, IKT_ERR_FILE, "%s cannot be %s: %s", f->path, what, reason);
}

static ikt_status refuse_stream(const ikt_shared_file *f) {
    return ikt_fail(f->ctx, IKT_ERR_FILE, "%s cannot be written: %s", f->path, strerror(errno));
}

/* Files return their errors, unlike the rest of MPI, unless someone has changed that. */
static ikt_status open_file(ikt_shared_file *f) {
    if (f->is_stream) {
        f->stream = f->ctx->rank == 0 ? fopen(f->path, "wb") : NULL;
        return f->stream || f->ctx->rank != 0 ? IKT_OK : refuse_stream(f);
    }
    int code = MPI_File_open(f->ctx->comm, f->temporary, MPI_MODE_WRONLY, MPI_INFO_NULL, &f->file);
    if (code != MPI_SUCCESS) {
        f->file = MPI_FILE_NULL;
        return refuse(f, code, "written");
    }
    MPI_File_set_errhandler(f->file, MPI_ERRORS_RETURN);
    return IKT_OK;
}

ikt_status ikt_shared_begin(ikt_context *ctx, const char *path, bool overwrite, int64_t bytes,
                            ikt_shared_file **out) {
    ikt_shared_file *f = NULL;
    *out = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &f, 1, sizeof *f, "output file")));
    f->ctx = ctx;
    f->file = MPI_FILE_NULL;
    snprintf(f->path, sizeof f->path, "%s", path);
    ikt_status st = ikt_atomic_begin_stream(ctx, path, overwrite, f->temporary);
    if (st == IKT_OK) {
        f->is_stream = ikt_atomic_is_stream(path, f->temporary);
        st = ikt_atomic_reserve(ctx, path, f->temporary, bytes);
        if (st == IKT_OK) st = ikt_agree(ctx, open_file(f));
        if (st != IKT_OK) st = ikt_shared_end(&f, st);
    }
    if (st != IKT_OK) ikt_free(&f);
    *out = f;
    return st;
}

/* Written by each rank for itself: on a full disk Open MPI 4 reports success of a collective write
 * to all, and of an independent one at least fewer bytes. Pieces are large, so nothing is lost by
 * it. */
static ikt_status write_step(ikt_shared_file *f, int64_t at, const char *bytes, int count) {
    MPI_Status status;
    int written = 0;
    if (count == 0) return IKT_OK;
    const int code = MPI_File_write_at(f->file, (MPI_Offset)at, bytes, count, MPI_BYTE, &status);
    if (code != MPI_SUCCESS) return refuse(f, code, "written");
    MPI_Get_count(&status, MPI_BYTE, &written);
    if (written == count) return IKT_OK;
    return ikt_fail(f->ctx, IKT_ERR_FILE,
                    "%s cannot be written: the file system took %d of %d bytes; is the disk full?",
                    f->path, written, count);
}

/* Writes `count` bytes in as many steps on all ranks, each of what an MPI count can express. */
static ikt_status write_at(ikt_shared_file *f, int64_t at, const char *bytes, int64_t count) {
    const int64_t piece = f->ctx->piece_bytes;
    const int64_t steps = ikt_max_one(f->ctx, (count + piece - 1) / piece);
    for (int64_t step = 0; step < steps; step++) {
        const int64_t done = step * piece < count ? step * piece : count;
        const int64_t now = count - done < piece ? count - done : piece;
        IKT_TRY(ikt_agree_file(
            f->ctx, write_step(f, at + done, now > 0 ? bytes + done : "", (int)now), f->temporary));
    }
    return IKT_OK;
}

/* What the ranks bring goes through rank 0, one rank after the other. */
static ikt_status write_stream(ikt_shared_file *f, const char *bytes, int64_t count) {
    ikt_context *ctx = f->ctx;
    int64_t *counts = NULL, most = ikt_max_one(ctx, count);
    char *theirs = NULL;
    bool good = true;
    ikt_status st = ikt_alloc(ctx, &counts, ctx->size, sizeof *counts, "output file");
    if (st == IKT_OK && ctx->rank == 0) st = ikt_alloc(ctx, &theirs, most, 1, "output file");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) ikt_gather_counts(ctx, count, counts);
    if (st == IKT_OK && ctx->rank == 0)
        good = fwrite(bytes, 1, (size_t)count, f->stream) == (size_t)count;
    for (int r = 1; st == IKT_OK && r < ctx->size; r++) {
        if (ctx->rank == r) ikt_send_receive(ctx, bytes, count, 0, NULL, 0, 0);
        if (ctx->rank != 0) continue;
        ikt_send_receive(ctx, NULL, 0, r, theirs, counts[r], r);
        good = good && fwrite(theirs, 1, (size_t)counts[r], f->stream) == (size_t)counts[r];
    }
    ikt_free(&theirs);
    ikt_free(&counts);
    return st != IKT_OK ? st : ikt_agree(ctx, good ? IKT_OK : refuse_stream(f));
}

ikt_status ikt_shared_append(ikt_shared_file *f, const void *bytes, int64_t count) {
    if (f->is_stream) return write_stream(f, bytes, count);
    const int64_t at = f->end + ikt_sum_before(f->ctx, count);
    f->end += ikt_sum_one(f->ctx, count);
    return write_at(f, at, bytes, count);
}

ikt_status ikt_shared_append_text(ikt_shared_file *f, const char *text) {
    return ikt_shared_append(f, text, f->ctx->rank == 0 ? (int64_t)strlen(text) : 0);
}

const char *ikt_shared_name(const ikt_shared_file *f) {
    return f->temporary;
}

/* The last word on what has arrived, whatever the MPI library said before. */
static ikt_status check_size(const ikt_shared_file *f) {
    struct stat is;
    if (stat(f->temporary, &is) != 0)
        return ikt_fail(f->ctx, IKT_ERR_FILE, "%s cannot be completed: %s", f->path,
                        strerror(errno));
    if (is.st_size == f->end) return IKT_OK;
    return ikt_fail(f->ctx, IKT_ERR_FILE,
                    "%s cannot be completed: %lld of %lld bytes have arrived; is the disk full?",
                    f->path, (long long)is.st_size, (long long)f->end);
}

ikt_status ikt_shared_close(ikt_shared_file *f) {
    if (f->is_stream) {
        const bool good = !f->stream || fclose(f->stream) == 0;
        f->stream = NULL;
        return ikt_agree(f->ctx, good ? IKT_OK : refuse_stream(f));
    }
    if (f->file == MPI_FILE_NULL) return IKT_OK;
    const int code = MPI_File_close(&f->file);
    f->file = MPI_FILE_NULL;
    ikt_status st = code == MPI_SUCCESS ? IKT_OK : refuse(f, code, "completed");
    st = ikt_agree(f->ctx, st);
    if (st != IKT_OK) return st;
    return ikt_agree(f->ctx, f->ctx->rank == 0 ? check_size(f) : IKT_OK);
}

ikt_status ikt_shared_end(ikt_shared_file **file, ikt_status local) {
    ikt_shared_file *f = *file;
    if (!f) return local;
    local = ikt_agree(f->ctx, local);
    const ikt_status closed = ikt_shared_close(f);
    const ikt_status st =
        ikt_atomic_end(f->ctx, f->path, f->temporary, local == IKT_OK ? closed : local);
    ikt_free(file);
    return st;
}
