/* LaptSNE's regulariser: the small eigenvalues of the map's own graph, made smaller (Sun, Han &
 * Fan, "Laplacian-based Cluster-Contractive t-SNE for High Dimensional Data Visualization", 2022).
 *
 * The rows of the map are a graph whose weights are the map's kernel, w_ij, without loops; d_i =
 * sum_j w_ij. With N = D^-1/2 W D^-1/2 its normalised Laplacian L = I - N has the eigenvalues 0 =
 * sigma_1 <= sigma_2 <= ..., the first with the vector t = sqrt(d / Z), Z = sum of d. The objective
 * of t-SNE gets
 *     lambda * sum_{k = 2 .. K} h(sigma_k),
 * with h = sigma (the paper's text) or h = log sigma (what its authors' program follows). Small
 * eigenvalues mean fewer weights between K groups and more within: clusters contract.
 *
 * Gradient, for orthonormal v_k and u_k = D^-1/2 v_k (docs/laptsne.md; the paper's printed one is
 * that of no objective):
 *     b_i = (1 / d_i) sum_k h'(sigma_k) u_ik (W u_k)_i,
 *     sum_k h'(sigma_k) -> lambda [-2 sum_k h'(sigma_k) u_ik grad phi_k + b_i grad phi_1
 *                                  + grad phi_b],
 * where phi_c is the sum of the kernel with the charges c (kernelsum.h): phi_1 is the repulsion's,
 * phi_k that of the charges u_k, from which N v_k comes as well. So K more sums give the gradient
 * and one step of the eigensolver. It holds for every radial kernel.
 *
 * Method: eigenvectors are followed from one evaluation to the next. A block V of K - 1 columns and
 * some guards is made orthonormal and orthogonal to t, multiplied by N, rotated by Rayleigh and
 * Ritz, and N V is the block of the next evaluation. Advantage: one product an evaluation; the
 * objective comes within a few hundredths of that by exact eigenvectors. Disadvantage: these lag
 * behind the map by some steps; `exact` settles them in every evaluation, at many times the cost.
 */
#ifndef IKT_OBJECTIVE_LAPLACIAN_H
#define IKT_OBJECTIVE_LAPLACIAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"
#include "io/hdf5/parts.h"
#include "kernelsum/kernelsum.h"

/* What the settings say to the regulariser of t-SNE: keys layout.regulariser and
 * layout.regulariser_*. */

typedef enum { IKT_REGULARISER_NONE, IKT_REGULARISER_LAPLACIAN } ikt_regulariser_kind;
#define IKT_REGULARISER_NAMES "none|laplacian"
typedef enum { IKT_REGULARISER_SUM, IKT_REGULARISER_LOG } ikt_regulariser_form;

/* How eigenvectors are had: followed by one product an evaluation, or settled in each. */
typedef enum { IKT_EIGENVECTORS_FOLLOWED, IKT_EIGENVECTORS_EXACT } ikt_eigenvectors;

typedef struct {
    int kind;        /* ikt_regulariser_kind */
    int form;        /* ikt_regulariser_form: h */
    double weight;   /* lambda, or IKT_AUTO_REAL */
    int64_t rank;    /* K, of which the zero is one; or IKT_AUTO_INT: by the eigengap of P, */
    int64_t found;   /* which then has found this, or 0 where it has not been sought yet */
    int64_t every;   /* iterations after which eigenvectors are renewed */
    int64_t from;    /* first iteration, or IKT_AUTO_INT: the end of the first phase */
    int vectors;     /* ikt_eigenvectors */
    double residual; /* of exact ones, at most; 0: 1e-6 */
} ikt_regulariser_settings;

/* LOCAL, pure. The largest K for n rows: groups of fewer than four rows are none. */
static inline int64_t ikt_regulariser_rank_most(int64_t n) {
    return 1 + n / 4;
}

typedef struct ikt_regulariser ikt_regulariser;

typedef struct {
    ikt_rows rows;
    int q;
    ikt_regulariser_settings settings; /* resolved; rank 2 .. n */
    int64_t columns;                   /* of the state: those of ikt_regulariser_columns or more */
    uint64_t seed;
    ikt_kernelsum *sums; /* of the map's kernel, which is 1 at 0; borrowed */
    double floor;        /* degrees below it count as this: what the sums cannot tell from 0 */
} ikt_laplacian_setup;

/* LOCAL, pure. Columns of the block for eigenvalues 2 .. rank of n rows: guards with them. */
int64_t ikt_regulariser_columns(int64_t rank, int64_t n);

/* COLLECTIVE. Errors: IKT_ERR_RESOURCE; *out is NULL then. */
ikt_status ikt_laplacian_create(ikt_context *ctx, const ikt_laplacian_setup *setup,
                                ikt_regulariser **out);

/* LOCAL. Frees and sets to NULL; accepts NULL. */
void ikt_regulariser_destroy(ikt_regulariser **laplacian);

/* LOCAL, pure. Most bytes a rank will hold, without those of the sums. */
int64_t ikt_laplacian_memory(const ikt_regulariser_settings *settings, const ikt_rows *rows, int q,
                             int64_t columns, int threads);

/* Sets of charges that are summed together, for the memory of sums. */
enum { IKT_LAPLACIAN_GROUP = 8 };

/* The map that is evaluated. */
typedef struct {
    int64_t iteration;  /* 0, 1, ... from one evaluation to the next, or the same again */
    const float *y;     /* [rows.count * q] */
    const double *phi;  /* [rows.count] the sums of unit charges, own terms included */
    const float *field; /* [rows.count * q] grad phi */
    bool wants_residual;
} ikt_laplacian_map;

/* What an evaluation found. */
typedef struct {
    double value;             /* sum of h(sigma_k), without lambda */
    const double *eigenvalue; /* [count] sigma_2 .. sigma_K, owned by the regulariser */
    int64_t count;
    double residual;  /* the largest of their |N v - theta v|; 0 where vectors were not renewed */
    int64_t isolated; /* rows whose degree was below the floor, on all ranks */
} ikt_laplacian_terms;

/* COLLECTIVE. Evaluates the regulariser at a map and adds its gradient to that of something else.
 *   scale, gradient   [rows.count * q] gradient <- scale * field + lambda * (its gradient);
 *                     `gradient` may be the field; it stays as it is where lambda is 0
 * Errors: IKT_ERR_RESOURCE; IKT_ERR_INTERNAL; agreed. Where a position of any rank is not finite
 * there is no value; the caller must have looked. */
ikt_status ikt_laplacian_evaluate(ikt_regulariser *laplacian, const ikt_laplacian_map *map,
                                  double scale, float *gradient, ikt_laplacian_terms *terms);

/* State that the next evaluation begins with: the block as floats by rows, and numbers. LOCAL,
 * pure; the arrays of ikt_objective_kind.state and state_array. */
enum { IKT_LAPLACIAN_NUMBERS = 3 };
float *ikt_laplacian_state_block(ikt_regulariser *laplacian, int64_t iteration);
int64_t *ikt_laplacian_state_numbers(ikt_regulariser *laplacian, int64_t iteration);

#endif
