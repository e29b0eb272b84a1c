/* UMAP's similarity of two positions in a map as a curve of two parameters. */
#ifndef IKT_OBJECTIVE_UMAP_H
#define IKT_OBJECTIVE_UMAP_H

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
