/* Files that are not complete yet: NAME.part-MACHINE-RANDOM, of which no two runs have one.
 *
 * MACHINE stands for one start of one operating system, which containers share. Beside the file
 * stands NAME.part-MACHINE-RANDOM.lock, on which its run holds a lock (flock): who gets that lock
 * knows that the run is gone, and removes both. Process numbers say nothing of it: those of two
 * containers may be equal. The lock has a file of its own since HDF5 and MPI lock the data. NAME is
 * cut where it is long.
 *
 * What another machine has made, or stands where there are no locks, may be of a run that is alive,
 * and locks say nothing of it. It is removed in two cases only. The lock's file names a job that
 * its scheduler has started again since: should a node that the scheduler has lost still be at work
 * there, the same work is done here. Slurm counts the starts in SLURM_RESTART_COUNT, which the
 * first does not have; LSF (LSB_RESTART) and Grid Engine (RESTARTED) tell the first from later
 * ones, so that the third does not remove what the second has left; PBS and Flux say nothing. A
 * program of a later start that is not told (srun --export=NONE) counts as one of the first, so
 * that others of the same job that are would take its files for those of an earlier start. And a
 * file that is one of several (a checkpoint), and nothing was written to it for long, by the clock
 * of the file system: at worst a run that stood still for as long lacks one checkpoint, which is a
 * warning.
 */
#ifndef IKT_BASE_PART_FILE_H
#define IKT_BASE_PART_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { IKT_PATH_MAX = 4096 };

/* The locks that a context holds. */
typedef struct ikt_part_lock ikt_part_lock;

/* LOCAL, for one rank. Makes the file, empty, in which `target` will be written; a claim of that
 * target ends.
 *   part   receives its name
 * Errors: IKT_ERR_FILE, with `path` as the name that the user knows. */
ikt_status ikt_part_create(ikt_context *ctx, const char *path, const char *target,
                           char part[IKT_PATH_MAX]);

/* LOCAL, on the rank that made it, before it is released. The target of the file, borrowed;
 * NULL for names that ikt_part_create has not given. */
const char *ikt_part_target(const ikt_context *ctx, const char *part);

/* LOCAL, on the rank that made it. Removes the file and keeps its lock: others see that the target
 * is this run's, until it makes a file of the same target, or the context ends. */
void ikt_part_claim(ikt_context *ctx, const char *part);

/* LOCAL. Gives up the claims of a context whose outputs are written, or will not be; for
 * IKT_AT_END. Accepts NULL. */
void ikt_part_unclaim(ikt_context **ctx);

/* LOCAL, on the rank that made it, when the file has been renamed or removed: gives up its lock.
 * Names that ikt_part_create has not given are passed over. */
void ikt_part_release(ikt_context *ctx, const char *part);

/* LOCAL. Gives up the locks that a context still holds. */
void ikt_part_release_all(ikt_context *ctx);

/* LOCAL, any rank. Removes the file and that of its lock; of a stream nothing. Emptied first: who
 * still has it open shall not keep its disk space. */
void ikt_part_remove(const char *part);

/* LOCAL, for one rank. Looks at the files in which others write `target`, or will: those of
 * killed runs are removed, which the log says; a warning names those of other machines.
 *   seconds      what other machines have not written to for so long is removed, too, where this
 *                context is making a file of that target; 0: nothing is old
 *   is_written   receives whether a run of this machine writes one now */
void ikt_part_sweep(ikt_context *ctx, const char *target, int64_t seconds, bool *is_written);

/* LOCAL, pure. Whether `name` is that of a file in which `target`, without its folder as well, is
 * written; 0 where it is not, else the length of that file's name, which that of its lock follows.
 */
size_t ikt_part_length(const char *name, const char *target);

#endif
