/* What the settings say to the objectives with negative samples: UMAP and LargeVis. */
#ifndef IKT_SAMPLED_NEGATIVE_SETTINGS_H
#define IKT_SAMPLED_NEGATIVE_SETTINGS_H

#include <stdint.h>

#include "base/status.h"
#include "config/key.h"

/* Where negative samples come from (sampled/pool.h). */
typedef struct {
    int64_t negatives; /* of an edge, M */
    int64_t pool;     /* rows S of the pool, or IKT_AUTO_INT: 4096, and all where there are fewer */
    int64_t far_rows; /* of it that a tile of sixteen rows meets in an iteration */
    int64_t redraw;   /* iterations after which the pool is drawn anew */
} ikt_negative_settings;

typedef struct {
    double min_dist, spread; /* of the curve */
    double a, b;             /* of the curve itself, or IKT_AUTO_REAL */
    double repulsion;        /* gamma, weight of the negative samples */
    ikt_negative_settings sample;
} ikt_umap_settings;

typedef struct {
    double repulsion; /* gamma */
    ikt_negative_settings sample;
} ikt_largevis_settings;

extern const ikt_section ikt_umap_section, ikt_largevis_section;

/* SAME-ARGS. Replace what is auto by what suits n rows.
 * Errors: IKT_ERR_USAGE where numbers contradict each other. */
ikt_status ikt_umap_resolve(ikt_context *ctx, int64_t n, ikt_umap_settings *settings);
ikt_status ikt_largevis_resolve(ikt_context *ctx, int64_t n, ikt_largevis_settings *settings);

/* UMAP's similarity of two places of a map as a curve of two parameters. */

/* w(d) = 1 / (1 + a d^(2 b)) */
typedef struct {
    double a, b;
} ikt_umap_curve;

/* LOCAL, pure. The curve nearest, in the sum of squares at 300 distances from 0 to 3 spread, to the
 * one that is wanted: 1 up to min_dist, exp(-(d - min_dist) / spread) beyond (McInnes, Healy &
 * Melville 2018, section 3.2; umap-learn's find_ab_params).
 *   min_dist   from 0 to spread
 *   spread     above 0 */
ikt_umap_curve ikt_umap_curve_fit(double min_dist, double spread);

#endif
