/* Whether numbers that a file gives for rows are a renumbering. */
#ifndef IKT_DIST_PERMUTATION_H
#define IKT_DIST_PERMUTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

/* COLLECTIVE.
 *   slot     [rows->count] the new number of each own row
 *   is_one   receives whether each of 0 .. n - 1 occurs once over all ranks; the same on all
 * Errors: IKT_ERR_RESOURCE. Memory: 9 bytes a row. */
ikt_status ikt_permutation_check(ikt_context *ctx, const ikt_rows *rows, const uint32_t *slot,
                                 bool *is_one);

#endif
