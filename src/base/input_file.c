/* Names of input files. See input_file.h. */
#define _POSIX_C_SOURCE 200809L
#include "base/input_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ikt_status ikt_input_check(ikt_context *ctx, const char *path) {
    struct stat about;
    if (stat(path, &about) != 0 || access(path, R_OK) != 0)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    if (S_ISREG(about.st_mode)) return IKT_OK;
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

size_t ikt_file_name_length(const char *name) {
    const char *colon = strrchr(name, ':');
    if (!colon || colon == name || access(name, F_OK) == 0) return strlen(name);
    return (size_t)(colon - name);
}
