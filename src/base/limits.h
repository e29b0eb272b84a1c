/* Limits that a shell or a system has set, looked at before MPI and OpenMP meet them: these end by
 * a signal there, wait for ever, or say what only their authors understand. */
#ifndef IKT_BASE_LIMITS_H
#define IKT_BASE_LIMITS_H

/* LOCAL, before MPI is begun. Raises a limit of open files below 1024 to that, or as far as the
 * process may. Returns NULL, or one sentence, not to be freed, where the limit of open files, of
 * the stack, of the stacks of threads or of address space is too low to begin. */
const char *ikt_limits_check(void);

#endif
