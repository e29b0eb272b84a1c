/* Checked allocation with an account per purpose.
 *
 * A header of one cache line in front of each block remembers its size, purpose and context, so
 * freeing needs nothing else. */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/context.h"

enum { HEADER = 64 };

typedef struct {
    ikt_context *ctx;
    const char *purpose;
    size_t bytes; /* of the caller's part */
    uint64_t guard;
} header;

static const uint64_t guard_value = 0x69d5b1e7c0ffee42u;

static void note_peak(ikt_context *ctx) {
    ctx->memory_peak = ctx->memory_now;
    ctx->memory_peak_stage = ikt_stage_current(ctx);
    for (int i = 0; i < ctx->purposes; i++)
        ctx->purpose[i].at_peak = ctx->purpose[i].now;
}

static void count(ikt_context *ctx, const char *purpose, int64_t bytes) {
    ctx->memory_now += bytes;
    int i = 0;
    while (i < ctx->purposes && strcmp(ctx->purpose[i].name, purpose) != 0)
        i++;
    if (i == ctx->purposes) {
        if (i == IKT_PURPOSES_MAX)
            i--; /* the last one collects what does not fit the table */
        else
            ctx->purpose[ctx->purposes++] = (ikt_purpose){purpose, 0, 0, 0};
    }
    ctx->purpose[i].now += bytes;
    if (ctx->purpose[i].now > ctx->purpose[i].peak) ctx->purpose[i].peak = ctx->purpose[i].now;
    if (ctx->memory_now > ctx->memory_peak) note_peak(ctx);
}

void ikt_account(ikt_context *ctx, const char *purpose, int64_t bytes) {
    count(ctx, purpose, bytes);
}

static void *pointer_get(const void *pointer) {
    void *value;
    memcpy(&value, pointer, sizeof value);
    return value;
}

static void pointer_set(void *pointer, void *value) {
    memcpy(pointer, &value, sizeof value);
}

static header *header_of(void *data) {
    return (header *)(void *)((char *)data - HEADER);
}

ikt_status ikt_alloc(ikt_context *ctx, void *pointer, int64_t elements, size_t size,
                     const char *purpose) {
    pointer_set(pointer, NULL);
    if (elements < 0 || (size > 0 && (uint64_t)elements > (PTRDIFF_MAX - 4 * HEADER) / size))
        return ikt_fail(ctx, IKT_ERR_RESOURCE, "cannot allocate %lld elements of %zu bytes for %s",
                        (long long)elements, size, purpose);
    size_t bytes = (size_t)elements * size;
    size_t whole = (HEADER + (bytes ? bytes : 1) + HEADER - 1) / HEADER * HEADER;
    char *block = aligned_alloc(HEADER, whole);
    if (!block)
        return ikt_fail(
            ctx, IKT_ERR_RESOURCE,
            "out of memory: %.1f MB for %s on rank %d, which already holds %.1f MB; use "
            "more ranks or nodes",
            (double)bytes / 1e6, purpose, ctx->rank, (double)ctx->memory_now / 1e6);
    memset(block, 0, whole);
    header *head = (header *)(void *)block;
    *head = (header){ctx, purpose, bytes, guard_value};
    count(ctx, purpose, (int64_t)bytes);
    pointer_set(pointer, block + HEADER);
    return IKT_OK;
}

ikt_status ikt_resize(ikt_context *ctx, void *pointer, int64_t elements, size_t size,
                      const char *purpose) {
    void *old = pointer_get(pointer), *new = NULL;
    IKT_TRY(ikt_alloc(ctx, &new, elements, size, purpose));
    if (old) {
        size_t had = header_of(old)->bytes, has = (size_t)elements * size;
        memcpy(new, old, had < has ? had : has);
        ikt_free(&old);
    }
    pointer_set(pointer, new);
    return IKT_OK;
}

void ikt_free(void *pointer) {
    void *data = pointer_get(pointer);
    pointer_set(pointer, NULL);
    if (!data) return;
    header *head = header_of(data);
    if (head->guard != guard_value) {
        fprintf(stderr, "iktsne: internal error: freeing memory that ikt_alloc did not give\n");
        abort();
    }
    head->guard = 0;
    count(head->ctx, head->purpose, -(int64_t)head->bytes);
    free(head);
}

int64_t ikt_memory_now(const ikt_context *ctx) {
    return ctx->memory_now;
}

int64_t ikt_memory_peak(const ikt_context *ctx) {
    return ctx->memory_peak;
}

int64_t ikt_memory_resident_peak(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return (int64_t)usage.ru_maxrss * 1024; /* Linux counts in KiB */
}

int ikt_memory_purposes(const ikt_context *ctx) {
    return ctx->purposes;
}

const char *ikt_memory_purpose(const ikt_context *ctx, int i, int64_t *now, int64_t *peak) {
    *now = ctx->purpose[i].now;
    *peak = ctx->purpose[i].peak;
    return ctx->purpose[i].name;
}

/* First number in a small file of the kernel; -1 where there is none ("max"). */
static int64_t number_in(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    long long value = -1;
    if (fscanf(file, "%lld", &value) != 1) value = -1;
    fclose(file);
    return value;
}

static int64_t machine_available(void) {
    FILE *file = fopen("/proc/meminfo", "r");
    if (!file) return INT64_MAX;
    char line[256];
    long long kib = -1;
    while (fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %lld kB", &kib) != 1) {
    }
    fclose(file);
    return kib < 0 ? INT64_MAX : (int64_t)kib * 1024;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* What the control group (version 2 or 1) still allows; the root group has no such files. */
static int64_t group_available(void) {
    static const char *const pairs[][2] = {
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
         "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
    int64_t result = INT64_MAX;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int64_t limit = number_in(pairs[i][0]), used = number_in(pairs[i][1]);
        if (limit > 0 && used >= 0) result = least(result, limit > used ? limit - used : 0);
    }
    return result;
}

int64_t ikt_memory_available(const ikt_context *ctx) {
    int64_t shared = least(machine_available(), group_available());
    int64_t result = shared == INT64_MAX ? shared : shared / ctx->node_ranks;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        int64_t pages = number_in("/proc/self/statm");
        int64_t mapped = pages > 0 ? pages * 4096 : 0;
        int64_t cap = (int64_t)limit.rlim_cur;
        result = least(result, cap > mapped ? cap - mapped : 0);
    }
    return result;
}
