/* Measures of the structure that a map keeps of the data as a whole, after the tests of Amid and
 * Warmuth 2019 (TriMap), section 2, which look at pictures: whether it keeps the arrangement of
 * another map, and whether marked rows stand apart from the others.
 *
 * Arrangement: the classes of a part of the data, or of shifted copies of it, against the map of
 * the whole. The centres of the classes that both maps have are brought onto each other by the
 * translation, rotation, reflection and scaling that fit best (Procrustes); what is left is the
 * error: 0 the same arrangement, 1 none at all. Centres count alike, however large their classes.
 * Advantage: maps of different rows can be compared. Disadvantage: says nothing of what is within
 * a class; with three classes or fewer hardly anything is left to differ.
 *
 * Marked rows: the mean distance of a row from its ten nearest in the map, divided by the median of
 * that over all rows. 1 is a row like any other; an outlier that the map shows has much more.
 * Disadvantage: a small group of outliers hides each of its members.
 */
#ifndef IKT_EVALUATE_STRUCTURE_H
#define IKT_EVALUATE_STRUCTURE_H

#include "evaluate/measure.h"

/* COLLECTIVE. Appends
 *   "arrangement error"                of the map, or of its first half where it has twice as many
 *                                      rows as the reference,
 *   "arrangement error, second copy"   then also of the other half, and
 *   "copies apart"                     the share of triplets of rows, two of one half and one of
 *                                      the other, in which the two are nearer to each other: 0.5
 *                                      where the halves are mixed, 1 where they are apart.
 *   map, reference   with labels and the same q; a map without labels, or with fewer than three
 *                    classes in common, appends nothing
 *   seed             of the triplets: five for each row, of at most 20,000 rows
 * Errors: IKT_ERR_USAGE where q differs, IKT_ERR_RESOURCE. Cost: n q; memory: 4 (q + 1) n bytes. */
ikt_status ikt_measure_arrangement(ikt_context *ctx, const ikt_measured *map,
                                   const ikt_measured *reference, uint64_t seed, ikt_measures *out);

/* LOCAL, pure. The error that is left after fitting the points b onto a: 1 - (sum of the singular
 * values of A'B)^2 / (|A|^2 |B|^2), both centred; as scipy.spatial.procrustes. NaN where one of
 * them is a single place. a, b   [count * q], q 1 .. 3 */
double ikt_procrustes_error(const double *a, const double *b, int64_t count, int64_t q);

/* COLLECTIVE. Appends "marked rows apart", the least of the ratios of the marked rows; nothing
 * where none is marked.
 *   marked   [n_marked] rows, the same on every rank
 * The median is over at most 2,000 rows. Errors: IKT_ERR_RESOURCE. Cost: n log n; every rank holds
 * the map. */
ikt_status ikt_measure_apart(ikt_context *ctx, const ikt_measured *what, const int64_t *marked,
                             int64_t n_marked, ikt_measures *out);

#endif
