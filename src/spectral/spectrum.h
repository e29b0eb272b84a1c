/* The spectrum of the normalised graph Laplacian of P, L = I - D^-1/2 P D^-1/2, from its lower end:
 * a map of the rows from its eigenvectors, and a number of clusters from its eigenvalues.
 *
 * The map (Laplacian eigenmaps, Belkin & Niyogi 2003): the coordinates of row i are its entries in
 * the q eigenvectors of the least eigenvalues that are not 0. Rows between which much affinity
 * flows come near each other.
 * The number (the eigengap, as in von Luxburg 2007, section 8.3): K groups of rows with little
 * affinity between them have K eigenvalues near 0, and the next one is larger.
 * 0 is an eigenvalue once for each connected component of P; its eigenvectors are known and not
 * sought.
 */
#ifndef IKT_SPECTRAL_SPECTRUM_H
#define IKT_SPECTRAL_SPECTRUM_H

#include <stdbool.h>
#include <stdint.h>

#include "affinity/dense.h"
#include "base/status.h"
#include "graph/graph.h"

/* A P in one of its forms; the other is NULL. Lent. */
typedef struct {
    const ikt_graph *graph;
    const ikt_dense *dense;
} ikt_spectrum_of;

/* What a search for eigenpairs took. */
typedef struct {
    int64_t components; /* connected components of P */
    int64_t columns;    /* of the block */
    int64_t products;   /* of P with the block */
    int64_t steps;      /* Rayleigh-Ritz steps */
    double residual;    /* the largest |N v - theta v| of the wanted pairs */
    double tolerance;   /* that was asked for */
    bool has_converged; /* residual <= tolerance */
    double seconds;
} ikt_spectrum_report;

/* Residuals that a start and a list of eigenvalues need. */
#define IKT_SPECTRUM_START_TOLERANCE 1e-3
#define IKT_SPECTRUM_VALUE_TOLERANCE 1e-6

/* COLLECTIVE. A map by the q eigenvectors, each of length 1, after those of the eigenvalue 0.
 *   q          1 to 3; n less the components of P must be at least q
 *   map        [n_local * q], receives the rows in the order of P; signs are as they come
 *              (ikt_spectrum_orient)
 *   value      [q] receives the eigenvalues of L, least first
 * Errors: IKT_ERR_DATA where P has fewer eigenvectors than that; IKT_ERR_RESOURCE; IKT_STOPPED.
 * Not to reach the tolerance is a warning. Memory: ikt_spectrum_bytes. */
ikt_status ikt_spectrum_map(ikt_context *ctx, const ikt_spectrum_of *p, int64_t q, double tolerance,
                            uint64_t seed, double *map, double *value, ikt_spectrum_report *report);

/* COLLECTIVE. Turns each coordinate so that its entry of largest magnitude is positive, the lowest
 * row's of equals.
 *   map   [n_local * q], rows in the order of `rows` */
void ikt_spectrum_orient(ikt_context *ctx, const ikt_rows *rows, int64_t q, double *map);

/* --- the number of clusters ------------------------------------------------------------------- */

enum { IKT_EIGENGAP_VALUES = 31, IKT_EIGENGAP_LARGEST = 5 };

/* What counts as a gap after eigenvalue k: the difference to the next one, or its share of that. */
typedef enum { IKT_EIGENGAP_OFF, IKT_EIGENGAP_ABSOLUTE, IKT_EIGENGAP_RELATIVE } ikt_eigengap_kind;

typedef struct {
    int64_t values;                      /* IKT_EIGENGAP_VALUES, or n where that is less */
    double value[IKT_EIGENGAP_VALUES];   /* eigenvalues of L, least first, zeros included */
    int64_t gaps;                        /* that follow */
    int64_t after[IKT_EIGENGAP_LARGEST]; /* eigenvalue (counted from 1) that the gap follows, */
    double gap[IKT_EIGENGAP_LARGEST];    /* and how large it is; the largest first */
    bool is_clear;                       /* one gap is larger than another, by more than rounding */
    ikt_spectrum_report report;
} ikt_eigengap;

/* COLLECTIVE. The least eigenvalues of L, and their largest gaps after eigenvalues 2 to 30 (ties
 * to the lower one).
 *   kind   absolute or relative
 * Errors: IKT_ERR_RESOURCE; IKT_STOPPED. Not to reach the tolerance is a warning. */
ikt_status ikt_eigengap_find(ikt_context *ctx, const ikt_spectrum_of *p, ikt_eigengap_kind kind,
                             uint64_t seed, ikt_eigengap *out);

/* LOCAL, pure. The gaps of out->value. */
void ikt_eigengap_order(ikt_eigengap_kind kind, ikt_eigengap *out);

/* LOCAL, pure. The gaps as a sentence: where they are, how large, and how near the second is to the
 * first; and which are so near it that other settings may have them first. */
void ikt_eigengap_describe(ikt_eigengap_kind kind, const ikt_eigengap *gap, char *text,
                           size_t size);

/* SAME-ARGS. The number of clusters that the gaps suggest, K: the eigenvalue that the largest
 * follows. Errors: IKT_ERR_DATA where none stands out, and *clusters is 0. */
ikt_status ikt_eigengap_clusters(ikt_context *ctx, const ikt_eigengap *gap, int64_t *clusters);

/* LOCAL, pure. Bytes of a rank while `wanted` eigenpairs are sought, beside P.
 *   boundary   as in normalised.h */
int64_t ikt_spectrum_bytes(int64_t n_local, int64_t boundary, int64_t wanted, int threads);

#endif
