/* Input files and atomic output files. See atomic_file.h. */
#define _GNU_SOURCE
#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/context.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/watch.h"

/* --- what a name stands for ------------------------------------------------------------------- */

enum { MOST_LINKS = 40 }; /* as many as Linux follows */

/* Whether /dev/stdout or the like names the file that the shell has opened for what we print. */
static bool is_own_output(const char *path, const struct stat *is) {
    struct stat link, own;
    if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode)) return false;
    for (int file = STDOUT_FILENO; file <= STDERR_FILENO; file++)
        if (fstat(file, &own) == 0 && own.st_dev == is->st_dev && own.st_ino == is->st_ino)
            return true;
    return false;
}

ikt_status ikt_atomic_target(ikt_context *ctx, const char *path, char target[IKT_PATH_MAX]) {
    snprintf(target, IKT_PATH_MAX, "%s", path);
    for (int links = 0; links < MOST_LINKS; links++) {
        char next[IKT_PATH_MAX], folder[IKT_PATH_MAX], joined[2 * IKT_PATH_MAX];
        const ssize_t length = readlink(target, next, sizeof next - 1);
        if (length < 0) return IKT_OK;
        next[length] = '\0';
        snprintf(folder, sizeof folder, "%s", target);
        snprintf(joined, sizeof joined, "%s%s%s", next[0] == '/' ? "" : dirname(folder),
                 next[0] == '/' ? "" : "/", next);
        if (strlen(joined) >= IKT_PATH_MAX)
            return ikt_fail(ctx, IKT_ERR_FILE, "%.200s...: the path is too long", path);
        strcpy(target, joined);
    }
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: its symbolic links form a loop",
                    path);
}

/* Sets `target` to the regular file that is to be written or replaced, which need not exist, or to
 * `path` itself where that is a stream and the output may be one. */
static ikt_status find_target(ikt_context *ctx, const char *path, bool may_be_stream,
                              bool *is_stream, char *target) {
    struct stat is;
    const size_t length = strlen(path);
    *is_stream = false;
    if (length == 0) return ikt_fail(ctx, IKT_ERR_USAGE, "the name of an output file is empty");
    if (length >= IKT_PATH_MAX)
        return ikt_fail(ctx, IKT_ERR_FILE, "%.200s...: the path is too long", path);
    strcpy(target, path);
    const bool exists = stat(path, &is) == 0;
    if (exists && S_ISDIR(is.st_mode) && is_own_output(path, &is)) /* ikt_limits_hold_streams */
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: it has been closed", path);
    if (path[length - 1] == '/' || (exists && S_ISDIR(is.st_mode)))
        return ikt_fail(ctx, IKT_ERR_FILE, "%s is a folder; name a file to write", path);
    if (!exists || (S_ISREG(is.st_mode) && !is_own_output(path, &is)))
        return ikt_atomic_target(ctx, path, target);
    *is_stream = may_be_stream && !S_ISBLK(is.st_mode) && !S_ISSOCK(is.st_mode);
    if (!*is_stream)
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is %s, which is never replaced; name a regular file for this output%s",
                        path,
                        S_ISCHR(is.st_mode)    ? "a character device"
                        : S_ISBLK(is.st_mode)  ? "a block device"
                        : S_ISFIFO(is.st_mode) ? "a pipe"
                        : S_ISSOCK(is.st_mode) ? "a socket"
                                               : "the file that the program itself prints to",
                        may_be_stream ? ", a character device, or a pipe" : "");
    if (access(path, W_OK) == 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", path, strerror(errno));
}

/* --- beginning -------------------------------------------------------------------------------- */

/* No checkpoint takes so long that its file is not written to for a day. */
enum { OLD_SECONDS = 24 * 3600 };

/* A run that must not replace a file that is there must not replace one that is about to be there,
 * either; of two that may, the one that ends last is kept. */
static ikt_status look_at_others(ikt_context *ctx, const char *path, const char *target,
                                 bool overwrite, int64_t old_seconds) {
    bool is_written;
    ikt_part_sweep(ctx, target, old_seconds, &is_written);
    const bool is_there = access(target, F_OK) == 0;
    if (!overwrite && (is_there || is_written))
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s %s; choose another name, or let it be replaced (output.overwrite=yes "
                        "for a run, --overwrite elsewhere)",
                        path, is_there ? "exists already" : "is being written by another run");
    if (is_written)
        ikt_log(ctx, IKT_LOG_STAGE,
                "another run is writing %s, too; the whole file of the one that ends last is kept",
                path);
    return IKT_OK;
}

