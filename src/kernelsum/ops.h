/* What a way of summing provides. */
#ifndef IKT_KERNELSUM_OPS_H
#define IKT_KERNELSUM_OPS_H

#include "kernelsum/kernelsum.h"

typedef struct {
    void (*evaluate)(ikt_kernelsum *sums, const float *y, double *phi, float *gradient);
    void (*destroy)(ikt_kernelsum *sums); /* frees self, which may be NULL */
    void (*describe)(const ikt_kernelsum *sums, char *text, size_t size);
} ikt_kernelsum_ops;

struct ikt_kernelsum {
    ikt_context *ctx;
    ikt_row_map map;
    void *self;
    const ikt_kernelsum_ops *ops;
};

/* LOCAL. Sets every phi and gradient of the own rows to NaN. */
void ikt_kernelsum_invalid(const ikt_kernelsum *sums, double *phi, float *gradient);

#endif
