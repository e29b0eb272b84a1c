/* Output files appear complete or not at all: written beside their name, synced, renamed.
 *
 * Every file that the program makes comes into being here. What a name stands for decides:
 *   nothing, a regular file   written beside it and renamed, so that the old file stays until then
 *   a symbolic link           the same for what the last link names, which need not exist; the link
 *                             stays. A loop of links is refused.
 *   a stream                  a character device (/dev/null, a terminal), a pipe, or the link
 *                             /dev/stdout where output goes to a file: written into, without being
 *                             replaced, removed or synced. Only by outputs that are written from
 *                             front to back (the functions ..._stream); the others refuse it.
 *   anything else             a folder, a socket, a block device: refused
 */
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

/* COLLECTIVE. The same for an output that is written from front to back through one descriptor of
 * rank 0: where `path` is a stream, `temporary` is `path` itself, and `overwrite` is not needed. */
ikt_status ikt_atomic_begin_stream(ikt_context *ctx, const char *path, bool overwrite,
                                   char *temporary);

/* LOCAL. Whether such a file was begun as a stream. */
bool ikt_atomic_is_stream(const char *path, const char *temporary);

/* COLLECTIVE. Checks now what ikt_atomic_begin would check later, so that a long run does not end
 * at a name that cannot be written. Leaves nothing behind. Errors: those of ikt_atomic_begin. */
ikt_status ikt_atomic_check(ikt_context *ctx, const char *path, bool overwrite);
ikt_status ikt_atomic_check_stream(ikt_context *ctx, const char *path, bool overwrite);

/* COLLECTIVE. Takes room for `bytes` bytes in a file that has been begun and holds nothing yet, so
 * that writing it does not meet a full disk half-way. What is not used is given back by
 * ikt_atomic_end; a stream takes no room. Errors: IKT_ERR_FILE with path, size and reason. */
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

/* LOCAL, for one rank. Removes a file that was begun and will not be completed; a stream stays. */
void ikt_atomic_discard(const char *temporary);

/* LOCAL, for one rank. The text as a file, whole or not at all; replaces a file of that name.
 * Errors: IKT_ERR_FILE. */
ikt_status ikt_atomic_write_text(ikt_context *ctx, const char *path, const char *text);

#endif
