/* Lists of the k most similar rows of every row, and the rounds in which they are made. */
#ifndef IKT_NEIGHBOURS_NEIGHBOURS_H
#define IKT_NEIGHBOURS_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sort.h"
#include "base/status.h"
#include "base/watch.h"
#include "dist/rows.h"

/* --- lists ------------------------------------------------------------------------------------ */

/* Directed neighbour lists of this rank's rows, by ascending (score, global row). They are the
 * largest array of a run, so a global row takes 32 bits here: at most 2^32 - 1 rows. */
typedef struct {
    int64_t n_local, k;
    uint32_t *row; /* [n_local * k] global rows, never the row itself */
    float *score;  /* [n_local * k] smaller is more similar */
} ikt_neighbours;

/* LOCAL. Lists with "nothing yet" in every place.
 *   rows   ownership of the rows.
 * Errors: IKT_ERR_RESOURCE (memory; too many rows for 32 bits); empty then. */
ikt_status ikt_neighbours_create(ikt_context *ctx, const ikt_rows *rows, int64_t k,
                                 ikt_neighbours *out);

/* LOCAL. Puts "nothing yet" in every place. */
void ikt_neighbours_clear(ikt_context *ctx, ikt_neighbours *lists);

/* LOCAL. Sorts each list ascending. */
void ikt_neighbours_sort(ikt_context *ctx, ikt_neighbours *lists);

/* COLLECTIVE. Joins two lists of each row, as ikt_best_join.
 *   lists    receives the k best of both, sorted
 *   others   of the same rows and k; sorted afterwards
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_neighbours_join(ikt_context *ctx, ikt_neighbours *lists, ikt_neighbours *others);

void ikt_neighbours_destroy(ikt_neighbours *neighbours);

/* LOCAL. Bytes of the lists of n_local rows. */
int64_t ikt_neighbours_memory(int64_t n_local, int64_t k);

/* --- one list --------------------------------------------------------------------------------- */

/* A bounded list of the k best (score, row) pairs seen so far: a binary heap with the worst on top.
 * The order by (score, row) is total, so what is kept does not depend on the order of offers. Plain
 * functions on two arrays, so that lists of all rows lie one behind the other. */

/* LOCAL. Fills the list with "nothing yet" (infinite scores, row UINT32_MAX). */
void ikt_best_clear(float *score, uint32_t *row, int64_t k);
/* LOCAL. Offers a pair; keeps the k smallest by (score, row). */
void ikt_best_offer(float *score, uint32_t *row, int64_t k, float new_score, uint32_t new_row);
/* LOCAL. Offers the scores of one row against the rows first .. first + nb - 1, but not itself.
 *   score   [nb rounded up to 16], entries from nb on may hold anything */
void ikt_best_offer_row(float *best, uint32_t *row, int64_t k, int64_t own, int64_t first,
                        int64_t nb, const float *score);
/* LOCAL. Writes pairs into the first places of a list. */
void ikt_best_write(float *score, uint32_t *row, const ikt_pair *pair, int64_t count);
/* LOCAL. Makes a list that is sorted ascending one that offers can be made to. */
void ikt_best_reverse(float *score, uint32_t *row, int64_t k);
/* LOCAL. Sorts a list in any order ascending; it is no heap afterwards. */
void ikt_best_sort(float *score, uint32_t *row, int64_t k);
/* LOCAL. Joins two lists of one row, in any order: the k best pairs of both, sorted, those that are
 * in both once: a row has the same score wherever it is met. score, row         [k] of one list,
 * which receives them other, other_row   [k] of the other one; sorted afterwards own, own_row [k]
 * scratch memory */
void ikt_best_join(float *score, uint32_t *row, int64_t k, float *other, uint32_t *other_row,
                   float *own, uint32_t *own_row);

/* --- rounds ----------------------------------------------------------------------------------- */

/* A search gives every row a list, tile by tile; rounds among near rows improve them.
 * Which rows are through a round is noted row by row, so that a run that is stopped and goes on
 * with other ranks, whose tiles are others, does only what is left; what it does again comes out
 * the same. */

/* Lists that are being made: what a run that is stopped needs to go on. */
typedef struct {
    int64_t round;     /* searches first (passes.h), then rounds among near rows (search.h) */
    uint8_t *done;     /* [n_local] rows whose lists are through this round: nonzero; a search may
                          put a number of its own in place of 1 */
    uint32_t *nearest; /* [n_local * near] the near rows of all rows, as lists were before this
                          round (second_neighbours.h); NULL in a search */
    int64_t near;
} ikt_list_progress;

/* Checkpoint hooks of the lists: they load and save them. Both are COLLECTIVE. */
typedef struct {
    void *self;
    const char *where; /* for messages */
    /* Fills lists and progress (`done` is allocated, `nearest` is made where there is one) with
     * what was saved, if anything was. */
    ikt_status (*load)(void *self, ikt_neighbours *lists, ikt_list_progress *progress);
    ikt_status (*save)(void *self, const ikt_neighbours *lists, const ikt_list_progress *progress);
} ikt_list_hooks;

/* A round of a search as it goes on. */
typedef struct {
    const ikt_list_hooks *hooks; /* NULL: it cannot be stopped */
    ikt_list_progress progress;  /* owned; without hooks `done` is NULL */
    ikt_neighbours *lists;       /* borrowed */
    bool has_worked;             /* this rank, since the last checkpoint */
    /* `nearest` of the round before, where that was a join (local_join.h), which need not repeat
     * what it did; owned. NULL after a stop: pairs are then compared again, which changes nothing,
     * since lists have been offered them. */
    uint32_t *before;
} ikt_list_course;

/* COLLECTIVE. A course on lists that are there, with what the hooks (or NULL) have saved of them.
 * Errors: IKT_ERR_RESOURCE, those of reading; empty then. */
ikt_status ikt_list_course_begin(ikt_context *ctx, const ikt_list_hooks *hooks,
                                 ikt_neighbours *lists, ikt_list_course *out);
void ikt_list_course_end(ikt_list_course *course);

/* LOCAL. On to the next round: nothing of it is done. */
void ikt_list_course_next(ikt_list_course *course);

/* COLLECTIVE. Between two pieces of a round: saves and stops where that is asked for, as
 * ikt_watch_pause_after. Errors: IKT_STOPPED. */
ikt_status ikt_list_pause(ikt_context *ctx, ikt_list_course *course);

/* LOCAL. What a checkpoint of the course is written by; nothing where it cannot be stopped. */
ikt_saver ikt_list_saver(ikt_list_course *course);

/* LOCAL. Whether the rows first .. end - 1 (local numbers) are through the round; notes that they
 * are. */
bool ikt_list_done(const ikt_list_course *course, int64_t first, int64_t end);
void ikt_list_note(ikt_list_course *course, int64_t first, int64_t end);

#endif
