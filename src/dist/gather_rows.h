/* Values of rows of other ranks: of some, asked for by their numbers, or of all.
 *
 * For what is wanted once; values that are wanted again and again travel by halo.h.
 */
#ifndef IKT_DIST_GATHER_ROWS_H
#define IKT_DIST_GATHER_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

/* COLLECTIVE. Fetches values of rows.
 *   rows     ownership of the rows
 *   row     [count] global rows, ascending, distinct, none owned by this rank; lent
 *   own     [rows->count] values of the own rows, `bytes` bytes each; lent
 *   value   [count] values of the rows asked for
 * Errors: IKT_ERR_RESOURCE. Memory: 4 bytes and a value for each that others ask this rank for. */
ikt_status ikt_gather_rows(ikt_context *ctx, const ikt_rows *rows, const uint32_t *row,
                           int64_t count, const void *own, size_t bytes, void *value);

/* COLLECTIVE. Values of all rows on every rank.
 *   own       [rows->count] values of the own rows, `bytes` bytes each; lent
 *   purpose   of the memory (base/memory.h)
 *   all       ADDRESS of a pointer that receives [rows->n] values, owned by the caller; NULL on
 *             failure
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_share_rows(ikt_context *ctx, const ikt_rows *rows, const void *own, size_t bytes,
                          const char *purpose, void *all);

#endif
