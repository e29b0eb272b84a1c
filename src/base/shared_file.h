/* Files that several write: all ranks of a run together, front to back; or several programs, which
 * add lines to a small text file at the same time.
 *
 * Ranks: round after round every rank brings a piece (or none), and the pieces follow one another
 * in the order of the ranks; where each begins is a sum over the ranks before. They are written by
 * MPI-IO, side by side. Work that is dealt out in blocks of fixed size, block b to rank b modulo
 * the number of ranks, therefore gives the same bytes on any number of ranks. Advantage: a rank
 * holds one piece; lengths need not be known before. Disadvantage: ranks wait for the slowest piece
 * of each round.
 * Programs: a lock of the operating system (fcntl, also over network file systems) is held between
 * open and close; what is added is synced before the lock is given up. A last line that a crash cut
 * off is ended first, so that it stays alone. Advantage: no server, any number of jobs.
 * Disadvantage: every user reads the whole file.
 */
#ifndef IKT_BASE_SHARED_FILE_H
#define IKT_BASE_SHARED_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ikt_shared_file ikt_shared_file;

/* COLLECTIVE. Begins a file of that name, beside it, or writes into it where it is a stream
 * (atomic_file.h); then all bytes go through rank 0.
 *   bytes   what the file takes at most: reserved now; 0: not known
 * Errors: IKT_ERR_FILE, those of ikt_atomic_begin; *out is NULL then. */
ikt_status ikt_shared_begin(ikt_context *ctx, const char *path, bool overwrite, int64_t bytes,
                            ikt_shared_file **out);

/* COLLECTIVE. Appends what the ranks bring, in their order; count may be 0. A failure is agreed and
 * leaves nothing to do but ikt_shared_end. Errors: IKT_ERR_FILE. */
ikt_status ikt_shared_append(ikt_shared_file *file, const void *bytes, int64_t count);

/* LOCAL. The name that the file has until it is complete; borrowed. */
const char *ikt_shared_name(const ikt_shared_file *file);

/* COLLECTIVE. Closes the file so that others may go on writing to it by its name, and keeps it
 * unfinished. Errors: IKT_ERR_FILE. */
ikt_status ikt_shared_close(ikt_shared_file *file);

/* COLLECTIVE. Completes the file where `local` is IKT_OK on all ranks, else removes it; frees and
 * sets to NULL; accepts NULL. Returns the agreed outcome. */
ikt_status ikt_shared_end(ikt_shared_file **file, ikt_status local);

typedef struct {
    ikt_context *ctx;
    const char *path; /* borrowed */
    int file;         /* descriptor */
    char *text;       /* [length + 1] what it held when it was opened; owned */
    int64_t length;
} ikt_locked_file;

/* LOCAL. Opens the file, made where there is none, waits for the lock and reads it all.
 * Errors: IKT_ERR_FILE (no permission, file system without locks), IKT_ERR_RESOURCE. */
ikt_status ikt_locked_open(ikt_context *ctx, const char *path, ikt_locked_file *out);

/* LOCAL. Adds text, which ends with a newline, at the end. Errors: IKT_ERR_FILE. */
ikt_status ikt_locked_append(ikt_locked_file *file, const char *text);

/* LOCAL. Gives the lock up. Accepts an empty struct. */
void ikt_locked_close(ikt_locked_file *file);

#endif
