/* The k nearest of many candidates, for the rows of a tile.
 *
 * Candidates come tile by tile. By Euclidean distances they go through the filter first
 * (metric/quantise.h) and what it leaves is scored in float32; by codes, by other metrics, and for
 * rows that the filter leaves undecided, every candidate is scored. The lists are the same either
 * way, to the bit: which way a row takes is a matter of time alone.
 */
#ifndef IKT_NEIGHBOURS_NEAREST_H
#define IKT_NEIGHBOURS_NEAREST_H

#include "base/arrays.h"
#include "base/select.h"
#include "metric/quantise.h"
#include "neighbours/neighbours.h"
#include "neighbours/scorer.h"

/* At most IKT_FILTER_ROWS rows with consecutive numbers as candidates. */
typedef struct {
    const char *plain;     /* [count] side by side */
    uint32_t first;        /* number of the first one */
    int64_t count;         /* of them */
    const int32_t *packed; /* the packed group of rows in which they begin, and those behind it;
                              NULL where tiles hold none */
    int64_t skipped;       /* rows of that group before the first one */
} ikt_candidates;

/* Where a row lies, plain, by its number. */
typedef struct {
    const void *self;
    const char *(*find)(const void *self, uint32_t number);
} ikt_row_finder;

/* What one thread works with. */
typedef struct {
    const ikt_scorer *scorer; /* borrowed */
    bool has_filter;
    int64_t k;
    const char *plain; /* the own rows, borrowed */
    int64_t first, count;
    bool is_direct;  /* this pass scores every candidate */
    int64_t trusted; /* tiles to come that are not worth the filter */
    ikt_filter filter;
    int64_t direct;               /* own rows without a list yet */
    int32_t row[IKT_FILTER_ROWS]; /* their places in the tile */
    char *rows;                   /* these, side by side */
    ikt_select kept[IKT_FILTER_ROWS];
    ikt_pair *pairs;     /* [IKT_FILTER_ROWS * IKT_SELECT_CAPACITY * k] */
    float *scores;       /* [IKT_FILTER_ROWS * (IKT_FILTER_ROWS + IKT_PACK_ROWS)] */
    char *packed;        /* a tile of candidates */
    const char **others; /* [capacity of the filter] where candidates lie */
    char *scratch;       /* of `score_one` */
} ikt_nearest_rows;

/* LOCAL. For tiles of at most IKT_FILTER_ROWS rows.
 *   quantiser   of the rows, borrowed; NULL, or with a unit of 0: every candidate is scored
 * Its arrays are claimed in `held`. */
void ikt_nearest_rows_create(ikt_arrays *held, const ikt_scorer *scorer,
                             const ikt_quantiser *quantiser, int64_t k, ikt_nearest_rows *out);

/* LOCAL, pure. Bytes of it. */
int64_t ikt_nearest_rows_memory(int64_t row_bytes, int64_t k);

/* LOCAL. Begins with own rows, of which the first has the number `first`. */
void ikt_nearest_rows_begin(ikt_nearest_rows *nearest, const char *plain, int64_t first,
                            int64_t count);

/* LOCAL. Shows candidates to the own rows; none twice in a pass. */
void ikt_nearest_rows_offer(ikt_nearest_rows *nearest, const ikt_candidates *candidates);

/* LOCAL. Ends a pass over all candidates: the lists that are certain go to score and row
 * [count * k], unsorted; places that stay empty are left as they are.
 * Returns whether all candidates have to be shown once more, to the own rows that are left. */
bool ikt_nearest_rows_next(ikt_nearest_rows *nearest, const ikt_row_finder *finder, float *score,
                           uint32_t *row);

#endif
