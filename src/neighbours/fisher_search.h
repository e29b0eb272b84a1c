/* The nearest rows in the Fisher metric (metric/segment.h), exactly or among candidates.
 *
 * Method: blocks of rows go round the ring of ranks, and each list keeps its best by (distance,
 * row). Arcs are nested: the sum over one piece, over two, over all grows, so a row is dropped as
 * soon as a coarse sum is above the k-th best distance so far. The coarsest, one great circle, is a
 * distance between square roots of probabilities, C numbers a row; those nearest by it come first,
 * so that the k-th best is small early. What is kept comes from one kernel, the lower row first,
 * whatever has been dropped before. Advantage: the lists of `all` are exact, most pairs cost C
 * multiply-adds in place of some thousand exponentials, and no matrix of all pairs exists.
 * Disadvantage: n^2 C operations, and where probabilities are nearly 0 and 1 only all great circles
 * within a class are equal and nothing is dropped.
 *
 * Where rows are held in an order in which near probabilities stand together, a block is looked at
 * only by own rows that its ball of square roots is near enough to, and most are near to none. The
 * lists are the same: what is passed over would have been dropped.
 *
 * With plain distances added, d^2 = f^2 + e x^2, rows are nearest and candidates by h^2 + e x^2 / 4
 * with the chord h of the great circle, which is no more than d^2 / 4.
 *
 * With own weights left out the probabilities at both ends of a pair depend on the pair where one
 * of the two rows is of the support. Such pairs have a bound of their own, are candidates in any
 * case, and are computed from log-weights in which the entries of both rows are left out.
 */
#ifndef IKT_NEIGHBOURS_FISHER_SEARCH_H
#define IKT_NEIGHBOURS_FISHER_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "metric/class_model.h"
#include "metric/fisher_settings.h"
#include "metric/metric.h"
#include "metric/segment.h"
#include "neighbours/neighbours.h"

/* The rows of this rank and how they are compared; all of it borrowed. */
typedef struct {
    ikt_rows rows;
    bool is_ordered;        /* rows are held in an order of their own (see below), the same on
                               all ranks whether they are: */
    const uint32_t *number; /* [rows.count] the global number of each; else unused */
    ikt_segment_job job;
    const ikt_class_support *support;
    bool leaves_out;     /* own weights */
    const float *weight; /* [rows.count * lanes] log-weights */
    const float *root;   /* [rows.count * wide] sqrt(p) */
    const float *x;      /* [rows.count * d] the rows, where plain distances count; else NULL */
    int64_t d;           /* 0 without them */
    const ikt_metric *metric; /* of x */
    double euclidean;         /* what squared plain distances count beside those of Fisher */
    ikt_fisher_candidates candidates; /* not AUTO */
    int64_t among;                    /* candidates of a row; unused with ALL */
    bool computes_all;                /* nothing is dropped by a bound: for tests, the same lists */
} ikt_fisher_rows;

/* What ikt_fisher_rows lends of the own rows, to be moved about. */
typedef struct {
    float *weight, *root, *x; /* x: NULL where there is none */
} ikt_fisher_held;

/* Rows whose lists are made, which this rank holds. */
typedef struct {
    int64_t count;
    int64_t *row;             /* [count] global numbers */
    float *weight, *root, *x; /* as above */
} ikt_fisher_own;

/* What was looked at, over all ranks. */
typedef struct {
    int64_t rows;     /* lists */
    int64_t complete; /* of them, those that are proved to be what comparing all would give */
    int64_t lengths;  /* pairs whose distance was computed in full, since the search went on */
} ikt_fisher_proof;

/* COLLECTIVE. Finds the lists of a course (round 0), of which some may be done; they are not
 * sorted. Scores are d^2.
 *   own      the rows of the lists, in the order of these; NULL: all own rows, in the order of
 *            their numbers, whatever order they are held in
 *   allowed  [n] nonzero for rows that may be in a list, the same on all ranks; NULL: all
 *   proof    or NULL
 * Errors: IKT_ERR_RESOURCE, IKT_STOPPED. Memory: 64 MiB, three blocks and scratch. */
