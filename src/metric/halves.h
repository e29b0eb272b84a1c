/* Rows of float32 that are held in half precision, where that holds every one of their numbers: as
 * embeddings are published, in half the memory and without a loss. */
#ifndef IKT_METRIC_HALVES_H
#define IKT_METRIC_HALVES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"

/* LOCAL, pure, all of them of `count` numbers that lie side by side. */
typedef struct {
    /* Whether halves hold them (base/half.h). */
    bool (*hold)(const float *x, int64_t count);
    /* As halves, which hold them. */
    void (*write)(const float *x, int64_t count, uint16_t *half);
    /* As they were. */
    void (*read)(const uint16_t *half, int64_t count, float *x);
} ikt_halves_kernel;

/* All give the same bits. */
IKT_KERNELS(const ikt_halves_kernel, ikt_halves_kernel)

#endif
