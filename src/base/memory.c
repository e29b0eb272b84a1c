/* Checked allocation with an account per purpose.
 *
 * A header of one cache line in front of each block remembers its size, purpose and context, so
 * freeing needs nothing else. */
#define _DEFAULT_SOURCE /* madvise, malloc_usable_size */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <omp.h>

#include "base/arrays.h"
#include "base/context.h"

enum { HEADER = 64 };

typedef struct {
    ikt_context *ctx;
    const char *purpose;
    size_t bytes; /* of the caller's part */
    uint64_t guard;
    void *link; /* to another block of a list that frees this one (arrays.h); NULL: no list */
} header;

static const uint64_t guard_value = 0x69d5b1e7c0ffee42u;

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
    if (ctx->memory_now <= ctx->memory_peak) return;
    ctx->memory_peak = ctx->memory_now;
    ctx->memory_peak_stage = ikt_stage_current(ctx);
    for (i = 0; i < ctx->purposes; i++)
        ctx->purpose[i].at_peak = ctx->purpose[i].now;
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

/* Room in an array for the address of another. */
static void **link_of(void *data) {
    return &header_of(data)->link;
}

/* What is not ours to free or to move is an error of the program. */
static void check_free(const header *head) {
    const char *wrong = NULL;
    if (head->guard != guard_value)
        wrong = "freeing memory that ikt_alloc did not give";
    else if (head->link)
        wrong = "an array that is freed with others (arrays.h) is freed alone";
    if (!wrong) return;
    fprintf(stderr, "iktsne: internal error: %s\n", wrong);
    abort();
}

/* What the libraries take of a limited address space after the start, most of it never touched:
 * OpenBLAS 128 MB, in which it loops for ever where it cannot get them, HDF5 its copy of chunks,
 * MPI its buffers; and a stack for each thread. */
static const int64_t library_bytes = (int64_t)320 << 20, thread_bytes = (int64_t)16 << 20;

/* What is left of the address space for our own arrays; negative where libraries need it all. */
static int64_t address_space_left(const ikt_context *ctx) {
    if (ctx->address_space == INT64_MAX) return INT64_MAX;
    return ctx->address_space - library_bytes - (ctx->threads - 1) * thread_bytes - ctx->memory_now;
}

/* Bytes from which on a block is cleared by all threads: below it a team costs more than it saves.
 */
static const size_t shared_bytes = (size_t)1 << 20;

/* Thread i of T clears the i-th part of T, as it later works on the i-th part of the rows. */
static void clear(const ikt_context *ctx, char *block, size_t bytes) {
    if (bytes < shared_bytes || ctx->threads == 1 || omp_in_parallel()) {
        memset(block, 0, bytes);
        return;
    }
#pragma omp parallel num_threads(ctx->threads)
    {
        const size_t threads = (size_t)omp_get_num_threads(), own = (size_t)omp_get_thread_num();
        const size_t part = (bytes / threads + HEADER - 1) / HEADER * HEADER;
        const size_t from = own * part < bytes ? own * part : bytes;
        const size_t to = own + 1 < threads && from + part < bytes ? from + part : bytes;
        memset(block + from, 0, to - from);
    }
}

static size_t whole_of(size_t bytes) {
    return (HEADER + (bytes ? bytes : 1) + HEADER - 1) / HEADER * HEADER;
}

/* Asks the system for pages of 2 MB in place of 4 KB, where a block may have some: what is read all
 * over a large array then seldom waits for the address of a page. A system that has none says no,
 * and nothing is lost. It is asked for the whole mapping of the block: part of one would make two
 * of it, and the system moves a block that grows (remap) only where it is one. */
static void ask_for_huge_pages(char *block) {
#if defined(MADV_HUGEPAGE) && defined(__GLIBC__)
    const size_t least = (size_t)2 << 20, bytes = malloc_usable_size(block);
    if (bytes < least) return;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)block % page;
    (void)madvise(block - before, (before + bytes + page - 1) / page * page, MADV_HUGEPAGE);
#else
    (void)block;
#endif
}

