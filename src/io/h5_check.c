/* Whether HDF5 survives a file. See h5_check.h. */
#define _DEFAULT_SOURCE /* fork, and limits */
#include "io/h5_check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpu.h"
#include "io/h5.h"

enum {
    DEPTH_MOST = 4,
    OBJECTS_MOST = 10000,
    TEXTS_MOST = 1 << 16, /* of a data set: all, where there are no more */
    REASON_SIZE = 256,
    EXIT_REFUSED = 7
};
static const int64_t value_most = (int64_t)1 << 26; /* bytes of an attribute that is read */
static const int64_t memory_most = (int64_t)4 << 30;
static const int64_t bytes_a_second = (int64_t)10 << 20; /* of metadata; a slow machine does more */

/* How far the walk has come. */
typedef struct {
    int depth, objects;
} walk;

static void read_attribute(hid_t attribute) {
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const hssize_t count = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    const size_t size = type < 0 ? 0 : H5Tget_size(type);
    const bool small = count > 0 && size > 0 && count <= value_most / (int64_t)size;
    char *value = small ? calloc((size_t)count, size) : NULL;
    if (value && H5Aread(attribute, type, value) >= 0 && space >= 0)
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, value);
    free(value);
    ikt_h5_close(type);
    ikt_h5_close(space);
}

static herr_t visit_attribute(hid_t object, const char *name, const H5A_info_t *info,
                              void *target) {
    (void)info, (void)target;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute >= 0) read_attribute(attribute);
    ikt_h5_close(attribute);
    return 0;
}

/* Names of classes: those of variable length lie anywhere in the file. */
static void read_texts(hid_t dataset, hid_t type, hid_t space) {
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const size_t size = H5Tget_size(type);
    if (count <= 0 || count > TEXTS_MOST || size == 0 || (int64_t)size > value_most / count) return;
    char *texts = calloc((size_t)count, size);
    if (texts && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0)
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts);
    free(texts);
}

/* Index of the chunks, and one value, which shows whether the type can be converted. */
static void read_dataset(hid_t dataset) {
    H5D_space_status_t status;
    double value;
    const hsize_t one[H5S_MAX_RANK] = {1};
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    const hid_t here = H5Screate_simple(1, one, NULL), list = H5Dget_create_plist(dataset);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    (void)H5Dget_storage_size(dataset);
    (void)H5Dget_space_status(dataset, &status);
    const int dimensions = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    hsize_t start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK];
    for (int i = 0; i < H5S_MAX_RANK; i++)
        count[i] = 1;
    if ((class == H5T_INTEGER || class == H5T_FLOAT) && here >= 0 && dimensions > 0 &&
        H5Sget_simple_extent_npoints(space) > 0 &&
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0)
        (void)H5Dread(dataset, H5T_NATIVE_DOUBLE, here, space, H5P_DEFAULT, &value);
    if (class == H5T_STRING && dimensions == 1) read_texts(dataset, type, space);
    ikt_h5_close(list);
    ikt_h5_close(here);
    ikt_h5_close(space);
    ikt_h5_close(type);
}

static herr_t visit_object(hid_t group, const char *name, const H5L_info_t *info, void *target) {
    walk *w = target;
    if (info->type == H5L_TYPE_EXTERNAL || ++w->objects > OBJECTS_MOST) return 0;
    const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    if (object < 0) return 0;
    hsize_t position = 0;
    const H5I_type_t kind = H5Iget_type(object);
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &position, visit_attribute, NULL);
    if (kind == H5I_DATASET) read_dataset(object);
    if (kind == H5I_GROUP && w->depth < DEPTH_MOST) {
        w->depth++;
        H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_object, w);
        w->depth--;
    }
    ikt_h5_close(object);
    return 0;
}

static bool walk_through(const char *path, char *reason, size_t size) {
    walk w = {0, 0};
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) {
        ikt_h5_reason(reason, size);
        return false;
    }
    hsize_t position = 0;
    H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, &position, visit_attribute, NULL);
    H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_object, &w);
    ikt_h5_close(file);
    return true;
}

/* Bytes of addresses that this process has. */
static int64_t mapped(void) {
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static void limit(int what, int64_t value) {
    const struct rlimit both = {(rlim_t)value, (rlim_t)value};
    (void)setrlimit(what, &both);
}

/* Dies quietly: no reports of MPI or of the C library, no image of the memory, and soon. */
static void confine(int64_t file_bytes) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGTERM};
    const int nowhere = open("/dev/null", O_WRONLY);
    for (size_t s = 0; s < sizeof signals / sizeof *signals; s++)
        signal(signals[s], SIG_DFL);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, 2 + file_bytes / bytes_a_second);
    const int64_t now = mapped();
    if (now > 0) limit(RLIMIT_AS, now + memory_most);
}

/* The other process. */
static void try_file(const char *path, int64_t file_bytes, int answer) {
    char reason[REASON_SIZE] = "";
    confine(file_bytes);
    const bool sound = walk_through(path, reason, sizeof reason);
    const ssize_t told = write(answer, reason, strlen(reason));
    _exit(sound ? 0 : told >= 0 ? EXIT_REFUSED : 1);
}

/* Without another process. */
static ikt_h5_soundness only_open(const char *path, char *reason, size_t size) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) ikt_h5_reason(reason, size);
    ikt_h5_close(file);
    return file < 0 ? IKT_H5_REFUSED : IKT_H5_SOUND;
}

/* Its end: what it said, and how it died. */
static ikt_h5_soundness hear(pid_t child, int answer, char *reason, size_t size) {
    int outcome = 0;
    size_t length = 0;
    ssize_t now = 1;
    while (now > 0 && length + 1 < size) {
        now = read(answer, reason + length, size - 1 - length);
        if (now < 0 && errno == EINTR)
            now = 1;
        else if (now > 0)
            length += (size_t)now;
    }
    reason[length] = '\0';
    while (waitpid(child, &outcome, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0) return IKT_H5_SOUND;
    if (WIFEXITED(outcome) && WEXITSTATUS(outcome) == EXIT_REFUSED) return IKT_H5_REFUSED;
    const bool endless =
        WIFSIGNALED(outcome) && (WTERMSIG(outcome) == SIGXCPU || WTERMSIG(outcome) == SIGKILL);
    snprintf(reason, size, "%s", endless ? "does not come to an end with" : "crashes on");
    return IKT_H5_BROKEN;
}

ikt_h5_soundness ikt_h5_check(const char *path, char *reason, size_t size) {
    struct stat about;
    int ends[2];
    reason[0] = '\0';
    if (!ikt_cpu_may_fork() || stat(path, &about) != 0 || pipe(ends) != 0)
        return only_open(path, reason, size);
    fflush(NULL); /* what is buffered would be written twice */
    const pid_t child = fork();
    if (child == 0) try_file(path, (int64_t)about.st_size, ends[1]);
    close(ends[1]);
    const ikt_h5_soundness found =
        child < 0 ? only_open(path, reason, size) : hear(child, ends[0], reason, size);
    close(ends[0]);
    return found;
}
