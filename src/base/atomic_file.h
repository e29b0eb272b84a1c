/* Names of files: what may be read; and outputs, which appear complete or not at all: written
 * beside their name, synced, renamed.
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
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/part_file.h"
#include "base/status.h"

/* COLLECTIVE. Makes the temporary file (part_file.h), whose name is the same on all ranks, and
 * removes those that killed runs have left of this output. Unless `overwrite`, `path` must not
 * exist, nor be in the hands of another run. Errors: IKT_ERR_FILE with path and reason.
 *   temporary   [IKT_PATH_MAX], receives the name */
ikt_status ikt_atomic_begin(ikt_context *ctx, const char *path, bool overwrite, char *temporary);

/* COLLECTIVE. The same for an output that is written from front to back through one descriptor of
 * rank 0: where `path` is a stream, `temporary` is `path` itself, and `overwrite` is not needed. */
ikt_status ikt_atomic_begin_stream(ikt_context *ctx, const char *path, bool overwrite,
                                   char *temporary);

/* COLLECTIVE. The same for ikt_atomic_end_keeping: the file is one of several of which the last is
 * replaced, and what machines that failed have left of it is removed when it is a day old. */
ikt_status ikt_atomic_begin_keeping(ikt_context *ctx, const char *path, char *temporary);

/* LOCAL. Whether such a file was begun as a stream. */
bool ikt_atomic_is_stream(const char *path, const char *temporary);

/* LOCAL. Opens such a file, or a stream, to be written from its beginning. A pipe waits for who
 * opens it, and what is written into it for who reads it, but not beyond a signal that asks for the
 * end of the run: then errno is EINTR. NULL with errno. */
FILE *ikt_atomic_open(const char *temporary);

/* LOCAL. Fails with what errno says of a file that could not be opened so, or written.
 *   when_unread   said where nobody reads a pipe; NULL: what to do then */
ikt_status ikt_atomic_failed(ikt_context *ctx, const char *path, const char *when_unread);

/* COLLECTIVE. Reserves `bytes` bytes of disk space for a file that has been begun and holds nothing
 * yet, so that writing it does not meet a full disk half-way. What is not used is given back by
 * ikt_atomic_end; a stream takes no space. Errors: IKT_ERR_FILE with path, size and reason. */
ikt_status ikt_atomic_reserve(ikt_context *ctx, const char *path, const char *temporary,
                              int64_t bytes);

/* LOCAL, for one rank. The name of the file that is written in the end where `path`, shorter than
 * IKT_PATH_MAX, is a symbolic link: what the last link names, whether or not it is there.
 * Errors: IKT_ERR_FILE (too long, a loop of links). */
ikt_status ikt_atomic_target(ikt_context *ctx, const char *path, char target[IKT_PATH_MAX]);

/* COLLECTIVE. Checks now what the functions above would find later, so that a long run does not end
 * at a name that cannot be written or at a full disk. Leaves a claim of the name alone
 * (base/part_file.h): another run that may not replace the file is refused. Errors: theirs. */
ikt_status ikt_atomic_check(ikt_context *ctx, const char *path, bool overwrite);
ikt_status ikt_atomic_check_stream(ikt_context *ctx, const char *path, bool overwrite);
ikt_status ikt_atomic_check_space(ikt_context *ctx, const char *path, int64_t bytes);

/* COLLECTIVE. `local` is the outcome of writing on this rank. When all ranks succeeded, rank 0
 * syncs the temporary file and its folder and renames it to `path`; otherwise it is removed and
 * `path` is left as it was. Returns the agreed outcome. */
ikt_status ikt_atomic_end(ikt_context *ctx, const char *path, const char *temporary,
                          ikt_status local);

/* COLLECTIVE. The same, and a file that was at `path` is kept as `previous`, whatever was there. */
ikt_status ikt_atomic_end_keeping(ikt_context *ctx, const char *path, const char *previous,
                                  const char *temporary, ikt_status local);

/* LOCAL, for the rank that began it. Removes a file that will not be completed; a stream stays. */
void ikt_atomic_discard(ikt_context *ctx, const char *temporary);

/* LOCAL, for one rank. The text as a file, whole or not at all; replaces a file of that name.
 * Errors: IKT_ERR_FILE. */
ikt_status ikt_atomic_write_text(ikt_context *ctx, const char *path, const char *text);

/* COLLECTIVE. Whether there is something of that name, as rank 0 sees it. */
bool ikt_file_is_there(ikt_context *ctx, const char *path);

/* LOCAL. Whether it names a regular file; for what looks into files to know their kind, and must
 * not open a pipe, which would wait for whoever writes it. */
bool ikt_file_is_regular(const char *path);

/* LOCAL. Whether a path is a folder with a matrix as 10x Genomics names it, matrix.mtx, gzipped or
 * not, and the path of that. */
bool ikt_folder_matrix(const char *folder, char path[IKT_PATH_MAX]);

/* LOCAL. Whether `path` names a regular file that this rank may read, found out without opening it:
 * opening a pipe would wait for whoever writes it. Inputs are read more than once and by several
 * ranks, so that pipes, sockets and devices cannot be used.
 * Errors: IKT_ERR_FILE (missing, no permission, a folder, of one with a matrix with the line that
 * makes a file of it, no regular file). */
ikt_status ikt_input_check(ikt_context *ctx, const char *path);

/* LOCAL. Whether the name is one by which a shell hands a stream to a program (/dev/stdin,
 * /dev/fd/N, /proc/self/fd/N), and what is there is no regular file. */
bool ikt_file_is_of_shell(const char *path);

/* LOCAL. Length of the file's name in FILE or FILE:WHAT, in both of which may be colons: all of it
 * where there is such a file or no colon, otherwise what stands before the last colon that a file
 * stands before, or before the last of all where none does. To be called on one rank: other nodes
 * need not see the same files. */
size_t ikt_file_name_length(const char *name);

#endif
