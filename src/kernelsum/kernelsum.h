/* Sums of a radial kernel over all points, phi(y) = sum_j k(|y - y_j|), and grad phi.
 *
 * The sum includes the point itself, whose term is k(0). With the Student kernel follow from phi
 * the normalisation Z = sum_i (phi(y_i) - 1) and the repulsion of t-SNE, -1/2 grad phi (methods,
 * section 3).
 * A way of summing is one file with one struct of functions (ops.h):
 *   exact        any kernel, 1 to 3 dimensions, n^2
 *   fft          the Student kernels in 2 dimensions, n + g log g for a grid of g nodes
 *   barnes_hut   the Student kernel, 1 to 3 dimensions, n log n
 */
#ifndef IKT_KERNELSUM_KERNELSUM_H
#define IKT_KERNELSUM_KERNELSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

typedef struct ikt_kernelsum ikt_kernelsum;

/* Kernels of a squared distance r2. */
typedef enum {
    IKT_KERNEL_STUDENT,     /* w = 1 / (1 + r2); 1 at 0 */
    IKT_KERNEL_STUDENT_LOG, /* w log w; 0 at 0 */
    IKT_KERNEL_GAUSSIAN     /* exp(-r2); 1 at 0 */
} ikt_kernel;

/* Whether every rank transforms the whole grid, or the ranks share it in slabs (slabs.h). The sums
 * have the same bits; auto takes what a model of both expects to be faster. */
typedef enum { IKT_SHARING_AUTO, IKT_SHARING_REPLICATED, IKT_SHARING_SLABS } ikt_fft_sharing;

/* Settings of the grid. */
typedef struct {
    int order;          /* nodes of the window along each axis: 4 or 6 */
    double spacing;     /* of the grid, in units of the map; above 0, at most 1 */
    int64_t grid_limit; /* most cells a side before the spacing grows; 64 .. 2^20 */
    bool single;        /* transforms in single precision: enough down to errors of 1e-4 */
    int sharing;        /* ikt_fft_sharing */
} ikt_fft_settings;

/* Named accuracies, chosen by measurement (bench_repulsion accuracy prints the table). Errors are
 * those of the force (root mean square, relative to that of the force) and of Z (relative). They
 * hold for maps of points at random, at any density and span, and so for late maps of t-SNE. */
typedef enum {
    IKT_FFT_DEFAULT, /* force 1e-2, Z 1e-3 */
    IKT_FFT_TIGHT    /* force 1e-4, Z 1e-5 */
} ikt_fft_accuracy;

/* LOCAL. */
ikt_fft_settings ikt_fft_preset(ikt_fft_accuracy accuracy);

/* COLLECTIVE. Exact sums over all pairs in q = 1, 2 or 3 dimensions, each to about 1e-7. Positions
 * are replicated: 8 q n bytes a rank; an evaluation costs n_local * n kernel values. Coordinates
 * beyond 1e18 overflow. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_kernelsum_create_exact(ikt_context *ctx, const ikt_rows *rows, int q,
                                      ikt_kernel kernel, ikt_kernelsum **out);

/* COLLECTIVE, SAME-ARGS. Sums by a particle-mesh method; see fft.c. An evaluation costs of the
 * order of order^2 n_local + g log g, where g is the number of cells of the grid in the map's
 * bounding box. Errors: IKT_ERR_USAGE for settings out of range, IKT_ERR_RESOURCE. */
ikt_status ikt_kernelsum_create_fft(ikt_context *ctx, const ikt_rows *rows,
                                    const ikt_fft_settings *settings, ikt_kernelsum **out);

/* COLLECTIVE, SAME-ARGS. The same with one of the Student kernels. Errors: also IKT_ERR_USAGE for
 * any other kernel, which the grid does not resolve. */
ikt_status ikt_kernelsum_create_fft_of(ikt_context *ctx, const ikt_rows *rows, ikt_kernel kernel,
                                       const ikt_fft_settings *settings, ikt_kernelsum **out);

/* Named accuracies of the tree: root mean square error of the force relative to that of the force,
 * and relative error of Z, on maps of points at random. */
typedef enum {
    IKT_TREE_DEFAULT, /* force 1e-2, Z 1e-3 */
    IKT_TREE_TIGHT    /* force 1e-3, Z 1e-4 */
} ikt_tree_accuracy;

/* COLLECTIVE, SAME-ARGS. Sums of the Student kernel by a tree; see barnes_hut.c. An evaluation
 * costs of the order of n / ranks * log n, and a sort of all n points on every rank. Memory: see
 * ikt_kernelsum_memory_tree. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_kernelsum_create_tree(ikt_context *ctx, const ikt_rows *rows, int q,
                                     ikt_tree_accuracy accuracy, ikt_kernelsum **out);

/* LOCAL. Dimensions of the positions. */
int ikt_kernelsum_dimensions(const ikt_kernelsum *sums);

/* LOCAL. Frees and sets to NULL; accepts NULL. */
void ikt_kernelsum_destroy(ikt_kernelsum **sums);

/* COLLECTIVE. Sums at the own rows.
 *   y         [rows.count * q] positions
 *   phi       [rows.count], receives the sums, self included
 *   gradient  [rows.count * q], receives grad phi
 * The bits do not depend on ranks, threads and instruction set. Where a position of any rank is not
 * finite, every phi and gradient is NaN. Cannot fail otherwise: memory that grows with the map is
 * claimed on the way, and running out of it makes all NaN, too, with the message in the context. */
void ikt_kernelsum_evaluate(ikt_kernelsum *sums, const float *y, double *phi, float *gradient);

/* LOCAL. One line on how sums are made, for logs: "particle mesh, window of 4 nodes, ...". */
void ikt_kernelsum_describe(const ikt_kernelsum *sums, char *text, size_t size);

/* LOCAL. Most bytes a rank will hold.
 *   span  side of the map's bounding box, in units of the map */
int64_t ikt_kernelsum_memory_exact(const ikt_rows *rows, int q);
int64_t ikt_kernelsum_memory_tree(const ikt_rows *rows, int q, int threads);
int64_t ikt_kernelsum_memory_fft(const ikt_fft_settings *settings, const ikt_rows *rows,
                                 int threads, double span);

#endif
