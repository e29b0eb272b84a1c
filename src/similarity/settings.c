/* Configuration keys of the section `kernel`. */
#include "similarity/settings.h"

#include "linalg/eigen.h"

static const ikt_key keys[] = {
    {"kind", IKT_KEY_CHOICE, offsetof(ikt_kernel_settings, kind), "auto", 0, 0, 0,
     "auto|linear|gaussian|isolation", "",
     "The similarity that kpca, kda and affinity.kind: fisher compare rows by: linear, the inner "
     "product of the rows; "
     "gaussian, exp(-d^2 / (2 bandwidth^2)) of their distance d; isolation, the share of equal "
     "cells (section isolation); auto is the matrix where similarities are given "
     "(input.similarities), linear for fisher, and isolation otherwise"},
    {"bandwidth", IKT_KEY_REAL, offsetof(ikt_kernel_settings, bandwidth), "auto", 1e-300, 1e300, 1,
     NULL, "",
     "The bandwidth of the Gaussian kernel, in the unit of the distances; auto is half of the "
     "median distance of up to 1,000 landmarks"},
    {"solver", IKT_KEY_CHOICE, offsetof(ikt_kernel_settings, solver), "landmarks", 0, 0, 0,
     "landmarks|full", "",
     "Of which rows the map is made: landmarks, of some, by which all others are placed; full, of "
     "all rows, by ScaLAPACK over all ranks, which takes 40 n^2 bytes in all and n^3 operations, "
     "and whose last bits depend on the number of ranks beyond 2,048 rows. Up to the number of "
     "landmarks both are the same"},
    {"landmarks", IKT_KEY_INT, offsetof(ikt_kernel_settings, landmarks), "auto", 3, 2048, 1, NULL,
     "rows",
     "The rows that the map is made of, which are drawn at random, for kda among those with a "
     "label; auto is 2,048, or all rows where there are fewer"},
    {"ridge", IKT_KEY_REAL, offsetof(ikt_kernel_settings, ridge), "auto", 1e-300, 1e300, 1, NULL,
     "",
     "What kernel discriminant analysis adds to the diagonal of the centred similarities (delta). "
     "A small one separates any labels, also wrong ones; auto is the least of fifteen numbers "
     "from 10^-4 to 1000 times their mean eigenvalue from which on permuted labels are not told "
     "better than by "
     "chance"}};

const ikt_section ikt_kernel_section = {
    "kernel", "The similarities of kernel PCA and kernel discriminant analysis (docs/kernels.md)",
    keys, sizeof keys / sizeof *keys};

ikt_status ikt_kernel_landmarks(ikt_context *ctx, const ikt_kernel_settings *settings, int64_t n,
                                int64_t *m) {
    const int64_t wanted = ikt_chosen(settings->landmarks, IKT_EIGEN_ALONE_MAX);
    *m = settings->solver == IKT_KERNEL_FULL || n < wanted ? n : wanted;
    if (n >= 3) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "a map of similarities is made of three rows at least, and there are %lld",
                    (long long)n);
}