ikt_status ikt_fisher_search(ikt_context *ctx, const ikt_fisher_rows *rows,
                             const ikt_fisher_own *own, const uint8_t *allowed,
                             ikt_list_course *course, ikt_fisher_proof *proof);

/* LOCAL. Copies of those of some global rows that this rank owns.
 *   row   [count] ascending
 *   out   free with ikt_fisher_own_destroy; empty on failure. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_fisher_take(ikt_context *ctx, const ikt_fisher_rows *rows, const int64_t *row,
                           int64_t count, ikt_fisher_own *out);
void ikt_fisher_own_destroy(ikt_fisher_own *own);

/* LOCAL, pure. Rows that are selected for each own row before lines are looked at: candidates, or
 * those that come first. */
int64_t ikt_fisher_selected(ikt_fisher_candidates candidates, int64_t among, int64_t k);

/* LOCAL, pure. Bytes that a search takes at most. */
int64_t ikt_fisher_search_memory(int64_t n_local, int64_t selected, int64_t lanes, int64_t wide,
                                 int64_t d, int threads);

/* Holding rows in an order in which near probabilities stand together, so that blocks of them can
 * be passed over as a whole in a search in the Fisher metric. */

/* COLLECTIVE. ikt_fisher_search for all rows, which are held in such an order meanwhile: the same
 * lists, some times sooner. Rows of the support, whose pairs know no bound, come first; of the
 * others near square roots of probabilities stand near each other (cells/cells.h).
 *   rows   in the order of their numbers
 *   held   the same arrays; as before afterwards, unless the search fails
 * Errors: those of ikt_fisher_search. Cost of the order: count log2(count) (3 C + log2(count)), on
 * one thread. Memory: 4 C + 13 bytes a row. */
ikt_status ikt_fisher_search_ordered(ikt_context *ctx, const ikt_fisher_rows *rows,
                                     const ikt_fisher_held *held, ikt_list_course *course,
                                     ikt_fisher_proof *proof);

/* The nearest rows in the Fisher metric among the rows of near cells.
 *
 * Method: the bound that a search among all rows begins with, h^2 + e x^2 / 4 with the chord h of
 * square roots of probabilities and the plain distance x, is a squared Euclidean distance in as
 * many columns as there are classes, and those of the rows where plain distances count. Rows get
 * coarse cells there (cells/cells.h) and are compared with the rows of their own cell and the
 * nearest ones (near_tiles.h), by the same bounds and the same kernel as among all rows,
 * then with the neighbours of their neighbours.
 * Advantage: time grows with the number of rows, and a rank fetches what is near alone.
 * Disadvantage: nothing is proved of the lists, whose recall has to be measured; rows of the
 * support, whose own weights are left out, stand where their probabilities without these are, and
 * are candidates there alone. */

/* How near cells are searched. */
typedef struct {
    uint64_t seed;  /* of the centres of cells */
    int64_t rounds; /* over neighbours of neighbours behind the search */
} ikt_fisher_cells;

/* COLLECTIVE. Finds the lists of a course, of which some may be done. The course counts slots while
 * it goes on; the lists are in the order of the rows afterwards, and not sorted.
 *   rows    in the order of their numbers; among: the rows of near cells that each is compared with
 *   held    the same arrays; as before afterwards, unless the search fails
 *   proof   its number of lengths counts what this run computed; no list is called complete
 * Errors: IKT_ERR_RESOURCE, IKT_STOPPED. Memory: ikt_fisher_near_memory. */
ikt_status ikt_fisher_search_near(ikt_context *ctx, const ikt_fisher_rows *rows,
                                  const ikt_fisher_held *held, const ikt_fisher_cells *how,
                                  ikt_list_course *course, ikt_fisher_proof *proof);

/* LOCAL, pure. Bytes that it takes at most. */
int64_t ikt_fisher_near_memory(int64_t n, int64_t n_local, int64_t among, int64_t k, int64_t lanes,
                               int64_t wide, int64_t d, int ranks, int threads);

#endif
