/* Entries of a distributed sparse matrix that travel, transposed, to the owners of their columns.
 */
#ifndef IKT_GRAPH_TRANSPOSE_H
#define IKT_GRAPH_TRANSPOSE_H

#include <stdbool.h>

#include "dist/shuffle.h"
#include "graph/graph.h"

/* An entry at the owner of its column. */
typedef struct {
    uint32_t row;    /* local number of the column it had, an own row here */
    uint32_t column; /* global number of the row it comes from */
    float value;
} ikt_transposed_entry;

/* Entries that are sent at a time: 25 MB. */
enum { IKT_TRANSPOSE_BATCH = 1 << 21 };

/* Buffers, which grow to what a batch of rows needs: 12 bytes for each of 2^21 entries, or of the
 * longest row, and as much for what comes. */
typedef struct {
    ikt_context *ctx;
    const ikt_rows *distribution; /* borrowed */
    const ikt_directed *rows;     /* borrowed; values may change between two batches */
    ikt_shuffle shuffle;          /* of the entries of a batch */
    ikt_transposed_entry *sent, *received;
} ikt_transpose;

/* LOCAL. Errors: IKT_ERR_RESOURCE; free with ikt_transpose_end in any case. */
ikt_status ikt_transpose_begin(ikt_context *ctx, const ikt_rows *distribution,
                               const ikt_directed *rows, ikt_transpose *out);
void ikt_transpose_end(ikt_transpose *t);

/* COLLECTIVE. All entries that lead to rows of other ranks, a batch of rows at a time.
 *   only_positive   entries with values above 0 only
 *   take            LOCAL, is given every entry that comes; the entries of one row by one thread,
 *                   in an order that depends on the ranks, whatever threads OpenMP starts
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_transpose_run(ikt_transpose *t, bool only_positive,
                             void (*take)(void *self, const ikt_transposed_entry *), void *self);

/* --- the same between own rows ---------------------------------------------------------------- */

/* Entries of the own rows that lead to own rows, transposed and joined with the entries that the
 * rows have. */

/* LOCAL, pure. What an entry that has a mirror image becomes.
 *   own    its value
 *   from   the value of its mirror image, before or after that has become what it becomes */
typedef float ikt_mirror_meet(const void *self, float own, float from);

/* LOCAL. Meets all pairs of entries between own rows, and collects those without a mirror image as
 * entries of the rows that they lead to.
 *   rows     sorted; values change
 *   single   entries without a mirror image, ascending by column in each row. Before: only `start`,
 *            [n_local + 1], start[0] is 0 and start[i + 1] the number of entries of row i for which
 *            there shall be room behind these. Afterwards: all of it, `start` as that of any rows
 *   next     [n_local] receives where that room begins
 * Errors: IKT_ERR_RESOURCE; free `single` in any case. Memory beside `single`: about a sixteenth of
 * it, so that it seldom grows; 4 bytes a row; 8 for each of 2^21 entries, or of the 16th part of
 * them, or of the longest column; 8 for each row of a piece and thread. Cost: entries are read
 * twice and written once, and rows looked at once for each of up to 16 pieces. */
ikt_status ikt_mirror_join(ikt_context *ctx, const ikt_rows *distribution, const ikt_directed *rows,
                           ikt_mirror_meet *meet, const void *self, ikt_directed *single,
                           int64_t *next);

/* COLLECTIVE. Both together: meets all pairs of entries, and collects those without a mirror image,
 * at its place, sorted. Rows are sorted first.
 *   met_are_negative   what has met, and nothing else, has a value below 0: then it does not travel
 *                      again
 *   single             free with ikt_directed_destroy in any case
 * Errors: IKT_ERR_RESOURCE. Cost: every entry that leads to another rank travels twice. */
ikt_status ikt_directed_join(ikt_context *ctx, const ikt_rows *distribution,
                             const ikt_directed *rows, ikt_mirror_meet *meet, const void *self,
                             bool met_are_negative, ikt_directed *single);

#endif