static ikt_status begin_on_root(ikt_context *ctx, const char *path, bool overwrite,
                                bool may_be_stream, int64_t old_seconds, char *temporary) {
    char target[IKT_PATH_MAX];
    bool is_stream;
    IKT_TRY(find_target(ctx, path, may_be_stream, &is_stream, target));
    if (is_stream) {
        strcpy(temporary, target);
        return IKT_OK;
    }
    IKT_TRY(ikt_part_create(ctx, path, target, temporary));
    const ikt_status st = look_at_others(ctx, path, target, overwrite, old_seconds);
    if (st != IKT_OK) ikt_atomic_discard(ctx, temporary);
    return st;
}

static ikt_status begin(ikt_context *ctx, const char *path, bool overwrite, bool may_be_stream,
                        int64_t old_seconds, char *temporary) {
    ikt_status st = IKT_OK;
    temporary[0] = '\0';
    if (ctx->rank == 0)
        st = begin_on_root(ctx, path, overwrite, may_be_stream, old_seconds, temporary);
    IKT_TRY(ikt_agree(ctx, st));
    ikt_broadcast(ctx, temporary, IKT_PATH_MAX, 0);
    return IKT_OK;
}

ikt_status ikt_atomic_begin(ikt_context *ctx, const char *path, bool overwrite, char *temporary) {
    return begin(ctx, path, overwrite, false, 0, temporary);
}

ikt_status ikt_atomic_begin_keeping(ikt_context *ctx, const char *path, char *temporary) {
    return begin(ctx, path, true, false, OLD_SECONDS, temporary);
}

ikt_status ikt_atomic_begin_stream(ikt_context *ctx, const char *path, bool overwrite,
                                   char *temporary) {
    return begin(ctx, path, overwrite, true, 0, temporary);
}

bool ikt_atomic_is_stream(const char *path, const char *temporary) {
    return strcmp(path, temporary) == 0;
}

enum { PAUSE_MS = 50 }; /* between two looks at what a pipe waits for */

/* What goes into a pipe waits for who reads it, but not beyond a signal that asks for the end.
 *   self   the descriptor */
static ssize_t put_in_pipe(void *self, const char *bytes, size_t count) {
    struct pollfd pipe = {.fd = (int)(intptr_t)self, .events = POLLOUT};
    size_t done = 0;
    while (done < count) {
        const ssize_t now = write(pipe.fd, bytes + done, count - done);
        if (now >= 0) {
            done += (size_t)now;
        } else if (errno == EAGAIN && ikt_watch_is_signalled()) {
            errno = EINTR;
            return 0;
        } else if (errno == EAGAIN) {
            poll(&pipe, 1, PAUSE_MS);
        } else if (errno != EINTR) {
            return 0;
        }
    }
    return (ssize_t)done;
}

static int close_pipe(void *self) {
    return close((int)(intptr_t)self);
}

FILE *ikt_atomic_open(const char *temporary) {
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    const cookie_io_functions_t pipe = {.write = put_in_pipe, .close = close_pipe};
    struct stat is;
    const bool is_pipe = stat(temporary, &is) == 0 && S_ISFIFO(is.st_mode);
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, 0666);
    while (file < 0 && is_pipe && errno == ENXIO && !ikt_watch_is_signalled()) {
        nanosleep(&pause, NULL);
        file = open(temporary, O_WRONLY | O_NONBLOCK);
    }
    if (file < 0 && is_pipe && errno == ENXIO) errno = EINTR;
    FILE *stream = NULL;
    if (file >= 0 && is_pipe)
        stream = fopencookie((void *)(intptr_t)file, "wb", pipe);
    else if (file >= 0 && fcntl(file, F_SETFL, 0) == 0)
        stream = fdopen(file, "wb");
    const int reason = errno;
    if (!stream && file >= 0) close(file);
    errno = reason;
    return stream;
}

ikt_status ikt_atomic_failed(ikt_context *ctx, const char *path, const char *when_unread) {
    if (errno != EINTR)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", path, strerror(errno));
    return ikt_fail(ctx, IKT_ERR_FILE, "nobody reads the pipe %s%s", path,
                    when_unread ? when_unread : "; start what reads it, and then the same command");
}

/* --- disk space ------------------------------------------------------------------------------- */

enum { ZEROS = 1 << 16 };

static int write_zeros(int file, int64_t bytes) {
    static const char zero[ZEROS];
    for (int64_t done = 0; done < bytes;) {
        const int64_t left = bytes - done;
        const ssize_t now = pwrite(file, zero, (size_t)(left < ZEROS ? left : ZEROS), done);
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0) return now < 0 ? errno : ENOSPC;
        done += now;
    }
    return fsync(file) == 0 ? 0 : errno; /* over a network the disk answers only now */
}

