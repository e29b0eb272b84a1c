/* What a way of summing provides.
 *
 * A way is one file with one struct of functions and one creating function, which kernelsum.h
 * declares; what it holds hangs on `self`. Later ways come in the same form; nothing else changes.
 */
#ifndef IKT_KERNELSUM_OPS_H
#define IKT_KERNELSUM_OPS_H

#include "kernelsum/kernelsum.h"

typedef struct {
    /* COLLECTIVE. See ikt_kernelsum_evaluate. */
    void (*evaluate)(ikt_kernelsum *sums, const float *y, double *phi, float *gradient);
    /* LOCAL. Frees self, which may be NULL when creation failed. */
    void (*destroy)(ikt_kernelsum *sums);
    /* LOCAL. One line, cut to `size` bytes. */
    void (*describe)(const ikt_kernelsum *sums, char *text, size_t size);
} ikt_kernelsum_ops;

struct ikt_kernelsum {
    ikt_context *ctx;
    ikt_rows rows; /* which rows are this rank's */
    int q;         /* dimensions */
    ikt_kernel kernel;
    void *self; /* owned, of the way's own type */
    const ikt_kernelsum_ops *ops;
};

/* LOCAL. Sets every phi and gradient of the own rows to NaN. */
void ikt_kernelsum_invalid(const ikt_kernelsum *sums, double *phi, float *gradient);

#endif
