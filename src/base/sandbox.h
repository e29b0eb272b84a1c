/* A task tried in a process of its own, because it may crash or never end.
 *
 * Libraries that trust the files they read do both on damaged ones. A job of a thousand ranks
 * should end with a sentence instead. The process is forked, has no part in MPI, writes nowhere,
 * and has a limited time and memory; only its end matters.
 *
 * Cost: a fork, and the work done once more. Where no process can be started, or none may be
 * (cpu.h), nothing is tried.
 */
#ifndef IKT_BASE_SANDBOX_H
#define IKT_BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    IKT_TRIAL_PASSED,
    IKT_TRIAL_REFUSED, /* the task says no, with a reason */
    IKT_TRIAL_DIED,    /* the reason says how: "crashes on", "does not come to an end with" */
    IKT_TRIAL_NONE     /* no process could be started */
} ikt_sandbox_end;

/* LOCAL. Runs the task in another process.
 *   task      returns whether it accepts; its reason goes to `reason`
 *   seconds   of processor time that it may use
 *   bytes     of addresses that it may use beside what this process has
 *   reason    [size] "" where it passed
 */
ikt_sandbox_end ikt_sandbox(bool (*task)(void *about, char *reason, size_t size), void *about,
                            int64_t seconds, int64_t bytes, char *reason, size_t size);

#endif
