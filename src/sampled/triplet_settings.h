/* The section `trimap`: which triplets there are, how they are weighed, and how they are drawn. */
#ifndef IKT_SAMPLED_TRIPLET_SETTINGS_H
#define IKT_SAMPLED_TRIPLET_SETTINGS_H

#include <stdint.h>

#include "base/status.h"
#include "config/key.h"
#include "sampled/triplet.h"

typedef enum { IKT_TRIPLETS_AUTO, IKT_TRIPLETS_FIXED, IKT_TRIPLETS_POOL } ikt_triplets_from;

typedef struct {
    int triplets;       /* ikt_triplets_from */
    int64_t neighbours; /* m: near rows of a row */
    int64_t outliers;   /* m': far rows for each of them */
    int64_t random;     /* s: random triplets of a row */
    int weights;        /* ikt_triplet_weighing */
    double t, t_prime;
    int64_t scale_from, scale_to; /* nearest rows whose mean distance is a row's scale */
    int64_t pool_rows;            /* S, or IKT_AUTO_INT */
    int64_t redraw;               /* R: iterations that a pool lasts */
    int64_t far_rows;             /* f: rows of the pool that a tile looks at */
} ikt_triplet_settings;

extern const ikt_section ikt_triplet_section;

/* SAME-ARGS. Replaces every "auto" by what suits n rows.
 * Errors: IKT_ERR_USAGE where there are too few rows, or settings contradict each other. */
ikt_status ikt_trimap_resolve(ikt_context *ctx, ikt_triplet_settings *settings, int64_t n);

/* LOCAL, pure. How long the lists should be that a row's m neighbours are chosen from: 50 rows more
 * where distances are rescaled, so that the scales of other rows can change the order; for codes
 * the length at which the search is measured. */
int64_t ikt_triplet_lists(const ikt_triplet_settings *settings, bool has_distances);

#endif
