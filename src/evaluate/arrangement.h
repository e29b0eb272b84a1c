/* Whether a map keeps the arrangement of another one: the classes of a part of the data, or of
 * shifted copies of it, against the map of the whole.
 *
 * Method: the centres of the classes that both maps have are brought onto each other by the
 * translation, rotation, reflection and scaling that fit best (Procrustes); what is left is the
 * error: 0 the same arrangement, 1 none at all. Centres count alike, however large their classes.
 * Advantage: maps of different rows can be compared. Disadvantage: says nothing of what is within
 * a class; with three classes or fewer hardly anything is left to differ. After the tests of Amid
 * and Warmuth 2019 (TriMap), section 2, which look at pictures.
 */
#ifndef IKT_EVALUATE_ARRANGEMENT_H
#define IKT_EVALUATE_ARRANGEMENT_H

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
 * Errors: IKT_ERR_USAGE where q differs, IKT_ERR_RESOURCE. Cost: n q; memory: 8 (q + 2) n bytes. */
ikt_status ikt_measure_arrangement(ikt_context *ctx, const ikt_measured *map,
                                   const ikt_measured *reference, uint64_t seed, ikt_measures *out);

/* LOCAL, pure. What is left after fitting the points b onto a: 1 - (sum of the singular values of
 * A'B)^2 / (|A|^2 |B|^2), both centred; as scipy.spatial.procrustes. NaN where one of them is a
 * single place.
 *   a, b   [count * q], q 1 .. 3 */
double ikt_procrustes_error(const double *a, const double *b, int64_t count, int64_t q);

#endif
