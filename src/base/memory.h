/* Checked allocation with an account per purpose.
 *
 * Every array is allocated here, aligned to 64 bytes, zeroed, and counted under the purpose that
 * the caller names, so that a run can say what its memory went to. What libraries allocate for
 * themselves (MPI, HDF5, FFTW, BLAS) is not in the account, and the summary of a run says so.
 *
 * Large arrays are cleared by all threads, each its own part, so that on a node with several memory
 * controllers the pages of an array lie near the threads that work on those rows: a system places
 * a page where it is first written. Loops over rows are divided among threads in the same way
 * (schedule(static)). A task in a sandbox (sandbox.h), whose process has no team of threads, must
 * not allocate here.
 */
#ifndef IKT_BASE_MEMORY_H
#define IKT_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* LOCAL. Sets *(T **)pointer to `count` zeroed elements of `size` bytes (at least one byte, never
 * NULL on success), or to NULL on failure.
 *   pointer   ADDRESS of the pointer variable to set, e.g. `double *x; ikt_alloc(ctx, &x, ...)`.
 *   purpose   a string literal naming what the memory is for ("codes"); kept, not copied.
 * Errors: IKT_ERR_RESOURCE (out of memory, overflow, negative count). */
ikt_status ikt_alloc(ikt_context *ctx, void *pointer, int64_t count, size_t size,
                     const char *purpose);

/* COLLECTIVE. The same on every rank: where one of them has no memory, none holds any. */
ikt_status ikt_alloc_all(ikt_context *ctx, void *pointer, int64_t count, size_t size,
                         const char *purpose);

/* LOCAL. Like realloc for memory of ikt_alloc; new bytes are zero; *pointer may be NULL. On failure
 * the old memory stays valid. From 64 MB on the block is not held twice meanwhile. */
ikt_status ikt_resize(ikt_context *ctx, void *pointer, int64_t count, size_t size,
                      const char *purpose);

/* LOCAL. Memory for `count` elements: *pointer stays as it is where it has that, and is else
 * replaced by zeroed memory; what it held is lost then. NULL on failure. */
ikt_status ikt_reserve(ikt_context *ctx, void *pointer, int64_t count, size_t size,
                       const char *purpose);

/* LOCAL. Frees memory of ikt_alloc and sets *(T **)pointer to NULL; accepts a NULL pointer. */
void ikt_free(void *pointer);

/* LOCAL. The same for each of several: `ikt_free_all(&a, &b, &c);` */
#define ikt_free_all(...)                                                                          \
    ikt_free_each((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void ikt_free_each(void *const pointers[], size_t count);

/* LOCAL. Bytes accounted for now, and the most there have been, on this rank. */
int64_t ikt_memory_now(const ikt_context *ctx);
int64_t ikt_memory_peak(const ikt_context *ctx);

/* LOCAL. Bytes that are resident beside the accounted ones: program, libraries, what a host has.
 * What the C library holds free is given back first. */
int64_t ikt_memory_beside(const ikt_context *ctx);

/* LOCAL. Bytes this rank may still use, and by what: the least of what the machine, the control
 * groups, Slurm's grant (shared by the ranks on this node) and the limit of address space leave. */
typedef struct {
    int64_t bytes;
    const char *limit; /* "ulimit -v" */
} ikt_memory_room;
ikt_memory_room ikt_memory_left(const ikt_context *ctx);
int64_t ikt_memory_available(const ikt_context *ctx);

/* What a process may use, by the limits that are set for it and those it shares them with. Limits
 * of control groups hold for a group and all above it; what a group uses includes files in the page
 * cache, of which those that nobody has touched lately can be given back and count as left. Slurm
 * tells what it granted in the environment, also where it does not enforce it. */

/* LOCAL. Bytes that the control groups of a process leave, version 1 or 2; INT64_MAX without a
 * limit.
 *   self    "/proc/self/cgroup", or a file like it
 *   root    "/sys/fs/cgroup", or a folder like it */
int64_t ikt_group_memory_left(const char *self, const char *root);

/* LOCAL. Bytes that Slurm grants the job on this node: SLURM_MEM_PER_NODE, or SLURM_MEM_PER_CPU
 * for SLURM_CPUS_ON_NODE; INT64_MAX where neither is set. */
int64_t ikt_slurm_memory(void);

/* LOCAL. Bytes of the machine that are free or can be made so; INT64_MAX where unknown. */
int64_t ikt_machine_memory_left(void);

/* LOCAL. Bytes of address space or data that `ulimit -v` and `ulimit -d` leave this process;
 * INT64_MAX without a limit. */
int64_t ikt_address_space_left(void);

/* LOCAL. Bytes of addresses that this process has, those that are resident, and the most that have
 * been; 0 where unknown. */
int64_t ikt_addresses_now(void);
int64_t ikt_resident_now(void);
int64_t ikt_memory_resident_peak(void);

/* COLLECTIVE. Refuses to begin where a limit of address space leaves nothing beside what the
 * libraries will take. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_memory_check_start(ikt_context *ctx);

#endif
