/* Numbers of rows to slots of an order, and back. */
#ifndef IKT_DIST_TRANSLATE_H
#define IKT_DIST_TRANSLATE_H

#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

/* COLLECTIVE. Replaces numbers by the new names of what they number, for instance rows by
 * their slots.
 *   rows      who owns which old name
 *   name     [rows->count] new names of the own old ones; lent
 *   number   [count] old names below rows->n, in any order, any number of times; replaced
 * Errors: IKT_ERR_RESOURCE. Memory: n/5 bytes, 8 for each name of another rank that occurs. */
ikt_status ikt_translate_indices(ikt_context *ctx, const ikt_rows *rows, const uint32_t *name,
                                 uint32_t *number, int64_t count);

#endif
