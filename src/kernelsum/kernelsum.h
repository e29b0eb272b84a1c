/* Sums of a radial kernel over all points, phi_c(y) = sum_j c_j k(|y - y_j|), and grad phi_c, for
 * any number of sets of charges c, at the points themselves or at other targets.
 *
 * At the points themselves the sum includes the point's own term, c_i k(0). With the Student kernel
 * and charges of 1 the normalisation of t-SNE is Z = sum_i (phi(y_i) - 1), and its repulsion is
 * -1/2 grad phi (methods, section 3).
 * A way of summing is one file with one struct of functions (ops.h):
 *   exact        any kernel, 1 to 3 dimensions, n^2
 *   fft          any kernel in 2 dimensions, n + g log g for a grid of g nodes
 *   barnes_hut   kernels with a power as tail, 1 to 3 dimensions, n log n
 */
#ifndef IKT_KERNELSUM_KERNELSUM_H
#define IKT_KERNELSUM_KERNELSUM_H

#include <math.h>
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
    IKT_KERNEL_GAUSSIAN,    /* exp(-r2); 1 at 0 */
    IKT_KERNEL_TAILED       /* (1 + r2 / alpha)^-alpha; 1 at 0 */
} ikt_kernel_kind;

/* With alpha degrees of freedom (Kobak, Linderman, Steinerberger, Kluger & Berens 2019, equation
 * 3): a heavier tail than that of the Student kernel for alpha < 1, a lighter one for alpha > 1. */
typedef struct {
    ikt_kernel_kind kind;
    double alpha; /* of the tailed kernel, 0.1 .. 1e9; else 1 */
} ikt_kernel;

static const ikt_kernel ikt_student = {IKT_KERNEL_STUDENT, 1};

/* LOCAL, pure. The kernel of alpha degrees of freedom, by the kind that computes it fastest: alpha
 * = 1 is the Student kernel, and from 1e9 on, where floats see no difference, the limit, the
 * Gaussian. */
ikt_kernel ikt_kernel_of_degrees(double alpha);

/* LOCAL, pure. -log w at r2, of any kernel but w log w. */
static inline double ikt_kernel_minus_log(ikt_kernel kernel, double r2) {
    return kernel.kind == IKT_KERNEL_GAUSSIAN ? r2 : kernel.alpha * log1p(r2 / kernel.alpha);
}

/* Whether every rank transforms the whole grid, or the ranks share it in slabs (slabs.h). The sums
 * have the same bits; auto takes what a model of both expects to be faster. */
typedef enum { IKT_SHARING_AUTO, IKT_SHARING_REPLICATED, IKT_SHARING_SLABS } ikt_fft_sharing;

/* How fast the machine is, by which the model of IKT_SHARING_AUTO decides; a number of 0 stands for
 * the default, which is what two ranks of a two-core virtual machine and common networks reach. */
typedef struct {
    double transform; /* nodes of a padded grid times log2 of them, a second and rank: 8e9 */
    double bandwidth; /* bytes a second into and out of a rank: 3e9 */
    double latency;   /* seconds of a message: 3e-6 */
} ikt_fft_rates;

