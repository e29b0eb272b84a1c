/* The rounds in which neighbour lists are made, and where they may be stopped and gone on with.
 *
 * A search gives every row a list, block by block; rounds over neighbours of neighbours improve
 * them. What is through a round is noted row by row, so that a run on other ranks, whose blocks are
 * others, does only what is left; what it does again comes out the same.
 */
#ifndef IKT_NEIGHBOURS_LIST_COURSE_H
#define IKT_NEIGHBOURS_LIST_COURSE_H

#include <stdbool.h>

#include "neighbours/neighbours.h"

/* Lists that are being made: what a run that is stopped needs to go on. */
typedef struct {
    int64_t round;     /* 0: the search; r: round r over neighbours of neighbours */
    uint8_t *done;     /* [n_local] rows whose lists are through this round */
    uint32_t *nearest; /* [n_local * near] the first entries of all lists before this round; NULL in
                          round 0 */
    int64_t near;
} ikt_list_progress;

/* Keeps them. Both COLLECTIVE. */
typedef struct {
    void *self;
    const char *where; /* for messages */
    /* Fills lists and progress (done is allocated, nearest is made where there is one) with what
     * was kept, if anything was. */
    ikt_status (*load)(void *self, ikt_neighbours *lists, ikt_list_progress *progress);
    ikt_status (*save)(void *self, const ikt_neighbours *lists, const ikt_list_progress *progress);
} ikt_list_hooks;

/* A round of a search as it goes on. */
struct ikt_list_course {
    const ikt_list_hooks *keeper; /* NULL: it cannot be stopped */
    ikt_list_progress progress;   /* owned; without a keeper `done` is NULL */
    ikt_neighbours *lists;        /* lent */
    bool has_worked;              /* this rank, since the last pause */
};

/* COLLECTIVE. A course on lists that are there, with what the keeper (or NULL) has kept of them.
 * Errors: IKT_ERR_RESOURCE, those of reading; empty then. */
ikt_status ikt_list_course_begin(ikt_context *ctx, const ikt_list_hooks *keeper,
                                 ikt_neighbours *lists, ikt_list_course *out);
void ikt_list_course_end(ikt_list_course *course);

/* LOCAL. On to the next round: nothing of it is done. */
void ikt_list_course_next(ikt_list_course *course);

/* COLLECTIVE. Between two pieces of a round: saves and stops where that is asked for, but not
 * before some rank has done something, so that a run that is stopped again and again comes to its
 * end. Errors: IKT_STOPPED. */
ikt_status ikt_list_pause(ikt_context *ctx, ikt_list_course *course);

/* LOCAL. Whether the rows first .. end - 1 (local numbers) are through the round; notes that they
 * are. */
bool ikt_list_done(const ikt_list_course *course, int64_t first, int64_t end);
void ikt_list_note(ikt_list_course *course, int64_t first, int64_t end);

#endif
