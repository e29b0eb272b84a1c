/* What a process may use. */
#define _POSIX_C_SOURCE 200809L
#include "base/memory.h"

#include "base/control_group.h"
#include "base/sort.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* The files of a version, in the folder of a group. */
typedef struct {
    const char *limit, *used, *reclaimable;
} group_files;

static const group_files version_1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                      "total_inactive_file "};
static const group_files version_2 = {"memory.max", "memory.current", "inactive_file "};

/* Of one group, without those above it. */
static void note_left(void *about, const char *folder, bool is_second) {
    const group_files *f = is_second ? &version_2 : &version_1;
    int64_t *left = about;
    const int64_t limit = ikt_number_after(folder, f->limit, "");
    const int64_t used = ikt_number_after(folder, f->used, "");
    if (limit <= 0 || used < 0) return;
    const int64_t reclaimable = ikt_number_after(folder, "memory.stat", f->reclaimable);
    const int64_t taken = used - (reclaimable > 0 ? ikt_smaller(reclaimable, used) : 0);
    *left = ikt_smaller(*left, limit > taken ? limit - taken : 0);
}

int64_t ikt_group_memory_left(const char *self, const char *root) {
    int64_t left = INT64_MAX;
    ikt_control_groups(self, root, "memory", note_left, &left);
    return left;
}

/* Megabytes in the environment as bytes; 0 where there are none. Slurm says 0 for "all of it". */
static int64_t megabytes_of(const char *name) {
    const char *text = getenv(name);
    const int64_t value = text ? strtoll(text, NULL, 10) : 0;
    return value > 0 && value < (int64_t)1 << 40 ? value << 20 : 0;
}

int64_t ikt_slurm_memory(void) {
    const int64_t node = megabytes_of("SLURM_MEM_PER_NODE");
    const int64_t processor = megabytes_of("SLURM_MEM_PER_CPU");
    const char *text = getenv("SLURM_CPUS_ON_NODE");
    const int64_t processors = text ? strtoll(text, NULL, 10) : 0;
    if (node > 0) return node;
    if (processor > 0 && processors > 0 && processors < 1 << 20) return processor * processors;
    return INT64_MAX;
}

int64_t ikt_machine_memory_left(void) {
    const int64_t kib = ikt_number_after("/proc", "meminfo", "MemAvailable:");
    return kib < 0 ? INT64_MAX : kib * 1024;
}

/* Of /proc/self/statm, in bytes: size, resident, shared, text, library, data. */
static int64_t own_bytes(int field) {
    FILE *file = fopen("/proc/self/statm", "r");
    long long pages = 0;
    bool good = file != NULL;
    for (int i = 0; good && i <= field; i++)
        good = fscanf(file, "%lld", &pages) == 1;
    if (file) fclose(file);
    return good ? pages * sysconf(_SC_PAGESIZE) : 0;
}

static int64_t limit_left(const struct rlimit *limit, int64_t used) {
    if (limit->rlim_cur == RLIM_INFINITY || limit->rlim_cur > INT64_MAX) return INT64_MAX;
    const int64_t cap = (int64_t)limit->rlim_cur;
    return cap > used ? cap - used : 0;
}

int64_t ikt_address_space_left(void) {
    struct rlimit limit;
    int64_t left = INT64_MAX;
    if (getrlimit(RLIMIT_AS, &limit) == 0) left = limit_left(&limit, ikt_addresses_now());
    if (getrlimit(RLIMIT_DATA, &limit) == 0)
        left = ikt_smaller(left, limit_left(&limit, own_bytes(5)));
    return left;
}

int64_t ikt_addresses_now(void) {
    return own_bytes(0);
}

/* Of this program alone: getrusage also counts what the one was that it was started from, which may
 * be a large one in Python. */
int64_t ikt_memory_resident_peak(void) {
    struct rusage usage;
    char line[128];
    long long kib = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lld kB", &kib) != 1) kib = -1;
    if (file) fclose(file);
    if (kib < 0 && getrusage(RUSAGE_SELF, &usage) == 0) kib = usage.ru_maxrss;
    return kib < 0 ? 0 : kib * 1024;
}

int64_t ikt_resident_now(void) {
    return own_bytes(1);
}
