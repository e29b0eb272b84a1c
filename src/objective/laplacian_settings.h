/* What the settings say to the regulariser of t-SNE: keys layout.regulariser and
 * layout.regulariser_*. */
#ifndef IKT_OBJECTIVE_LAPLACIAN_SETTINGS_H
#define IKT_OBJECTIVE_LAPLACIAN_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { IKT_REGULARISER_NONE, IKT_REGULARISER_LAPLACIAN } ikt_regulariser;
typedef enum { IKT_LAPLACIAN_SUM, IKT_LAPLACIAN_LOG } ikt_laplacian_form;

/* How eigenvectors are had: followed by one product an evaluation, or settled in each. */
typedef enum { IKT_EIGENVECTORS_FOLLOWED, IKT_EIGENVECTORS_EXACT } ikt_eigenvectors;

typedef struct {
    int kind;        /* ikt_regulariser */
    int form;        /* ikt_laplacian_form: h */
    double weight;   /* lambda, or IKT_AUTO_REAL */
    int64_t rank;    /* K, of which the zero is one; or IKT_AUTO_INT: by the eigengap of P, */
    int64_t found;   /* which then has found this, or 0 where it has not been sought yet */
    int64_t every;   /* iterations after which eigenvectors are renewed */
    int64_t from;    /* first iteration, or IKT_AUTO_INT: the end of the first phase */
    int vectors;     /* ikt_eigenvectors */
    double residual; /* of exact ones, at most; 0: 1e-6 */
} ikt_laplacian_settings;

/* LOCAL, pure. The largest K for n rows: groups of fewer than four rows are none. */
static inline int64_t ikt_laplacian_rank_most(int64_t n) {
    return 1 + n / 4;
}

#endif
