/* Holding rows in an order in which near probabilities stand together, so that blocks of them can
 * be passed over as a whole in a search in the Fisher metric (fisher_search.h). */
#ifndef IKT_NEIGHBOURS_FISHER_ORDER_H
#define IKT_NEIGHBOURS_FISHER_ORDER_H

#include "neighbours/fisher_search.h"

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

#endif
