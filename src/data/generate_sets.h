/* The generators by family; the table of generate.c lists them in this order.
 *
 * A family is a file. It describes each of its sets by one const struct: a new set is one file or
 * struct, one line here and one in the table.
 */
#ifndef IKT_DATA_GENERATE_SETS_H
#define IKT_DATA_GENERATE_SETS_H

#include "data/generate.h"

/* generate_subspace.c: the papers' clusters that live in subspaces of their own. */
extern const ikt_generator ikt_generator_five_subspace, ikt_generator_two_subspace,
    ikt_generator_shared_subspace;

/* generate_mixture.c: clusters in general position; no structure at all. */
extern const ikt_generator ikt_generator_gaussian_mixture, ikt_generator_uniform_2d;

/* generate_manifold.c: surfaces in three dimensions. */
extern const ikt_generator ikt_generator_swiss_roll, ikt_generator_s_curve, ikt_generator_sphere;

/* glyphs.c, deform.c: images of 8-bit pixels. */
extern const ikt_generator ikt_generator_glyphs, ikt_generator_deform;

/* derived.c: what shows whether a map keeps the structure of a given set. */
extern const ikt_generator ikt_generator_subset, ikt_generator_outlier, ikt_generator_copies;

/* LOCAL. For row functions: draw number `draw` of the row, standard normal or uniform in [0, 1). */
double ikt_generate_normal(const ikt_generation *generation, int64_t row, uint64_t draw);
double ikt_generate_uniform(const ikt_generation *generation, int64_t row, uint64_t draw);

#endif
