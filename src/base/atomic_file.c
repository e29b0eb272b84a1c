/* Output files appear complete or not at all. */
#define _GNU_SOURCE
#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/context.h"
#include "base/reserve.h"

static bool is_folder(const char *path) {
    struct stat is;
    size_t length = strlen(path);
    return (length > 0 && path[length - 1] == '/') || (stat(path, &is) == 0 && S_ISDIR(is.st_mode));
}

static ikt_status begin_on_root(ikt_context *ctx, const char *path, bool overwrite,
                                char *temporary) {
    int length = snprintf(temporary, IKT_PATH_MAX, "%s.part-%ld", path, (long)getpid());
    if (length < 0 || length >= IKT_PATH_MAX)
        return ikt_fail(ctx, IKT_ERR_FILE, "%.200s...: the path is too long", path);
    if (path[0] == '\0') return ikt_fail(ctx, IKT_ERR_USAGE, "the name of an output file is empty");
    if (is_folder(path))
        return ikt_fail(ctx, IKT_ERR_FILE, "%s is a folder; name a file to write", path);
    if (!overwrite && access(path, F_OK) == 0)
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s exists already; choose another name, or let it be replaced "
                        "(output.overwrite=yes for a run, --overwrite elsewhere)",
                        path);
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || close(file) != 0)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", path, strerror(errno));
    return IKT_OK;
}

ikt_status ikt_atomic_begin(ikt_context *ctx, const char *path, bool overwrite, char *temporary) {
    ikt_status st = IKT_OK;
    temporary[0] = '\0';
    if (ctx->rank == 0) st = begin_on_root(ctx, path, overwrite, temporary);
    IKT_TRY(ikt_agree(ctx, st));
    ikt_broadcast(ctx, temporary, IKT_PATH_MAX, 0);
    return IKT_OK;
}

ikt_status ikt_atomic_check(ikt_context *ctx, const char *path, bool overwrite) {
    char temporary[IKT_PATH_MAX];
    IKT_TRY(ikt_atomic_begin(ctx, path, overwrite, temporary));
    if (ctx->rank == 0) unlink(temporary);
    return IKT_OK;
}

static ikt_status reserve_on_root(ikt_context *ctx, const char *path, const char *temporary,
                                  int64_t bytes) {
    int file = open(temporary, O_WRONLY);
    int reason = file < 0 ? errno : ikt_reserve(file, bytes);
    if (file >= 0) close(file);
    if (reason == 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE,
                    "%s cannot be written: there is no room for the %.1f MB that it may need: %s",
                    path, (double)bytes / 1e6, strerror(reason));
}

ikt_status ikt_atomic_reserve(ikt_context *ctx, const char *path, const char *temporary,
                              int64_t bytes) {
    return ikt_agree(ctx, ctx->rank == 0 ? reserve_on_root(ctx, path, temporary, bytes) : IKT_OK);
}

ikt_status ikt_atomic_check_room(ikt_context *ctx, const char *path, int64_t bytes) {
    char temporary[IKT_PATH_MAX];
    IKT_TRY(ikt_atomic_begin(ctx, path, true, temporary));
    ikt_status st = ikt_atomic_reserve(ctx, path, temporary, bytes);
    if (ctx->rank == 0) unlink(temporary);
    return st;
}

/* A failed close of a synced file is not an error of the data; a failed sync is. */
static int sync_path(const char *path, int flags) {
    int file = open(path, flags);
    if (file < 0) return -1;
    int result = flags & O_DIRECTORY ? 0 : ikt_reserve_release(file);
    if (result == 0) result = fsync(file);
    int reason = errno;
    close(file);
    errno = reason;
    return result;
}

/* What was there keeps the name `previous`, where one is given: a crash at any moment leaves one of
 * both. */
static ikt_status finish_on_root(ikt_context *ctx, const char *path, const char *previous,
                                 const char *temporary) {
    bool good = sync_path(temporary, O_RDWR) == 0;
    if (good && previous) good = rename(path, previous) == 0 || errno == ENOENT;
    if (!good || rename(temporary, path) != 0)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be completed: %s", path, strerror(errno));
    char folder[IKT_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    /* The name itself must survive a crash; not every file system lets a folder be synced. */
    (void)sync_path(dirname(folder), O_RDONLY | O_DIRECTORY);
    return IKT_OK;
}

/* Emptied first: who still has it open shall not keep its room. */
void ikt_atomic_discard(const char *temporary) {
    (void)!truncate(temporary, 0);
    unlink(temporary);
}

ikt_status ikt_atomic_end(ikt_context *ctx, const char *path, const char *temporary,
                          ikt_status local) {
    return ikt_atomic_end_keeping(ctx, path, NULL, temporary, local);
}

ikt_status ikt_atomic_end_keeping(ikt_context *ctx, const char *path, const char *previous,
                                  const char *temporary, ikt_status local) {
    ikt_status st = ikt_agree_file(ctx, local, temporary);
    ikt_status root = IKT_OK;
    if (ctx->rank == 0 && st == IKT_OK) root = finish_on_root(ctx, path, previous, temporary);
    if (st == IKT_OK) st = ikt_agree(ctx, root);
    if (st != IKT_OK && ctx->rank == 0 && temporary[0]) ikt_atomic_discard(temporary);
    return st;
}

ikt_status ikt_atomic_write_text(ikt_context *ctx, const char *path, const char *text) {
    char temporary[IKT_PATH_MAX];
    IKT_TRY(begin_on_root(ctx, path, true, temporary));
    FILE *file = fopen(temporary, "w");
    bool is_short = !file || fputs(text, file) < 0;
    if (file && fclose(file) != 0) is_short = true;
    ikt_status st = IKT_OK;
    if (is_short)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", path, strerror(errno));
    if (st == IKT_OK) st = finish_on_root(ctx, path, NULL, temporary);
    if (st != IKT_OK) unlink(temporary);
    return st;
}
