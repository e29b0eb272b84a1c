/* Rows that stand for all rows: those nearest to the centres of k-means with many centres.
 *
 * Method: Lloyd's iterations of rows as the data set has them, from centres that are distinct rows
 * drawn at random (Forgy); the assignment is an exact search among the packed centres in single
 * precision (exact.h), and means are sums of integers in one fixed unit, a 2^61st of n times the
 * greatest coordinate, so that no bit depends on ranks and threads. In the end every cluster gives
 * the row that is nearest to its centre, the lowest of several.
 * Advantage: rows are streamed, none is held but the centres, and ten thousand centres cost one
 * search each step; the rows found follow the density of the data more evenly than drawn ones.
 * Disadvantage: n k distances a step; a cluster that loses all its rows keeps its centre and gives
 * no row, as happens where rows lie in fewer places than there are centres.
 */
#ifndef IKT_NEIGHBOURS_CENTRAL_ROWS_H
#define IKT_NEIGHBOURS_CENTRAL_ROWS_H

#include "data/dataset.h"

typedef struct {
    int64_t count; /* centres, from 1 to the rows there are */
    int64_t steps; /* most of Lloyd's iterations; 0: the rows drawn stay the centres */
    uint64_t seed;
} ikt_central_settings;

typedef struct {
    int64_t *row;         /* [count] ascending, the same on every rank; owned */
    int64_t count;        /* at most as many as there are centres */
    int64_t steps;        /* that were made */
    bool has_converged;   /* no row changed its cluster in the last of them */
    double drawn, spread; /* mean squared distance of a row to its nearest centre, before the first
                             step and after the last */
} ikt_central_rows;

/* COLLECTIVE. Finds them among the rows of a data set of Euclidean distances, those of rows that
 * were brought to length 1 among them.
 *   out   free with ikt_central_rows_destroy; empty on failure
 * Errors: IKT_ERR_RESOURCE, those of reading. Cost: steps + 1 times n k distances and a pass over
 * the rows, and one pass more. Memory: 16 d bytes a centre, 12 bytes an own row. */
ikt_status ikt_central_rows_find(ikt_context *ctx, ikt_dataset *data,
                                 const ikt_central_settings *settings, ikt_central_rows *out);
void ikt_central_rows_destroy(ikt_central_rows *found);

#endif
