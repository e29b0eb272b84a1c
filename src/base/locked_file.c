/* Small text files that several programs add lines to at the same time. */
#define _GNU_SOURCE
#include "base/locked_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

static ikt_status failed(const ikt_locked_file *f, const char *what) {
    return ikt_fail(f->ctx, IKT_ERR_FILE, "%s cannot be %s: %s", f->path, what, strerror(errno));
}

static ikt_status take_lock(const ikt_locked_file *f) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    while (fcntl(f->file, F_SETLKW, &lock) != 0)
        if (errno != EINTR) return failed(f, "locked (does its file system have locks?)");
    return IKT_OK;
}

static ikt_status read_all(ikt_locked_file *f) {
    struct stat is;
    if (fstat(f->file, &is) != 0) return failed(f, "read");
    IKT_TRY(ikt_alloc(f->ctx, &f->text, (int64_t)is.st_size + 1, 1, "text file"));
    while (f->length < (int64_t)is.st_size) {
        const ssize_t got =
            read(f->file, f->text + f->length, (size_t)((int64_t)is.st_size - f->length));
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
    if (out->file < 0) {
        ikt_status st = failed(out, "opened");
        *out = (ikt_locked_file){.ctx = NULL};
        return st;
    }
    struct stat is;
    ikt_status st = IKT_OK;
    if (fstat(out->file, &is) == 0 && !S_ISREG(is.st_mode))
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s is no regular file; remove it, or name another", path);
    if (st == IKT_OK) st = take_lock(out);
    if (st == IKT_OK) st = read_all(out);
    if (st != IKT_OK) ikt_locked_close(out);
    return st;
}

/* What was cut off by a full disk must not stay: the file would end in half a line. */
static ikt_status take_back(const ikt_locked_file *f, off_t end) {
    ikt_status st = failed(f, "written");
    (void)!ftruncate(f->file, end);
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
        fsync(f->file) != 0)
        return take_back(f, end);
    return IKT_OK;
}

void ikt_locked_close(ikt_locked_file *f) {
    if (!f->ctx) return;
    ikt_free(&f->text);
    close(f->file); /* gives up the lock */
    *f = (ikt_locked_file){.ctx = NULL};
}
