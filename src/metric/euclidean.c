/* Squared Euclidean distances. See metric.h.
 *
 * Method: the difference of two coordinates and a fused multiply-add that adds its square, in the
 * tiles of block_body.h.
 * Advantage: d(x, y) = d(y, x) and d(x, x) = 0 exactly; nothing cancels, near rows are as accurate
 * as far ones. Disadvantage: two instructions an element, where |x|^2 - 2 x.y + |y|^2 needs one. */
#define BLOCK_ADD(sum, gap)        fmaf(gap, gap, sum)
#define BLOCK_ADD_AVX2(sum, gap)   _mm256_fmadd_ps(gap, gap, sum)
#define BLOCK_ADD_AVX512(sum, gap) _mm512_fmadd_ps(gap, gap, sum)
#define BLOCK_FINISH(sum)          (sum)
#include "metric/block_body.h"

/* As the formula says, in double precision. */
static double exact(const float *x, const float *y, int64_t d) {
    double sum = 0;
    for (int64_t k = 0; k < d; k++) {
        const double difference = (double)x[k] - (double)y[k];
        sum += difference * difference;
    }
    return sum;
}

const ikt_metric ikt_metric_euclidean = {.block = block,
                                         .groups = some_groups,
                                         .sparse = sparse,
                                         .exact = exact,
                                         .sparse_exact = ikt_sparse_distance_f64};
