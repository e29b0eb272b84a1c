/* Maps that are linear in similarities to some rows: kernel PCA and kernel discriminant analysis.
 *
 * With H = I - 1 1^T / m and the m x m similarities K of the rows that the map is made of, a row x
 * with the similarities k has the coordinates  y_c = sum_l w_cl (k_l - mean(k) - mean_l + mean),
 * doubly centred by the means of K's rows and of all its entries.
 *
 * Kernel PCA (Schoelkopf, Smola & Mueller 1998): w_c = v_c / sqrt(lambda_c) of the largest
 * eigenvalues of H K H, so that a row of the map itself has v_c sqrt(lambda_c). With the linear
 * kernel it is PCA. Advantage: distances in the space of the kernel are kept as well as any linear
 * map keeps them, without labels. Disadvantage: an eigenproblem, m^3.
 * Kernel discriminant analysis as spectral regression (Cai, He & Han 2011): w_c solves
 * (H K H + delta I) w_c = r_c for the C - 1 responses r_c, orthonormal indicators of the classes
 * orthogonal to 1. Advantage: directions that tell the classes apart, by one Cholesky factor.
 * Disadvantage: with a small delta it tells any labels apart, also permuted ones; so delta is
 * chosen by these (the baseline), and labels that were used must not be the evidence.
 */
#ifndef IKT_SIMILARITY_KERNEL_MAP_H
#define IKT_SIMILARITY_KERNEL_MAP_H

#include "base/status.h"
#include "similarity/similarities.h"

typedef struct {
    int64_t m, q;   /* rows that it is made of; coordinates */
    double *weight; /* [q * m] w_c as rows */
    double *mean;   /* [m] of the rows of K */
    double total;   /* mean of all entries of K */
} ikt_kernel_map;

/* LOCAL. Frees what it holds; accepts an empty one. */
void ikt_kernel_map_destroy(ikt_kernel_map *map);

/* The row of the map that a row is most similar to; arrays of the caller. */
typedef struct {
    int64_t *which;    /* [rows.count] its number among the m; the lower one of equals */
    float *similarity; /* [rows.count] */
} ikt_most_similar;

/* COLLECTIVE. Coordinates of the own rows.
 *   s      similarities to the m rows that the map was made of
 *   y      [rows.count * q]
 *   most   or NULL
 * Errors: IKT_ERR_RESOURCE, those of the similarities. */
ikt_status ikt_kernel_map_place(ikt_context *ctx, const ikt_kernel_map *map, ikt_similarities *s,
                                const ikt_rows *rows, double *y, const ikt_most_similar *most);

/* What was found of a kernel PCA. */
typedef struct {
    double value[3]; /* eigenvalues of H K H, the largest ones */
    double trace;    /* of H K H: the sum of all eigenvalues, of either sign */
} ikt_kernel_pca_facts;

/* COLLECTIVE. Kernel PCA of m chosen rows, q <= 3 coordinates. The entry of largest magnitude (the
 * first of equals) of each v_c is positive.
 *   s           similarities to these rows
 *   alone_max   IKT_EIGEN_ALONE_MAX except in tests
 *   out         free with ikt_kernel_map_destroy; empty on failure
 * Errors: IKT_ERR_DATA where fewer than q eigenvalues are positive; IKT_ERR_RESOURCE, the solver's.
 */
ikt_status ikt_kernel_pca_fit(ikt_context *ctx, ikt_similarities *s, int64_t m, int q,
                              int64_t alone_max, ikt_kernel_map *out, ikt_kernel_pca_facts *facts);

/* What was found of a kernel discriminant analysis. */
typedef struct {
    int64_t classes;
    double ridge;    /* delta */
    double error;    /* 1-NN error of the m rows among themselves, in C - 1 coordinates; the nearest
                      * ones at distances that are equal but for rounding share the vote */
    double baseline; /* the same of permuted labels, against these; mean of the permutations */
    double chance;   /* what the baseline would be without any relation: 1 - sum (n_c / m)^2 */
    bool leaks;      /* the baseline is more than three standard errors below that */
} ikt_discriminant_facts;

/* COLLECTIVE. Kernel discriminant analysis of m chosen rows. Of more than q discriminants the map
 * has their q leading principal axes over the m rows, whose entry of largest magnitude is positive;
 * where there are fewer, the others are 0.
 *   label   [m] of the chosen rows, the same on all ranks; from two rows of each class on
 *   ridge   delta; not above 0: of 10^-4, 10^-3.5 .. 10^3 times the mean eigenvalue of H K H
 *           the least one of which neither it nor a larger one leaks; the largest where that does
 *   seed    keys the permutations
 * Errors: IKT_ERR_DATA for one class alone, a class of one row, and where H K H + delta I is not
 * positive definite; IKT_ERR_RESOURCE, the solver's. */
ikt_status ikt_discriminant_fit(ikt_context *ctx, ikt_similarities *s, int64_t m,
                                const int64_t *label, int q, double ridge, uint64_t seed,
                                int64_t alone_max, ikt_kernel_map *out,
                                ikt_discriminant_facts *facts);

/* COLLECTIVE, for the two above. Own rows of H K H, of the distribution of m rows over the ranks.
 *   map      mean and total are made
 *   centred  receives [own rows * m], owned by the caller; NULL on failure */
ikt_status ikt_kernel_map_centre(ikt_context *ctx, ikt_similarities *s, int64_t m,
                                 ikt_kernel_map *map, double **centred);

/* COLLECTIVE. The mean eigenvalue of a centred matrix, that of its diagonal in the order of the
 * rows. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_kernel_map_mean_eigenvalue(ikt_context *ctx, int64_t m, const double *centred,
                                          double *mean);

#endif
