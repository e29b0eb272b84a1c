/* The configuration section `kernel`: by which similarities kernel PCA and kernel discriminant
 * analysis compare rows. And what a matrix of similarities may be asked to become. */
#ifndef IKT_SIMILARITY_SETTINGS_H
#define IKT_SIMILARITY_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/key.h"

/* Order of the choices of input.spectrum: what becomes of negative eigenvalues of a matrix of
 * similarities. */
typedef enum {
    IKT_USE_RAW,
    IKT_USE_CLIP, /* max(lambda, 0) */
    IKT_USE_FLIP, /* |lambda| */
    IKT_USE_SHIFT /* lambda - the least one, where that is negative */
} ikt_spectrum_use;

/* Order of the choices of kernel.kind. */
typedef enum {
    IKT_SIMILARITY_AUTO,
    IKT_SIMILARITY_LINEAR,
    IKT_SIMILARITY_GAUSSIAN,
    IKT_SIMILARITY_ISOLATION,
    IKT_SIMILARITY_GIVEN /* no choice: what auto means for a matrix of similarities */
} ikt_similarity_kind;

/* Order of the choices of kernel.solver. */
typedef enum { IKT_KERNEL_LANDMARKS, IKT_KERNEL_FULL } ikt_kernel_solver;

typedef struct {
    int kind;          /* ikt_similarity_kind */
    double bandwidth;  /* of the Gaussian kernel, or IKT_AUTO_REAL */
    int solver;        /* ikt_kernel_solver */
    int64_t landmarks; /* rows that the map is made of, or IKT_AUTO_INT */
    double ridge;      /* delta of kernel discriminant analysis, or IKT_AUTO_REAL */
} ikt_kernel_settings;

extern const ikt_section ikt_kernel_section;

/* SAME-ARGS. Of how many rows the map is made: all where the solver is full or there are no more
 * than landmarks, of which auto is IKT_EIGEN_ALONE_MAX.
 *   n   rows that it may be made of
 * Errors: IKT_ERR_DATA where there are fewer than 3. */
ikt_status ikt_kernel_landmarks(ikt_context *ctx, const ikt_kernel_settings *settings, int64_t n,
                                int64_t *m);

#endif
