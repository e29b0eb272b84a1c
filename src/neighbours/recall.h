/* How much of the truth a neighbour search has found, measured on a sample of rows. */
#ifndef IKT_NEIGHBOURS_RECALL_H
#define IKT_NEIGHBOURS_RECALL_H

#include "neighbours/neighbours.h"
#include "neighbours/tiles.h"

typedef struct {
    int64_t sample;    /* rows that were looked at; 0 when nothing was measured */
    double found;      /* share of list entries that are as near as the true k-th nearest row */
    double similarity; /* codes: similarities of the lists over those of the true lists, summed;
                          coordinates: distances of the true lists over those of the lists */
} ikt_recall;

/* COLLECTIVE. Compares the lists of a seeded sample of rows with exact search over all rows. The
 * same on every rank and for any number of them.
 *   sample   rows wanted; drawn with replacement
 * Errors: IKT_ERR_RESOURCE. Cost: sample * n scores over all ranks. */
ikt_status ikt_recall_measure(ikt_context *ctx, const ikt_tiles *tiles, const ikt_neighbours *lists,
                              uint64_t seed, int64_t sample, ikt_recall *out);

#endif
