/* Files that several write. See shared_file.h. */
#define _GNU_SOURCE
#include "base/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/context.h"

struct ikt_shared_file {
    ikt_context *ctx;
    char path[IKT_PATH_MAX], temporary[IKT_PATH_MAX];
    bool is_stream; /* rank 0 writes what all bring, into `stream`; so does a process without MPI */
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
    return ikt_atomic_failed(f->ctx, f->path, NULL);
}

ikt_status ikt_shared_begin(ikt_context *ctx, const char *path, bool overwrite, int64_t bytes,
                            ikt_shared_file **out) {
    ikt_shared_file *f = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &f, 1, sizeof *f, "output file"));
    f->ctx = ctx;
    f->file = MPI_FILE_NULL;
    snprintf(f->path, sizeof f->path, "%s", path);
    ikt_status st = ikt_atomic_begin_stream(ctx, path, overwrite, f->temporary);
    if (st != IKT_OK) {
        ikt_free(&f);
        return st;
    }
    f->is_stream = ikt_atomic_is_stream(path, f->temporary) || ikt_is_alone(ctx);
    st = ikt_atomic_reserve(ctx, path, f->temporary, bytes);
    if (st == IKT_OK && f->is_stream) {
        const bool is_new = ikt_atomic_is_stream(path, f->temporary); /* else blocks are reserved */
        if (ctx->rank == 0)
            f->stream = is_new ? ikt_atomic_open(f->temporary) : fopen(f->temporary, "r+b");
        st = ikt_agree(ctx, f->stream || ctx->rank != 0 ? IKT_OK : refuse_stream(f));
    } else if (st == IKT_OK) {
        const int code =
            MPI_File_open(ctx->comm, f->temporary, MPI_MODE_WRONLY, MPI_INFO_NULL, &f->file);
        if (code != MPI_SUCCESS) f->file = MPI_FILE_NULL;
        /* Files return their errors, unlike the rest of MPI, unless someone has changed that. */
        if (code == MPI_SUCCESS) MPI_File_set_errhandler(f->file, MPI_ERRORS_RETURN);
        st = ikt_agree(ctx, code == MPI_SUCCESS ? IKT_OK : refuse(f, code, "written"));
    }
    if (st != IKT_OK) st = ikt_shared_end(&f, st);
    *out = f;
    return st;
}

/* Writes `count` bytes in as many steps on all ranks, each of what an MPI count can express. Every
 * rank writes for itself: on a full disk Open MPI 4 reports success of a collective write to all,
 * and of an independent one at least fewer bytes. Pieces are large, so nothing is lost by it. */
static ikt_status write_at(ikt_shared_file *f, int64_t at, const char *bytes, int64_t count) {
    const int64_t piece = f->ctx->piece_bytes;
    const int64_t steps = ikt_max_one(f->ctx, (count + piece - 1) / piece);
    for (int64_t step = 0; step < steps; step++) {
        const int64_t done = step * piece, left = count - done;
        const int now = (int)(left < 0 ? 0 : left < piece ? left : piece);
        ikt_status st = IKT_OK;
        if (now > 0) {
            MPI_Status status;
            int written = 0;
            const int code = MPI_File_write_at(f->file, (MPI_Offset)(at + done), bytes + done, now,
                                               MPI_BYTE, &status);
            if (code == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &written);
            if (code != MPI_SUCCESS)
                st = refuse(f, code, "written");
            else if (written != now)
                st = ikt_fail(f->ctx, IKT_ERR_FILE,
                              "%s cannot be written: the file system took %d of %d bytes; is the "
                              "disk full?",
                              f->path, written, now);
        }
        IKT_TRY(ikt_agree_file(f->ctx, st, f->temporary));
    }
    return IKT_OK;
}

/* What the ranks bring goes through rank 0, one rank after the other. */
static ikt_status write_stream(ikt_shared_file *f, const char *bytes, int64_t count) {
    ikt_context *ctx = f->ctx;
    const int64_t most = ikt_max_one(ctx, count);
    IKT_ARRAYS(held, ctx, "output file");
    int64_t *counts = ikt_claim(&held, ctx->size, sizeof *counts);
    char *theirs = ctx->rank == 0 ? ikt_claim(&held, most, 1) : NULL;
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_gather_counts(ctx, count, counts);
    bool good = ctx->rank != 0 || fwrite(bytes, 1, (size_t)count, f->stream) == (size_t)count;
    int reason = errno;
    for (int r = 1; r < ctx->size; r++) {
        if (ctx->rank == r) ikt_send_receive(ctx, bytes, count, 0, NULL, 0, 0);
        if (ctx->rank != 0) continue;
        ikt_send_receive(ctx, NULL, 0, r, theirs, counts[r], r);
        if (!good) continue;
        good = fwrite(theirs, 1, (size_t)counts[r], f->stream) == (size_t)counts[r];
        reason = errno;
    }
    errno = reason; /* not that of a message */
    return ikt_agree(ctx, good ? IKT_OK : refuse_stream(f));
}

