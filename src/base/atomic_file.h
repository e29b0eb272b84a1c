/* Output files appear complete or not at all: written beside their name, synced, renamed. */
#ifndef IKT_BASE_ATOMIC_FILE_H
#define IKT_BASE_ATOMIC_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { IKT_PATH_MAX = 4096 };

/* COLLECTIVE. Chooses the temporary name "PATH.part-<process id of rank 0>" (same on all ranks) and
 * checks on rank 0 that it can be created there and, unless `overwrite`, that `path` does not
 * exist. temporary   [IKT_PATH_MAX], receives the name. Errors: IKT_ERR_FILE with path and reason.
 */
ikt_status ikt_atomic_begin(ikt_context *ctx, const char *path, bool overwrite, char *temporary);

/* COLLECTIVE. Checks now what ikt_atomic_begin would check later, so that a long run does not end
 * at a name that cannot be written. Leaves nothing behind. Errors: those of ikt_atomic_begin. */
ikt_status ikt_atomic_check(ikt_context *ctx, const char *path, bool overwrite);

/* COLLECTIVE. Takes room for `bytes` bytes in a file that has been begun and holds nothing yet, so
 * that writing it does not meet a full disk half-way (reserve.h). What is not used is given back by
 * ikt_atomic_end. Errors: IKT_ERR_FILE with path, size and reason. */
ikt_status ikt_atomic_reserve(ikt_context *ctx, const char *path, const char *temporary,
                              int64_t bytes);

/* COLLECTIVE. Whether there would be room for such a file now, so that a long run does not end at a
 * full disk. Leaves nothing behind. Errors: those of ikt_atomic_begin and ikt_atomic_reserve. */
ikt_status ikt_atomic_check_room(ikt_context *ctx, const char *path, int64_t bytes);

/* COLLECTIVE. `local` is the outcome of writing on this rank. When all ranks succeeded, rank 0
 * syncs the temporary file and its folder and renames it to `path`; otherwise it is removed and
 * `path` is left as it was. Returns the agreed outcome. */
ikt_status ikt_atomic_end(ikt_context *ctx, const char *path, const char *temporary,
                          ikt_status local);

/* COLLECTIVE. The same, and a file that was at `path` is kept as `previous`, whatever was there. */
ikt_status ikt_atomic_end_keeping(ikt_context *ctx, const char *path, const char *previous,
                                  const char *temporary, ikt_status local);

/* LOCAL, for one rank. Removes a file that was begun and will not be completed. */
void ikt_atomic_discard(const char *temporary);

/* LOCAL, for one rank. The text as a file, whole or not at all; replaces a file of that name.
 * Errors: IKT_ERR_FILE. */
ikt_status ikt_atomic_write_text(ikt_context *ctx, const char *path, const char *text);

#endif
