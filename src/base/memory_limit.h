/* What a process may use, by the limits that are set for it and those it shares them with.
 *
 * Limits of control groups hold for a group and all above it; what a group uses includes files in
 * the page cache, of which those that nobody has touched lately can be given back and count as
 * left. Slurm tells what it granted in the environment, also where it does not enforce it.
 */
#ifndef IKT_BASE_MEMORY_LIMIT_H
#define IKT_BASE_MEMORY_LIMIT_H

#include <stdint.h>

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

/* LOCAL. Bytes that are resident now. */
int64_t ikt_resident_now(void);

#endif
