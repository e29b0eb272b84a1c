/* Rows of other ranks that a batch of own rows wants to look at, each fetched once; and sets of
 * numbers, which tell what is wanted or seen. */
#ifndef IKT_NEIGHBOURS_FOREIGN_H
#define IKT_NEIGHBOURS_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arrays.h"
#include "base/sort.h"
#include "base/status.h"
#include "dist/rows.h"

/* A set of numbers that is emptied in no time. */
typedef struct {
    uint32_t *number, *stamp; /* [places] a place is taken where its stamp is the current one */
    uint32_t now;
    int64_t places;
} ikt_number_set;

/* LOCAL, all of the following. An empty set for so many members at most, whose arrays are claimed
 * in `held`. */
void ikt_number_set_create(ikt_arrays *held, int64_t members, ikt_number_set *set);
void ikt_number_set_empty(ikt_number_set *set);

/* Adds a number; false if it is there already. */
bool ikt_number_set_add(ikt_number_set *set, uint32_t number);

/* Bytes of a set. */
int64_t ikt_number_set_bytes(int64_t members);

/* Something of every row: what candidates are compared by. */
typedef struct {
    const char *data; /* of the own rows, borrowed */
    int64_t bytes;    /* of a row */
} ikt_row_part;

enum {
    IKT_ROW_PARTS = 4,
    IKT_FOREIGN_BYTES = 128 << 20 /* that a batch may fetch from others */
};

/* Foreign rows, ascending, and a value of each. */
typedef struct {
    int64_t count, bytes;
    uint32_t *row;
    char *value;
} ikt_foreign;

/* COLLECTIVE. Fetches the values of the rows in a set, none of which are own ones.
 *   own    [rows->count] values of the own rows, `bytes` bytes each; borrowed
 *   out    free with ikt_foreign_destroy, also after a failure
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_foreign_fetch(ikt_context *ctx, const ikt_rows *rows, const ikt_number_set *wanted,
                             const void *own, int64_t bytes, ikt_foreign *out);
void ikt_foreign_destroy(ikt_foreign *foreign);

/* LOCAL. Rows of a batch, of which each wants at most `candidates` rows, so that what it fetches is
 * at most 128 MiB, but some rows in any case.
 *   ctx       whose pieces a test may have made small, which makes batches small; or NULL
 *   n_local   of the rank that has the most */
int64_t ikt_foreign_batch(const ikt_context *ctx, int64_t n_local, int64_t candidates,
                          int64_t row_bytes);

/* LOCAL, pure. Distinct foreign rows that such a batch wants at most.
 *   others   rows of other ranks */
static inline int64_t ikt_foreign_most(int64_t batch, int64_t candidates, int64_t others) {
    return ikt_smaller(batch * candidates, others);
}

/* LOCAL. The value of a row: that of an own row, or one that was fetched. */
static inline const void *ikt_foreign_value(const ikt_foreign *foreign, const ikt_rows *rows,
                                            const void *own, uint32_t row) {
    if (ikt_is_own(rows, row)) return (const char *)own + (row - rows->first) * foreign->bytes;
    return foreign->value + ikt_find_u32(foreign->row, foreign->count, row) * foreign->bytes;
}

#endif