ikt_status ikt_shared_append(ikt_shared_file *f, const void *bytes, int64_t count) {
    if (f->is_stream) return write_stream(f, bytes, count);
    const int64_t at = f->end + ikt_sum_before(f->ctx, count);
    f->end += ikt_sum_one(f->ctx, count);
    return write_at(f, at, bytes, count);
}

const char *ikt_shared_name(const ikt_shared_file *f) {
    return f->temporary;
}

ikt_status ikt_shared_close(ikt_shared_file *f) {
    ikt_context *ctx = f->ctx;
    if (f->is_stream) {
        const bool good = !f->stream || fclose(f->stream) == 0;
        f->stream = NULL;
        return ikt_agree(ctx, good ? IKT_OK : refuse_stream(f));
    }
    if (f->file == MPI_FILE_NULL) return IKT_OK;
    const int code = MPI_File_close(&f->file);
    f->file = MPI_FILE_NULL;
    ikt_status st = ikt_agree(ctx, code == MPI_SUCCESS ? IKT_OK : refuse(f, code, "completed"));
    if (st != IKT_OK) return st;
    /* The last word on what has arrived, whatever the MPI library said before. */
    struct stat is;
    if (ctx->rank == 0 && stat(f->temporary, &is) != 0)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be completed: %s", f->path, strerror(errno));
    else if (ctx->rank == 0 && is.st_size != f->end)
        st = ikt_fail(ctx, IKT_ERR_FILE,
                      "%s cannot be completed: %lld of %lld bytes have arrived; is the disk full?",
                      f->path, (long long)is.st_size, (long long)f->end);
    return ikt_agree(ctx, st);
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

/* --- of several programs ---------------------------------------------------------------------- */

static ikt_status failed(const ikt_locked_file *f, const char *what) {
    return ikt_fail(f->ctx, IKT_ERR_FILE, "%s cannot be %s: %s", f->path, what, strerror(errno));
}

/* Takes the lock of an open file and reads all of it. */
static ikt_status lock_and_read(ikt_locked_file *f) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat is;
    if (fstat(f->file, &is) == 0 && !S_ISREG(is.st_mode))
        return ikt_fail(f->ctx, IKT_ERR_FILE, "%s is no regular file; remove it, or name another",
                        f->path);
    while (fcntl(f->file, F_SETLKW, &lock) != 0)
        if (errno != EINTR) return failed(f, "locked (does its file system have locks?)");
    if (fstat(f->file, &is) != 0) return failed(f, "read");
    const int64_t size = (int64_t)is.st_size;
    IKT_TRY(ikt_alloc(f->ctx, &f->text, size + 1, 1, "text file"));
    while (f->length < size) {
        const ssize_t got = read(f->file, f->text + f->length, (size_t)(size - f->length));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed(f, "read");
        if (got == 0) break;
        f->length += got;
    }
    f->text[f->length] = '\0';
    return IKT_OK;
}

ikt_status ikt_locked_open(ikt_context *ctx, const char *path, ikt_locked_file *out) {
    *out = (ikt_locked_file){.ctx = ctx, .path = path};
    out->file = open(path, O_RDWR | O_CREAT, 0666);
    const ikt_status st = out->file < 0 ? failed(out, "opened") : lock_and_read(out);
    if (st != IKT_OK) ikt_locked_close(out);
    return st;
}

/* False with errno. */
static bool write_all(const ikt_locked_file *f, const char *text, size_t length) {
    while (length > 0) {
        const ssize_t done = write(f->file, text, length);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return false;
        text += done;
        length -= (size_t)done;
    }
    return true;
}

ikt_status ikt_locked_append(ikt_locked_file *f, const char *text) {
    const off_t end = lseek(f->file, 0, SEEK_END);
    char last = '\n';
    if (end < 0 || (end > 0 && pread(f->file, &last, 1, end - 1) != 1)) return failed(f, "read");
    if ((last != '\n' && !write_all(f, "\n", 1)) || !write_all(f, text, strlen(text)) ||
        fsync(f->file) != 0) {
        const ikt_status st = failed(f, "written");
        (void)!ftruncate(f->file, end); /* a full disk must not leave half a line at the end */
        return st;
    }
    return IKT_OK;
}

void ikt_locked_close(ikt_locked_file *f) {
    if (!f->ctx) return;
    ikt_free(&f->text);
    if (f->file >= 0) close(f->file); /* gives up the lock */
    *f = (ikt_locked_file){.ctx = NULL};
}
