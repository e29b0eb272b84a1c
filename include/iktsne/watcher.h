/* What a program is told while the library works for it, and how it asks for an early end. */
#ifndef IKTSNE_WATCHER_H
#define IKTSNE_WATCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "iktsne/context.h"

IKT_BEGIN_C

/* Functions of the program. They are called by the thread that called the library and must not call
 * it themselves. Those that return true ask for an end: one rank that asks is enough: all ranks
 * then stop at the same place.
 *
 * A layout that is stopped ends before its next iteration: the embedding has the positions that it
 * had then, and ikt_embedding_is_stopped says so. In the stages before the layout there is no map
 * yet, and the call returns IKT_STOPPED. */
typedef struct {
    void *self; /* handed to the functions */

    /* LOCAL. `done` of `total` pieces of work are done on this rank: of "iterations", "rows coded",
     * "blocks" and others, many times a second. NULL: not wanted. */
    bool (*progress)(void *self, const char *unit, int64_t done, int64_t total);

    /* On all ranks at the same iteration, every `every` iterations, the first (0) among them.
     *   value       of the objective there: the KL divergence of t-SNE, or the cost that
     *               layout.objective names
     *   positions   [rows of this rank * dimensions] in the order of the rows that this rank gave,
     *               as they are before that iteration; borrowed for the call. They are not
     *               centred yet: the embedding's are
     * NULL, or every = 0: not wanted. Cost: one evaluation of the objective's value each time. */
    bool (*report)(void *self, int64_t iteration, double value, const float *positions);
    int64_t every;

    /* LOCAL, on rank 0. A line of the log, without its newline, in place of printing it. NULL: it
     * is printed on standard error. */
    void (*log)(void *self, ikt_log_level level, const char *line);
} ikt_watcher;

IKT_END_C

#endif
