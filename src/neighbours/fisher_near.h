/* The nearest rows in the Fisher metric among the rows of near cells.
 *
 * Method: the bound that a search among all rows begins with, h^2 + e x^2 / 4 with the chord h of
 * square roots of probabilities and the plain distance x, is a squared Euclidean distance in as
 * many columns as there are classes, and those of the rows where plain distances count. Rows get
 * coarse cells there (cells/cells.h) and are compared with the rows of their own cell and the
 * nearest ones (near_tiles.h), by the same bounds and the same kernel as among all rows
 * (fisher_search.h), then with the neighbours of their neighbours (fisher_refine.h).
 * Advantage: time grows with the number of rows, and a rank fetches what is near alone.
 * Disadvantage: nothing is proved of the lists, whose recall has to be measured; rows of the
 * support, whose own weights are left out, stand where their probabilities without these are, and
 * are candidates there alone. */
#ifndef IKT_NEIGHBOURS_FISHER_NEAR_H
#define IKT_NEIGHBOURS_FISHER_NEAR_H

#include "neighbours/fisher_search.h"

/* How near cells are searched. */
typedef struct {
    uint64_t seed;  /* of the centres of cells */
    int64_t rounds; /* over neighbours of neighbours (fisher_refine.h) behind the search */
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
