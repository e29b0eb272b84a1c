/* Small text files that several programs add lines to at the same time.
 *
 * Method: a lock of the operating system (fcntl, also over network file systems) is held between
 * open and close; what is added is synced before the lock is given up. A last line that a crash cut
 * off is ended first, so that it stays alone.
 * Advantage: no server, any number of jobs. Disadvantage: every user reads the whole file.
 */
#ifndef IKT_BASE_LOCKED_FILE_H
#define IKT_BASE_LOCKED_FILE_H

#include <stdint.h>

#include "base/status.h"

typedef struct {
    ikt_context *ctx;
    const char *path; /* lent */
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
