/* The k most similar rows of every row. */
#ifndef IKT_NEIGHBOURS_NEIGHBOURS_H
#define IKT_NEIGHBOURS_NEIGHBOURS_H

#include "neighbours/scorer.h"

/* Directed neighbour lists of this rank's rows, by ascending (score, global row). They are the
 * largest array of a run, so a global row takes 32 bits here: at most 2^32 - 1 rows. */
typedef struct {
    int64_t n_local, k;
    uint32_t *row; /* [n_local * k] global rows, never the row itself */
    float *score;  /* [n_local * k] smaller is more similar */
} ikt_neighbours;

typedef struct ikt_list_course ikt_list_course; /* list_course.h */

/* LOCAL. Lists with "nothing yet" in every place.
 *   rows   ownership of the rows.
 * Errors: IKT_ERR_RESOURCE (memory; too many rows for 32 bits); empty then. */
ikt_status ikt_neighbours_create(ikt_context *ctx, const ikt_rows *rows, int64_t k,
                                 ikt_neighbours *out);

/* LOCAL. Sorts each list ascending. */
void ikt_neighbours_sort(ikt_context *ctx, ikt_neighbours *lists);

/* COLLECTIVE. Exact search over all pairs. The result is unique: ties go to the lower global row.
 *   k     1 <= k < n, checked by the caller.
 *   out   receives the lists, to be freed with ikt_neighbours_destroy; empty on failure.
 * Errors: IKT_ERR_RESOURCE. Cost: n_local * n scores. Memory: 8 k bytes a row. */
ikt_status ikt_neighbours_brute(ikt_context *ctx, const ikt_scorer *scorer, int64_t k,
                                ikt_neighbours *out);

/* COLLECTIVE. The same into lists that are there, of which some may be done (round 0 of a course),
 * and without sorting them. Errors: IKT_STOPPED. */
ikt_status ikt_neighbours_brute_kept(ikt_context *ctx, const ikt_scorer *scorer,
                                     ikt_list_course *course);

void ikt_neighbours_destroy(ikt_neighbours *neighbours);

/* LOCAL. Bytes of the lists of n_local rows. */
int64_t ikt_neighbours_memory(int64_t n_local, int64_t k);

/* A bounded list of the k best (score, row) pairs seen so far: a heap with the worst on top. Plain
 * functions on two arrays, so that lists of all rows lie one behind the other. */
/* LOCAL. Fills the list with "nothing yet" (infinite scores, row UINT32_MAX). */
void ikt_best_clear(float *score, uint32_t *row, int64_t k);
/* LOCAL. Offers a pair; keeps the k smallest by (score, row). */
void ikt_best_offer(float *score, uint32_t *row, int64_t k, float new_score, uint32_t new_row);
/* LOCAL. Offers the scores of one row against the rows first .. first + nb - 1, but not itself.
 *   score   [nb rounded up to 16], entries from nb on may hold anything */
void ikt_best_offer_row(float *best, uint32_t *row, int64_t k, int64_t own, int64_t first,
                        int64_t nb, const float *score);
/* LOCAL. Makes a list that is sorted ascending one that offers can be made to. */
void ikt_best_reverse(float *score, uint32_t *row, int64_t k);
/* LOCAL. Sorts a list in any order ascending; it is no heap afterwards. */
void ikt_best_sort(float *score, uint32_t *row, int64_t k);

#endif
