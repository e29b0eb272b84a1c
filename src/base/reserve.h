/* Room in a file system, taken before a file is written.
 *
 * Method: fallocate beyond the end of the file, which takes blocks and quota without changing what
 * the file holds; where a file system cannot do that, zeros are written and synced.
 * Advantage: a full disk is met before the work, in one place, and not in the middle of a parallel
 * write, where some ranks would fail and the others wait for them for ever (HDF5 1.10 at close).
 * Disadvantage: zeros take as long as the file itself; a file system that compresses or copies on
 * write (ZFS, Btrfs) promises less than it seems.
 */
#ifndef IKT_BASE_RESERVE_H
#define IKT_BASE_RESERVE_H

#include <stdint.h>

/* LOCAL. Takes room for the first `bytes` bytes of a file that is open for writing and holds
 * nothing yet. Returns 0, or the reason as an errno: ENOSPC, EDQUOT, EFBIG (the limit of `ulimit
 * -f`), ... */
int ikt_reserve(int file, int64_t bytes);

/* LOCAL. Gives back what lies beyond the end of the file. Returns 0 or an errno. */
int ikt_reserve_release(int file);

#endif