/* Reserves the first `bytes` bytes of a file that holds nothing yet: fallocate beyond its end
 * takes blocks and quota without changing what it holds; where a file system cannot do that, zeros
 * are written and synced. A full disk is met here, and not in the middle of a parallel write, where
 * some ranks would fail and the others wait for them for ever (HDF5 1.10 at close). A file system
 * that compresses or copies on write (ZFS, Btrfs) promises less than it seems. Returns 0, or the
 * reason as an errno: ENOSPC, EDQUOT, EFBIG (the limit of `ulimit -f`), ... */
static int reserve(int file, int64_t bytes) {
    struct rlimit limit;
    int failed;
    if (bytes <= 0) return 0;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)bytes) return EFBIG;
    do {
        failed = fallocate(file, FALLOC_FL_KEEP_SIZE, 0, bytes);
    } while (failed != 0 && errno == EINTR);
    if (failed == 0) return 0;
    return errno == EOPNOTSUPP || errno == ENOSYS ? write_zeros(file, bytes) : errno;
}

ikt_status ikt_atomic_reserve(ikt_context *ctx, const char *path, const char *temporary,
                              int64_t bytes) {
    ikt_status st = IKT_OK;
    if (ikt_atomic_is_stream(path, temporary)) return IKT_OK;
    if (ctx->rank == 0) {
        const int file = open(temporary, O_WRONLY);
        const int reason = file < 0 ? errno : reserve(file, bytes);
        if (file >= 0) close(file);
        if (reason != 0)
            st = ikt_fail(ctx, IKT_ERR_FILE,
                          "%s cannot be written: there is no room for the %.1f MB that it may "
                          "need: %s",
                          path, (double)bytes / 1e6, strerror(reason));
    }
    return ikt_agree(ctx, st);
}

/* COLLECTIVE. Whether the file could be begun, and hold so many bytes where they are above 0. Its
 * name is claimed, so that of two runs one is refused now and not at its end. */
static ikt_status check(ikt_context *ctx, const char *path, bool overwrite, bool may_be_stream,
                        int64_t bytes) {
    char temporary[IKT_PATH_MAX];
    IKT_TRY(begin(ctx, path, overwrite, may_be_stream, 0, temporary));
    const ikt_status st = bytes > 0 ? ikt_atomic_reserve(ctx, path, temporary, bytes) : IKT_OK;
    if (ctx->rank == 0 && st == IKT_OK) ikt_part_claim(ctx, temporary);
    if (ctx->rank == 0 && st != IKT_OK) ikt_atomic_discard(ctx, temporary);
    return st;
}

ikt_status ikt_atomic_check(ikt_context *ctx, const char *path, bool overwrite) {
    return check(ctx, path, overwrite, false, 0);
}

ikt_status ikt_atomic_check_stream(ikt_context *ctx, const char *path, bool overwrite) {
    return check(ctx, path, overwrite, true, 0);
}

ikt_status ikt_atomic_check_space(ikt_context *ctx, const char *path, int64_t bytes) {
    return check(ctx, path, true, false, bytes);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Gives back what was reserved beyond the end of a file, and syncs it. A failed close of a synced
 * file is not an error of the data; a failed sync is. */
static int sync_path(const char *path, int flags) {
    struct stat is;
    const int file = open(path, flags);
    if (file < 0) return -1;
    int result = flags & O_DIRECTORY ? 0 : fstat(file, &is);
    if (result == 0 && !(flags & O_DIRECTORY)) result = ftruncate(file, is.st_size);
    if (result == 0) result = fsync(file);
    const int reason = errno;
    close(file);
    errno = reason;
    return result;
}

static bool is_regular_or_absent(const char *path) {
    struct stat is;
    if (lstat(path, &is) != 0) return errno == ENOENT;
    errno = EEXIST; /* for the message: something else has come to that name */
    return S_ISREG(is.st_mode);
}

/* What was there is renamed `previous`, where that is given: a crash at any moment leaves one. */
static ikt_status finish_on_root(ikt_context *ctx, const char *path, const char *previous,
                                 const char *temporary) {
    char target[IKT_PATH_MAX];
    if (ikt_atomic_is_stream(path, temporary)) return IKT_OK;
    const char *known = ikt_part_target(ctx, temporary);
    if (!known)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be completed: this run has not begun it",
                        path);
    strcpy(target, known);
    bool good = sync_path(temporary, O_RDWR) == 0 && is_regular_or_absent(target) &&
                (!previous || is_regular_or_absent(previous));
    if (good && previous) good = rename(target, previous) == 0 || errno == ENOENT;
    if (!good || rename(temporary, target) != 0)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be completed: %s", path, strerror(errno));
    ikt_part_release(ctx, temporary);
    /* The name itself must survive a crash; not every file system lets a folder be synced. */
    (void)sync_path(dirname(target), O_RDONLY | O_DIRECTORY);
    return IKT_OK;
}

