/* A task tried in a process of its own, because it may crash or never end.
 *
 * Libraries that trust the files they read do both on damaged ones. A job of a thousand ranks
 * should end with a sentence instead. The process is forked, has no part in MPI, writes nowhere,
 * and has a limited processor time, wall time and memory; only its end matters.
 *
 * Cost: a fork, and the work done once more. Nothing is tried, and IKT_SANDBOX_NONE returned, where
 * this process may not be forked: in a program of others that calls the library, in a run over more
 * than one node, whose network driver may not bear a fork after MPI_Init, and where the environment
 * says IKTSNE_FORK=no.
 */
#ifndef IKT_BASE_SANDBOX_H
#define IKT_BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum {
    IKT_SANDBOX_PASSED,
    IKT_SANDBOX_REFUSED, /* the task says no, with a reason */
    IKT_SANDBOX_DIED,    /* the reason says how: "crashes on", "does not come to an end with" */
    IKT_SANDBOX_LATE,    /* the wall time is over, and the processor time is not: it was waiting */
    IKT_SANDBOX_NONE     /* nothing is known: not tried, or ended from outside (SIGTERM, SIGKILL) */
} ikt_sandbox_end;

/* What a task may use. */
typedef struct {
    int64_t seconds;      /* of processor time */
    int64_t wall_seconds; /* from beginning to end */
    int64_t bytes;        /* of addresses, beside what this process has */
} ikt_sandbox_limits;

/* LOCAL, once, by a main program of ours after it has made its context: this process is no host of
 * others, so that it may be forked where all its ranks are on one node; contexts split off
 * likewise. */
void ikt_sandbox_allow(ikt_context *ctx);

/* LOCAL. Runs the task in another process.
 *   task     returns whether it accepts; its reason goes to `reason`
 *   reason   [size] "" where it passed
 */
ikt_sandbox_end ikt_sandbox(const ikt_context *ctx,
                            bool (*task)(void *about, char *reason, size_t size), void *about,
                            const ikt_sandbox_limits *limits, char *reason, size_t size);

#endif