ikt_status ikt_alloc(ikt_context *ctx, void *pointer, int64_t elements, size_t size,
                     const char *purpose) {
    pointer_set(pointer, NULL);
    if (elements < 0 || (size > 0 && (uint64_t)elements > (PTRDIFF_MAX - 4 * HEADER) / size))
        return ikt_fail(ctx, IKT_ERR_RESOURCE, "cannot allocate %lld elements of %zu bytes for %s",
                        (long long)elements, size, purpose);
    size_t bytes = (size_t)elements * size;
    const size_t whole = whole_of(bytes);
    char *block = NULL;
    if ((int64_t)whole <= address_space_left(ctx)) block = aligned_alloc(HEADER, whole);
    if (!block)
        return ikt_fail(
            ctx, IKT_ERR_RESOURCE,
            "out of memory: %.1f MB for %s on rank %d, which already holds %.1f MB; use "
            "more ranks or nodes",
            (double)bytes / 1e6, purpose, ctx->rank, (double)ctx->memory_now / 1e6);
    ask_for_huge_pages(block);
    clear(ctx, block, whole);
    header *head = (header *)(void *)block;
    *head = (header){ctx, purpose, bytes, guard_value, NULL};
    count(ctx, purpose, (int64_t)bytes);
    pointer_set(pointer, block + HEADER);
    return IKT_OK;
}

ikt_status ikt_alloc_all(ikt_context *ctx, void *pointer, int64_t elements, size_t size,
                         const char *purpose) {
    const ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, pointer, elements, size, purpose));
    if (st != IKT_OK) ikt_free(pointer);
    return st;
}

/* Bytes from which on the C library maps every block by itself, so that another size costs no copy
 * and no second block: twice its greatest threshold. */
static const size_t mapped_bytes = (size_t)64 << 20;

/* Another size for a block of its own pages, which move as a whole. NULL where that cannot be had,
 * and the block is as it was. */
static header *remap(const ikt_context *ctx, header *head, size_t bytes) {
    const size_t had = head->bytes, whole = whole_of(bytes);
    if (had < mapped_bytes || bytes < mapped_bytes) return NULL;
    if (bytes > had && (int64_t)(bytes - had) > address_space_left(ctx)) return NULL;
    char *moved = realloc(head, whole);
    if (moved && (uintptr_t)moved % HEADER != 0) { /* not this C library's way */
        char *aligned = aligned_alloc(HEADER, whole);
        if (!aligned) { /* the old block is gone: there is nothing to go back to */
            fprintf(stderr, "iktsne: no memory is left to align a block that grew\n");
            abort();
        }
        memcpy(aligned, moved, HEADER + (had < bytes ? had : bytes));
        free(moved);
        moved = aligned;
    }
    if (!moved) return NULL;
    ask_for_huge_pages(moved);
    if (bytes > had) clear(ctx, moved + HEADER + had, whole - HEADER - had);
    head = (header *)(void *)moved;
    head->bytes = bytes;
    return head;
}

ikt_status ikt_resize(ikt_context *ctx, void *pointer, int64_t elements, size_t size,
                      const char *purpose) {
    void *old = pointer_get(pointer), *new = NULL;
    if (old) check_free(header_of(old));
    const bool is_sound =
        elements >= 0 && (size == 0 || (uint64_t)elements <= PTRDIFF_MAX / 2 / size);
    if (old && is_sound) {
        const size_t had = header_of(old)->bytes, bytes = (size_t)elements * size;
        if (bytes == had) return IKT_OK;
        header *moved = remap(ctx, header_of(old), bytes);
        if (moved) {
            count(ctx, moved->purpose, (int64_t)moved->bytes - (int64_t)had);
            pointer_set(pointer, (char *)moved + HEADER);
            return IKT_OK;
        }
    }
    IKT_TRY(ikt_alloc(ctx, &new, elements, size, purpose));
    if (old) {
        size_t had = header_of(old)->bytes, has = (size_t)elements * size;
        memcpy(new, old, had < has ? had : has);
        ikt_free(&old);
    }
    pointer_set(pointer, new);
    return IKT_OK;
}

ikt_status ikt_reserve(ikt_context *ctx, void *pointer, int64_t elements, size_t size,
                       const char *purpose) {
    void *old = pointer_get(pointer);
    if (old && elements >= 0 && (uint64_t)elements <= header_of(old)->bytes / size) return IKT_OK;
    ikt_free(pointer);
    return ikt_alloc(ctx, pointer, elements, size, purpose);
}

