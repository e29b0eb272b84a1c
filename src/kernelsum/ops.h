/* What a way of summing provides.
 *
 * A way is one file with one struct of functions and one creating function, which kernelsum.h
 * declares; what it holds hangs on `self`.
 */
#ifndef IKT_KERNELSUM_OPS_H
#define IKT_KERNELSUM_OPS_H

#include "kernelsum/kernelsum.h"

typedef struct {
    size_t size; /* of self */
    /* LOCAL. Fills self, which is zeroed. Errors: those of creation; `destroy` follows. */
    ikt_status (*prepare)(ikt_kernelsum *sums, const void *settings);
    /* COLLECTIVE. See ikt_kernelsum_evaluate. Where charges are given sums->scale[charges] holds
     * for each set the power of two that they are to be divided by; else charges is 1. Targets are
     * finite. On failure the caller sets what is wanted to NaN. */
    ikt_status (*evaluate)(ikt_kernelsum *sums, const ikt_kernelsum_request *request);
    /* LOCAL. Frees what self holds. */
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
    double *scale; /* [charges] */
};

/* COLLECTIVE. Sums of one way, whose `prepare` is given the settings. Errors: those of it. */
ikt_status ikt_kernelsum_create(ikt_context *ctx, const ikt_rows *rows, int q, ikt_kernel kernel,
                                const ikt_kernelsum_ops *ops, const void *settings,
                                ikt_kernelsum **out);

/* COLLECTIVE. Memory that charges need, on all ranks or on none. Errors: IKT_ERR_RESOURCE.
 *   array   receives it, zeroed, owned by the caller */
ikt_status ikt_kernelsum_claim(ikt_kernelsum *sums, void *array, int64_t count, size_t size);

/* LOCAL. Places on this rank where sums are wanted. */
static inline int64_t ikt_kernelsum_places(const ikt_kernelsum *sums,
                                           const ikt_kernelsum_request *request) {
    return request->target ? request->targets : sums->rows.count;
}

/* LOCAL. Sets every value and gradient that is wanted to NaN. */
void ikt_kernelsum_invalid(const ikt_kernelsum *sums, const ikt_kernelsum_request *request);

#endif
