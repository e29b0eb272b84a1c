/* What a way of summing provides. */
#ifndef IKT_KERNELSUM_OPS_H
#define IKT_KERNELSUM_OPS_H

#include "kernelsum/kernelsum.h"

struct ikt_kernelsum {
    ikt_context *ctx;
    ikt_row_map map;
    void *self;
    void (*evaluate)(ikt_kernelsum *sums, const float *y, double *phi, float *gradient);
    void (*destroy)(ikt_kernelsum *sums); /* frees self */
};

/* LOCAL. Sets every phi of the own rows to NaN. */
void ikt_kernelsum_invalid(const ikt_kernelsum *sums, double *phi);

#endif