void ikt_free(void *pointer) {
    void *data = pointer_get(pointer);
    pointer_set(pointer, NULL);
    if (!data) return;
    header *head = header_of(data);
    check_free(head);
    head->guard = 0;
    count(head->ctx, head->purpose, -(int64_t)head->bytes);
    free(head);
}

void ikt_free_each(void *const pointers[], size_t count) {
    for (size_t i = 0; i < count; i++)
        ikt_free(pointers[i]);
}

int64_t ikt_memory_now(const ikt_context *ctx) {
    return ctx->memory_now;
}

int64_t ikt_memory_peak(const ikt_context *ctx) {
    return ctx->memory_peak;
}

int64_t ikt_memory_beside(const ikt_context *ctx) {
#ifdef __GLIBC__
    malloc_trim(0); /* what is free already is there for what comes */
#endif
    const int64_t resident = ikt_resident_now();
    return resident > ctx->memory_now ? resident - ctx->memory_now : ikt_memory_resident_peak();
}

ikt_status ikt_memory_check_start(ikt_context *ctx) {
    ikt_status st = IKT_OK;
    const int64_t left = address_space_left(ctx);
    if (left <= 0)
        st = ikt_fail(
            ctx, IKT_ERR_RESOURCE,
            "the limit of address space (ulimit -v or -d) leaves %.0f MB to rank %d; MPI, "
            "HDF5 and BLAS need %.0f MB: raise it",
            (double)ctx->address_space / 1e6, ctx->rank, (double)(ctx->address_space - left) / 1e6);
    return ikt_agree(ctx, st);
}

ikt_memory_room ikt_memory_left(const ikt_context *ctx) {
    const int64_t ranks = ctx->node_ranks, none = INT64_MAX;
    const int64_t machine = ikt_machine_memory_left(), slurm = ikt_slurm_memory();
    const int64_t group = ikt_group_memory_left("/proc/self/cgroup", "/sys/fs/cgroup");
    const ikt_memory_room limits[] = {
        {machine == none ? none : machine / ranks, "free memory of the machine"},
        {group == none ? none : group / ranks, "limit of the control group"},
        {slurm == none ? none : slurm / ranks - ikt_resident_now(), "memory that Slurm granted"},
        {address_space_left(ctx), "ulimit -v"}};
    ikt_memory_room least = limits[0];
    for (size_t i = 1; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].bytes < least.bytes) least = limits[i];
    if (least.bytes < 0) least.bytes = 0;
    return least;
}

int64_t ikt_memory_available(const ikt_context *ctx) {
    return ikt_memory_left(ctx).bytes;
}

/* --- arrays that are freed together -----------------------------------------------------------
 *
 * They are a list: each block has room for the address of another. */

/* The first array has this behind it: what is held by no list has NULL. */
static char nothing;

void ikt_arrays_take(ikt_arrays *held, void *array) {
    if (!array) return;
    *link_of(array) = held->last ? held->last : &nothing;
    held->last = array;
}

void *ikt_claim_kept(ikt_arrays *held, int64_t count, size_t size) {
    void *array = NULL;
    if (held->status == IKT_OK)
        held->status = ikt_alloc(held->ctx, &array, count, size, held->purpose);
    return array;
}

void *ikt_claim(ikt_arrays *held, int64_t count, size_t size) {
    void *array = ikt_claim_kept(held, count, size);
    ikt_arrays_take(held, array);
    return array;
}

ikt_status ikt_arrays_agree(ikt_arrays *held) {
    return held->status = ikt_agree(held->ctx, held->status);
}

ikt_status ikt_arrays_agree_both(ikt_arrays *held, ikt_arrays *work) {
    if (work->status == IKT_OK) work->status = held->status;
    return held->status = ikt_arrays_agree(work);
}

void ikt_arrays_free(ikt_arrays *held) {
    while (held->last) {
        void *array = held->last, **link = link_of(array);
        held->last = *link == &nothing ? NULL : *link;
        *link = NULL;
        ikt_free(&array);
    }
}
