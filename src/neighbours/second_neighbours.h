/* A round over neighbours of neighbours, whatever rows are compared by.
 *
 * Method: the nearest neighbours of each row are set aside, half of them its own and half rows that
 * have it among theirs (reverse_neighbours.h), where there are so many. Own rows are taken in
 * batches: what was set aside of foreign neighbours is fetched, which tells the candidates; then
 * the rows of foreign candidates are; then each row is compared with its candidates, by the caller.
 * Lists are improved in place, since candidates come from what was set aside.
 * Advantage: candidates are chosen for each row by itself, so it finds what the cells of a search
 * have cut apart. Disadvantage: rows are read at random places, so a score costs some times what it
 * does in a search. */
#ifndef IKT_NEIGHBOURS_SECOND_NEIGHBOURS_H
#define IKT_NEIGHBOURS_SECOND_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "neighbours/foreign.h"
#include "neighbours/neighbours.h"
#include "neighbours/tiles.h"

/* Near rows that are followed, and theirs that are looked at. */
enum { IKT_REFINE_NEAR = 32, IKT_REFINE_CANDIDATES = IKT_REFINE_NEAR * IKT_REFINE_NEAR };

/* LOCAL, pure. How many are followed of a row with a list of k. */
static inline int64_t ikt_second_neighbours_near(int64_t k) {
    return ikt_smaller(2 * k, IKT_REFINE_NEAR);
}

typedef struct {
    ikt_context *ctx;
    const ikt_rows *rows; /* of the slots, borrowed */
    ikt_list_course *course;
    int parts;
    ikt_row_part part[IKT_ROW_PARTS]; /* of the own rows */
    int64_t foreign_most;             /* foreign rows of a batch */
    int64_t near;                     /* of a row: at most IKT_REFINE_NEAR */
    bool is_new;                      /* set aside by this run, not by one before it */
    uint32_t *nearest;                /* [n_local * near] slots; of the course */
    int64_t first, end;               /* own slots of the batch, local numbers */
    ikt_foreign numbers;              /* nearest of foreign slots */
    ikt_foreign foreign[IKT_ROW_PARTS];
    ikt_number_set wanted; /* while they are collected */
    ikt_arrays held;
} ikt_second_neighbours;

/* COLLECTIVE. Sorts the lists and sets their first entries aside, where a run before this one has
 * not begun the round.
 *   part    [parts] what of a row is fetched
 *   extra   bytes that the caller makes of each foreign row
 *   r       where is_new, entries of lists that are no slots are to be made slots in r->nearest,
 *          before ikt_second_neighbours_run puts rows that have a row in place of the last of them
 * Errors: IKT_ERR_RESOURCE; ikt_second_neighbours_end in any case. */
ikt_status ikt_second_neighbours_begin(ikt_context *ctx, const ikt_rows *rows,
                                       ikt_list_course *course, const ikt_row_part *part, int parts,
                                       int64_t extra, ikt_second_neighbours *r);
void ikt_second_neighbours_end(ikt_second_neighbours *r);

/* COLLECTIVE. All rows whose lists no run before this one has improved, in batches.
 *   arrive    LOCAL, looks at the foreign rows of a batch that have come; or NULL
 *   improve   LOCAL, compares own slot i, a local number, with its candidates; in threads
 * Errors: IKT_ERR_RESOURCE, IKT_STOPPED, those of `arrive`. */
ikt_status ikt_second_neighbours_run(ikt_second_neighbours *r, ikt_status (*arrive)(void *self),
                                     void (*improve)(const void *self, int64_t i, int thread),
                                     void *self);

/* LOCAL. The candidates of own slot i that are not in `seen`, each once; returns how many.
 *   seen   gets them
 *   slot   [IKT_REFINE_CANDIDATES] */
int64_t ikt_second_neighbours_of(const ikt_second_neighbours *r, int64_t i, ikt_number_set *seen,
                                 uint32_t *slot);

/* LOCAL. A part of the row in a slot, own or a candidate of the batch. */
static inline const void *ikt_second_neighbours_part(const ikt_second_neighbours *r, int part,
                                                     uint32_t slot) {
    return ikt_foreign_value(&r->foreign[part], r->rows, r->part[part].data, slot);
}

/* COLLECTIVE. A round by the scores of a search: each row is scored against its candidates and
 * keeps the k best. As ikt_neighbours_refine. Cost: at most IKT_REFINE_NEAR^2 scores a row. */
ikt_status ikt_second_neighbours_score(ikt_context *ctx, ikt_tiles *tiles, ikt_list_course *course);

/* LOCAL, pure. Most bytes that it takes: 8 IKT_REFINE_NEAR bytes a row, the rows as integers, and
 * rows and numbers of other ranks of a batch. */
int64_t ikt_second_neighbours_score_memory(int64_t n_local, int64_t k, int64_t row_bytes,
                                           int64_t quantised_bytes, int ranks, int threads);

/* LOCAL, pure. Bytes of the set of what is wanted, of which there is one on several ranks. */
int64_t ikt_second_neighbours_set_bytes(int64_t n_local, int64_t row_bytes, int ranks);

/* LOCAL, pure. Most bytes that a round takes, but what the caller compares own rows with.
 *   row_bytes   of all parts of a row, and what the caller makes of it */
int64_t ikt_second_neighbours_memory(int64_t n_local, int64_t row_bytes, int parts, int ranks);

#endif
