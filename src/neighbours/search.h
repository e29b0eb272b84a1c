/* Neighbour search that looks at near cells only, its refinement, and its measured recall.
 *
 * All three work on the rows of this rank in tiles (tiles.h) and give results that do not depend on
 * ranks or threads; ties go to the lower slot.
 */
#ifndef IKT_NEIGHBOURS_SEARCH_H
#define IKT_NEIGHBOURS_SEARCH_H

#include "cells/cells.h"
#include "neighbours/neighbours.h"
#include "neighbours/second_neighbours.h"
#include "neighbours/tiles.h"

/* --- search (search.c) ------------------------------------------------------------------------ */

/* COLLECTIVE. For every row the k most similar among about `candidates` rows: those of its own cell
 * and of the cells whose centres are nearest to its cell's centre.
 *   tiles        the rows in the own slots
 *   candidates   more than k; with candidates >= n every pair is looked at
 *   course       its lists, some of which may be done, receive slots, unsorted; after round 0 they
 *                are joined with what other searches have found
 * Errors: IKT_ERR_RESOURCE, IKT_STOPPED. Cost: n_local candidates scores and count^2 / ranks
 * distances of centres with `count` cells. Memory beside the lists: tiles of other ranks, at most
 * ikt_search_memory. */
ikt_status ikt_neighbours_search(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                                 int64_t candidates, ikt_list_course *course);

/* LOCAL, pure. Most bytes that a search takes beside tiles and lists. */
typedef struct {
    int64_t cells, candidates, k;
    int64_t row_bytes;       /* of a plain row */
    int64_t quantised_bytes; /* of the same row, quantised; 0 where rows are not */
    int threads;
} ikt_search_shape;
int64_t ikt_search_memory(const ikt_search_shape *shape);

/* --- rounds: what a search has missed ------------------------------------------------------- */

/* COLLECTIVE. One round, in which rows near one row are compared, of the kind that suits: a local
 * join (local_join.h), or each row with the near rows of its near rows (second_neighbours.h); near
 * rows are as the lists were before the round, and each list keeps the k best.
 *   tiles    the rows in the own slots; what a search alone needs of them is given back
 *   course   in round course->progress.round, which may have been begun: its lists, in any order,
 *            are improved in place, unsorted
 * Errors: IKT_ERR_RESOURCE, IKT_STOPPED; the lists are valid but not all improved then. */
ikt_status ikt_neighbours_refine(ikt_context *ctx, ikt_tiles *tiles, ikt_list_course *course);

/* --- how much of the truth a search has found (recall.c) -------------------------------------- */

/* LOCAL, pure. Rows to measure it on: 1,000, fewer where so many against n rows would take longer
 * than it is worth, at least 100. */
static inline int64_t ikt_recall_rows(int64_t n) {
    const int64_t pairs = 250000000, most = 1000, least = 100, rows = pairs / n;
    return rows > most ? most : rows < least ? least : rows;
}

typedef struct {
    int64_t sample;    /* rows that were looked at; 0 when nothing was measured */
    double found;      /* share of list entries that are as near as the true k-th nearest row; -1
                          where the file of a graph does not tell */
    double similarity; /* codes: similarities of the lists over those of the true lists, summed;
                          coordinates: distances of the true lists over those of the lists */
} ikt_recall;

enum { IKT_RECALL_TEXT = 128 };

/* COLLECTIVE. Compares the lists of a seeded sample of rows with exact search over all rows. The
 * same on every rank.
 *   sample   rows wanted; drawn with replacement
 * Errors: IKT_ERR_RESOURCE. Cost: sample * n scores over all ranks. */
ikt_status ikt_recall_measure(ikt_context *ctx, const ikt_tiles *tiles, const ikt_neighbours *lists,
                              uint64_t seed, int64_t sample, ikt_recall *out);

/* LOCAL, pure. "97.2 % of the true neighbours, and 99.38 % of their similarity (on 1000 rows)". */
void ikt_recall_describe(const ikt_recall *recall, char text[static IKT_RECALL_TEXT]);

/* The nearest rows of a few rows, the queries, which every rank holds.
 *
 * Method: each rank compares all queries with its own rows and keeps the k best of each; the
 * queries are dealt to the ranks, and the lists of all ranks are joined where their query belongs.
 * Advantage: exact and the same whatever the ranks, queries travel once, and no rank holds lists of
 * all ranks. Disadvantage: every rank holds all queries: for some thousands.
 */

/* COLLECTIVE. Joins the lists of queries among the rows of each rank to those among all rows.
 *   lists    of all queries, in any order within a list, the same k on all ranks; the first
 *            counts[rank] receive the joined lists of this rank's queries, ascending
 *   counts   [ranks] how many of the queries are dealt to each rank, side by side in their order
 * Errors: IKT_ERR_RESOURCE. Memory: 8 k bytes for each rank and own query. */
ikt_status ikt_query_join(ikt_context *ctx, ikt_neighbours *lists, const int64_t *counts);

#endif
