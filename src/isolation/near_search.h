/* The centres near to the rows of a tile, found from coarse to fine.
 *
 *     all groups of cells -> the cells of near groups -> the centres of near cells -> a list
 *
 * Method: on each level a row is compared with the points of those sets that were nearest to it on
 * the level before (an inverted file of several levels: Jegou, Douze, Schmid, PAMI 2011). The rows
 * of a tile that want the same set are brought together, so that its points are read once for all
 * of them. Advantage: every row chooses for itself, so one at the rim of a cell is served as well
 * as one in its middle, and what it finds does not depend on the other rows of its tile.
 * Disadvantage: a centre whose cell is not among the nearest is missed; how often that happens is
 * measured (codes_near.c). */
#ifndef IKT_ISOLATION_NEAR_SEARCH_H
#define IKT_ISOLATION_NEAR_SEARCH_H

#include "base/select.h"
#include "isolation/near_form.h"
#include "isolation/row_lists.h"

enum { IKT_NEAR_LEVELS = 3 };

/* Points that stand set by set. */
typedef struct {
    ikt_near_points points;
    const int64_t *first; /* [sets + 1] first point of each set */
    int64_t sets;
    int64_t wanted; /* sets that a row is compared with */
} ikt_near_level;

/* What one thread works with. */
typedef struct {
    int32_t *word;    /* [rows of a tile * words] the rows of the tile */
    void *value;      /* values of some points for some rows */
    ikt_select *near; /* [some rows] the sets of the next level that are near, */
    ikt_pair *pair;   /* in this memory */
    int64_t *sets;    /* [rows of a tile] how many sets a row is compared with, */
    uint32_t *set;    /* [rows of a tile * wanted_most] and their numbers, the nearest ones first */
    int64_t *start;   /* [most sets] where the rows that want a set stand in the following */
    int32_t *size;    /* [most sets] how many want it; 0 between uses */
    uint32_t *member; /* [rows of a tile * wanted_most] the rows, set by set */
} ikt_near_space;

typedef struct {
    const ikt_row_lists *lists;
    ikt_near_form form;
    int64_t root[2]; /* all groups are one set */
    ikt_near_level level[IKT_NEAR_LEVELS];
    int64_t wanted_most;   /* sets of any level that a row is compared with */
    ikt_near_space *space; /* [threads] */
} ikt_near_search;

/* LOCAL. Packs the cells and groups of lists->near; rows of float32, and all centres, as bytes
 * where a trial of the last level shows that these choose as floats do (near_trial.h). Errors:
 * IKT_ERR_RESOURCE. Cost: that of the trial, and of reading the centres twice.
 *   lists   borrowed as long as the search
 *   held    claims its arrays */
ikt_status ikt_near_search_create(const ikt_row_lists *lists, ikt_arrays *held,
                                  ikt_near_search *out);

/* LOCAL, pure. Points of all levels that a row is compared with, about; bytes of the search. */
int64_t ikt_near_compared(int64_t centres, int64_t candidates);
int64_t ikt_near_search_bytes(const ikt_codes_kernel *kernel, int64_t centres, int64_t candidates,
                              int64_t d, int64_t rows, int threads);

/* LOCAL, from several threads with a space and a tile each. The lists of rows, sorted
 * (ikt_near_list_sort).
 *   x        [count * d] borrowed until the next rows are searched for
 *   count    of rows: count * length is at most lists->rows_most * lists->length
 *   length   of the lists */
void ikt_near_search_rows(const ikt_near_search *search, ikt_near_space *w, ikt_list_tile *s,
                          const void *x, int64_t count, int64_t length);

#endif