void ikt_atomic_discard(ikt_context *ctx, const char *temporary) {
    ikt_part_remove(temporary);
    ikt_part_release(ctx, temporary);
}

ikt_status ikt_atomic_end(ikt_context *ctx, const char *path, const char *temporary,
                          ikt_status local) {
    return ikt_atomic_end_keeping(ctx, path, NULL, temporary, local);
}

ikt_status ikt_atomic_end_keeping(ikt_context *ctx, const char *path, const char *previous,
                                  const char *temporary, ikt_status local) {
    ikt_status st =
        ikt_agree_file(ctx, local, ikt_atomic_is_stream(path, temporary) ? "" : temporary);
    ikt_status root = IKT_OK;
    if (ctx->rank == 0 && st == IKT_OK) root = finish_on_root(ctx, path, previous, temporary);
    if (st == IKT_OK) st = ikt_agree(ctx, root);
    if (st != IKT_OK && ctx->rank == 0 && temporary[0]) ikt_atomic_discard(ctx, temporary);
    return st;
}

ikt_status ikt_atomic_write_text(ikt_context *ctx, const char *path, const char *text) {
    char temporary[IKT_PATH_MAX];
    IKT_TRY(begin_on_root(ctx, path, true, false, 0, temporary));
    FILE *file = fopen(temporary, "w");
    bool is_short = !file || fputs(text, file) < 0;
    if (file && fclose(file) != 0) is_short = true;
    ikt_status st = IKT_OK;
    if (is_short)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", path, strerror(errno));
    if (st == IKT_OK) st = finish_on_root(ctx, path, NULL, temporary);
    if (st != IKT_OK) ikt_atomic_discard(ctx, temporary);
    return st;
}

/* --- inputs ----------------------------------------------------------------------------------- */

bool ikt_file_is_there(ikt_context *ctx, const char *path) {
    int64_t found = ikt_rank(ctx) == 0 && access(path, F_OK) == 0;
    ikt_broadcast(ctx, &found, (int64_t)sizeof found, 0);
    return found != 0;
}

bool ikt_file_is_regular(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

bool ikt_folder_matrix(const char *folder, char path[IKT_PATH_MAX]) {
    static const char *const names[] = {"matrix.mtx.gz", "matrix.mtx"};
    struct stat about;
    if (stat(folder, &about) != 0 || !S_ISDIR(about.st_mode)) return false;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const size_t length = strlen(folder);
        const bool has_slash = length > 0 && folder[length - 1] == '/';
        snprintf(path, IKT_PATH_MAX, "%s%s%s", folder, has_slash ? "" : "/", names[k]);
        if (access(path, R_OK) == 0) return true;
    }
    return false;
}

ikt_status ikt_input_check(ikt_context *ctx, const char *path) {
    struct stat about;
    char matrix[IKT_PATH_MAX], word[4 * IKT_PATH_MAX];
    if (stat(path, &about) != 0 || access(path, R_OK) != 0)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    if (S_ISREG(about.st_mode)) return IKT_OK;
    if (ikt_folder_matrix(path, matrix))
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is a folder with a matrix as 10x Genomics has it; `iktsne convert %s "
                        "cells.h5` makes a file of it",
                        path, ikt_shell_word(path, word, sizeof word));
    if (S_ISDIR(about.st_mode))
        return ikt_fail(ctx, IKT_ERR_FILE, "%s is a folder; a file is needed", path);
    return ikt_fail(ctx, IKT_ERR_FILE,
                    "%s is a %s and not a regular file; an input is read more than once and by all "
                    "ranks: write the data into a file first and name that file",
                    path,
                    S_ISFIFO(about.st_mode)   ? "pipe"
                    : S_ISSOCK(about.st_mode) ? "socket"
                                              : "device");
}

bool ikt_file_is_of_shell(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    struct stat about;
    bool is_one = strcmp(path, "/dev/stdin") == 0;
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++)
        is_one |= strncmp(path, folders[f], strlen(folders[f])) == 0;
    return is_one && stat(path, &about) == 0 && !S_ISREG(about.st_mode);
}

size_t ikt_file_name_length(const char *name) {
    const char *last = strrchr(name, ':');
    char path[IKT_PATH_MAX];
    struct stat about;
    if (!last || last == name || access(name, F_OK) == 0) return strlen(name);
    for (const char *colon = last; colon > name; colon--) {
        snprintf(path, sizeof path, "%.*s", (int)(colon - name), name);
        if (*colon == ':' && stat(path, &about) == 0 && !S_ISDIR(about.st_mode))
            return (size_t)(colon - name);
    }
    return (size_t)(last - name);
}
