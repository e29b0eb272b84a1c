/* The log: one line a fact, from rank 0, on stderr; as text or as JSON (docs/logs.md).
 *
 * error and warn are silent in a clean run; stage gives at most two lines a stage. Progress is a
 * bar on a terminal and a line every few seconds otherwise. What happens within the stage
 * "landmarks", which is a whole run of its own, is a detail.
 */
#ifndef IKT_BASE_LOG_H
#define IKT_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iktsne/context.h"

/* A number of a message, for programs that read the log: a member of the JSON object. */
typedef struct {
    const char *name; /* "rows" */
    bool is_real;
    int64_t integer;
    double real;
} ikt_log_number;

#define IKT_LOG_INT(name, value)  ((ikt_log_number){name, false, (int64_t)(value), 0})
#define IKT_LOG_REAL(name, value) ((ikt_log_number){name, true, 0, (double)(value)})
#define IKT_LOG_NUMBERS(...)      ((const ikt_log_number[]){__VA_ARGS__, {0}}) /* with its end */

/* LOCAL; every rank may call it, only rank 0 prints. A newline is added. Warnings: for what every
 * rank knows; see ikt_warn for the others.
 *   numbers   IKT_LOG_NUMBERS of some, or NULL; for JSON, as the message says them */
void ikt_log_numbers(const ikt_context *ctx, ikt_log_level level, const ikt_log_number *numbers,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
#define ikt_log(ctx, level, ...) ikt_log_numbers(ctx, level, NULL, __VA_ARGS__)

/* LOCAL. The level of records (points of the trace) that are a stage of JSON, a detail of text. */
ikt_log_level ikt_log_record(const ikt_context *ctx);

/* LOCAL, pure. The ending of a word behind a number: "1 rank", "2 ranks". */
static inline const char *ikt_plural(int64_t count) {
    return count == 1 ? "" : "s";
}

/* LOCAL. Whether details are printed (--verbose). */
bool ikt_log_is_verbose(const ikt_context *ctx);

/* LOCAL. Whether warnings and results only are printed (--quiet). */
bool ikt_log_is_quiet(const ikt_context *ctx);

/* LOCAL. Whether lines are JSON. */
bool ikt_log_is_json(const ikt_context *ctx);

/* LOCAL. A warning of what this rank knows and others may not. It is kept, and printed by rank 0 at
 * the next agreement (ikt_agree) with the ranks that gave it: once for all that gave the same text,
 * and once for all times that a rank gives it. At most 500 characters are kept. */
void ikt_warn(ikt_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* LOCAL; every rank may call it, only rank 0 prints. Reports that `done` of `total` units of work
 * named `unit` ("rows", "iterations") are done on rank 0; `extra` is appended ("KL 2.31") and may
 * be NULL. Throttled to a few lines a minute off a terminal; prints rate and time left. */
void ikt_progress(ikt_context *ctx, const char *unit, int64_t done, int64_t total,
                  const char *extra);

#endif
