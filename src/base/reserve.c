/* Room in a file system, taken before a file is written. */
#define _GNU_SOURCE
#include "base/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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

int ikt_reserve(int file, int64_t bytes) {
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

int ikt_reserve_release(int file) {
    struct stat is;
    if (fstat(file, &is) != 0) return errno;
    return ftruncate(file, is.st_size) == 0 ? 0 : errno;
}
