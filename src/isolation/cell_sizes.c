/* Cell sizes and exact row sums of the kernel: integers only, so the order does not matter. */
#include <string.h>

#include "base/comm.h"
#include "isolation/codes.h"

void ikt_codes_cell_sizes(ikt_context *ctx, const ikt_codes *codes, int64_t psi, int64_t *size) {
    memset(size, 0, (size_t)(codes->t * psi) * sizeof *size);
    /* A thread takes whole partitionings, so that nobody else counts in its cells. */
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t p = 0; p < codes->t; p++)
        for (int64_t i = 0; i < codes->n_local; i++)
            size[p * psi + ikt_codes_cell(codes, i, p)]++;
    ikt_sum_i64(ctx, size, codes->t * psi);
}

void ikt_codes_row_sums(ikt_context *ctx, const ikt_codes *codes, int64_t psi, const int64_t *size,
                        int64_t *equal) {
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < codes->n_local; i++) {
        equal[i] = -codes->t; /* the row shares all its cells with itself */
        for (int64_t p = 0; p < codes->t; p++)
            equal[i] += size[p * psi + ikt_codes_cell(codes, i, p)];
    }
}
