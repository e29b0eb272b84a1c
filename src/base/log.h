/* The log: one line a fact, from rank 0, on stderr.
 *
 * error and warn are silent in a clean run; stage gives at most two lines a stage. Progress is a
 * bar on a terminal and a line every few seconds otherwise.
 */
#ifndef IKT_BASE_LOG_H
#define IKT_BASE_LOG_H

#include <stdint.h>

#include "iktsne/context.h"

/* LOCAL; every rank may call it, only rank 0 prints. A newline is added. */
void ikt_log(const ikt_context *ctx, ikt_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* LOCAL; every rank may call it, only rank 0 prints. Reports that `done` of `total` units of work
 * named `unit` ("rows", "iterations") are done on rank 0; `extra` is appended ("KL 2.31") and may
 * be NULL. Throttled to a few lines a minute off a terminal; prints rate and time left. */
void ikt_progress(ikt_context *ctx, const char *unit, int64_t done, int64_t total,
                  const char *extra);

#endif
