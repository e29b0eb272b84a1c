/* Control groups of Linux, of both versions: the folders that hold the limits of this process. */
#ifndef IKT_BASE_CONTROL_GROUP_H
#define IKT_BASE_CONTROL_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/* LOCAL. Calls `visit` for the folder of each group that this process is in, and of those above it,
 * which limit it as well.
 *   self         the list of groups of a process, as /proc/self/cgroup
 *   root         the folder of all groups, as /sys/fs/cgroup
 *   controller   "memory", "cpu": the hierarchy of version 1 that counts
 *   visit        is told whether the folder is one of version 2 */
void ikt_control_groups(const char *self, const char *root, const char *controller,
                        void (*visit)(void *about, const char *folder, bool is_second),
                        void *about);

/* LOCAL. The number after `key` at the beginning of a line of a small file of the kernel, 0 where
 * something else stands there ("max"); -1 where there is none. */
int64_t ikt_number_after(const char *folder, const char *file, const char *key);

/* LOCAL. The processors that a quota of the groups leaves to this process and those beside it in
 * its group, as 1.5; 0 where there is no quota. Files as above. */
double ikt_group_processors(const char *self, const char *root);

#endif
