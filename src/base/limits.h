/* What a shell or a system has given the process, looked at before MPI and OpenMP meet it: these
 * end by a signal there, wait for ever, or say what only their authors understand. */
#ifndef IKT_BASE_LIMITS_H
#define IKT_BASE_LIMITS_H

#include <stdbool.h>

/* LOCAL, before MPI is begun. Raises a limit of open files below 1024 to that, or as far as the
 * process may. Returns NULL, or one sentence, not to be freed, where the limit of open files, of
 * the stack, of the stacks of threads or of address space is too low to begin, or, where
 * MPI is going to be begun, the current folder is gone. */
const char *ikt_limits_check(bool with_mpi);

/* LOCAL, first of all. Takes the numbers of standard streams that are closed, so that no file which
 * is opened later gets one: what is printed would go into that file. Writing to such a stream
 * fails.
 */
void ikt_limits_hold_streams(void);

/* LOCAL. Ends the process as exit() does, but under a limit of addresses without what libraries do
 * at the end: OpenBLAS waits there for its threads, and one that was denied its memory when it
 * began asks for it for ever. What is open is written all the same. */
_Noreturn void ikt_limits_exit(int code);

#endif
