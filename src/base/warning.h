/* Warnings that a rank keeps until the ranks next agree. See ikt_warn in log.h. */
#ifndef IKT_BASE_WARNING_H
#define IKT_BASE_WARNING_H

#include <stdbool.h>
#include <stdint.h>

#include "iktsne/context.h"

enum { IKT_WARNINGS_MAX = 16, IKT_WARNING_MAX = 512 };

/* What a rank has warned of, each text once. */
typedef struct {
    char text[IKT_WARNINGS_MAX][IKT_WARNING_MAX];
    bool is_new[IKT_WARNINGS_MAX]; /* not printed yet */
    int count;
} ikt_warnings;

/* LOCAL. This rank's number where it has warnings to print, otherwise the number of ranks. */
int64_t ikt_warnings_rank(const ikt_context *ctx);

/* COLLECTIVE. Rank 0 prints what is new on any rank, each text once with the ranks that gave it.
 *   lowest   of what ikt_warnings_rank gave on the ranks
 * A few small collectives for each text. */
void ikt_warnings_merge(ikt_context *ctx, int64_t lowest);

/* LOCAL. This rank prints what is new by itself: where there will be no agreement any more. */
void ikt_warnings_print(const ikt_context *ctx);

#endif