/* Settings of the grid. */
typedef struct {
    int order;          /* nodes of the window along each axis: 4 or 6 */
    double spacing;     /* of the grid, in units of the map; above 0, at most 1 */
    int64_t grid_limit; /* most cells a side before the spacing grows; 64 .. 2^20 */
    bool single;        /* transforms in single precision: enough down to errors of 1e-4 */
    int sharing;        /* ikt_fft_sharing */
    ikt_fft_rates rates;
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

/* LOCAL, pure. The settings for a kernel that is narrower or wider than the Student kernel: the
 * spacing that resolves it as well. Those of the Student kernels stay as they are. */
ikt_fft_settings ikt_fft_for_kernel(const ikt_fft_settings *settings, ikt_kernel kernel);

/* COLLECTIVE, SAME-ARGS. Sums of a kernel by a particle-mesh method; see fft.c. An evaluation costs
 * of the order of order^2 n_local + g log g, where g is the number of cells of the grid in the
 * map's bounding box. Its spacing is that of the settings for the Student kernel, and that of
 * ikt_fft_for_kernel for any other. Errors: IKT_ERR_USAGE for settings out of range;
 * IKT_ERR_RESOURCE. */
ikt_status ikt_kernelsum_create_fft(ikt_context *ctx, const ikt_rows *rows, ikt_kernel kernel,
                                    const ikt_fft_settings *settings, ikt_kernelsum **out);

/* Named accuracies of the tree: root mean square error of the force relative to that of the force,
 * and relative error of Z, on maps of points at random. */
typedef enum {
    IKT_TREE_DEFAULT, /* force 1e-2, Z 1e-3 */
    IKT_TREE_TIGHT    /* force 1e-3, Z 1e-4 */
} ikt_tree_accuracy;

/* LOCAL, pure. Whether a tree sums the kernel: the Student kernel and tailed ones of at most 10
 * degrees of freedom. Lighter tails need ever smaller boxes. */
bool ikt_tree_has_kernel(ikt_kernel kernel);

/* COLLECTIVE, SAME-ARGS. Sums of a kernel that ikt_tree_has_kernel admits by a tree; see
 * barnes_hut.c. An evaluation costs of the order of n / ranks * log n, and a sort of all n points
 * on every rank. Memory: see ikt_kernelsum_memory_tree. Errors: IKT_ERR_USAGE for another kernel;
 * IKT_ERR_RESOURCE. */
ikt_status ikt_kernelsum_create_tree(ikt_context *ctx, const ikt_rows *rows, int q,
                                     ikt_kernel kernel, ikt_tree_accuracy accuracy,
                                     ikt_kernelsum **out);

/* LOCAL. Frees and sets to NULL; accepts NULL. */
void ikt_kernelsum_destroy(ikt_kernelsum **sums);

/* What is to be summed, and where. On all ranks `charges` is the same number, and `charge`,
 * `target`, `value` and `gradient` are NULL on all ranks or on none: a rank without targets passes
 * any other pointer. */
typedef struct {
    const float *y;       /* [rows.count * q] positions of the own rows */
    int charges;          /* sets of charges; ignored where charge is NULL */
    const double *charge; /* [charges][rows.count] of either sign; NULL: one charge of 1 a point */
    int64_t targets;      /* own targets; ignored where target is NULL */
    const float *target;  /* [targets * q] their positions; NULL: the points themselves */
    double *value;        /* [charges][targets or rows.count], receives phi; NULL: not wanted */
    float *gradient;      /* [charges][(targets or rows.count) * q], receives grad phi; or NULL */
} ikt_kernelsum_request;

/* COLLECTIVE. Sums at the own rows, or at the own targets. Every way takes charges and targets, for
 * all kernels and dimensions that it has.
 * The bits of a value depend on all points, on that set of charges and on the place alone, not on
 * ranks, threads and instruction set; the grid of the FFT covers the points and all targets, and so
 * depends on them, too. Charges are scaled by a power of two, found from the largest magnitude of
 * the set on any rank. Charges of 1 give the bits of NULL with exact sums and with the FFT; the
 * tree expands them otherwise and agrees to 1e-5. Errors, root mean square beside that of the sums,
 * measured on random points for charges of random sign, uneven positive charges and a single
 * charge: exact sums 1e-6; FFT values 2e-3 (tight 2e-5) and gradients 2e-2 (1e-4), up to three
 * times that for all but the Student kernel; tree values and gradients 2e-2 (1e-3). Gradients are
 * floats: beyond 3e38 they are infinite. Cost of k sets of charges: exact, k / 4 to k sums of unit
 * charges; FFT and tree, k sums. A target walks the tree alone, at several times the cost of a
 * point. Where a position of any rank is not finite, every value and gradient is NaN and the status
 * is IKT_OK. Errors, on which every value and gradient is NaN, too: IKT_ERR_DATA where a charge is
 * not finite or beyond 2^1023; IKT_ERR_RESOURCE, because memory that grows with the span of the
 * points and that charges need is claimed on the way. */
ikt_status ikt_kernelsum_evaluate(ikt_kernelsum *sums, const ikt_kernelsum_request *request);

/* LOCAL. One line on how sums are made, for logs: "particle mesh, window of 4 nodes, ...". */
void ikt_kernelsum_describe(const ikt_kernelsum *sums, char *text, size_t size);

/* LOCAL. Most bytes a rank will hold.
 *   settings  for the kernel: what ikt_fft_for_kernel returns
 *   charges   sets of charges that are summed together; 0: each point has a charge of 1
 *   span      side of the map's bounding box, in units of the map */
int64_t ikt_kernelsum_memory_exact(const ikt_rows *rows, int q, int charges);
int64_t ikt_kernelsum_memory_tree(const ikt_rows *rows, int q, int charges, int threads);
int64_t ikt_kernelsum_memory_fft(const ikt_fft_settings *settings, const ikt_rows *rows,
                                 int charges, int threads, double span);

#endif
