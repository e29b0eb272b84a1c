/* Squared Manhattan distances, (sum of |x_k - y_k|)^2. See metric.h.
 *
 * The square is what every metric here gives, so that what is made of distances (Gaussian weights,
 * measures) need not know which metric it was; the order of rows and their ties are those of the
 * sum itself, as the square of a float rounds two different ones to two different ones.
 * Method: the absolute difference of two coordinates is added in the tiles of block_body.h.
 * Advantage: as for the Euclidean metric. Disadvantage: three instructions an element. */
#define BLOCK_ADD(sum, gap)      ((sum) + fabsf(gap))
#define BLOCK_ADD_AVX2(sum, gap) _mm256_add_ps(sum, _mm256_andnot_ps(_mm256_set1_ps(-0.0F), gap))
#define BLOCK_ADD_AVX512(sum, gap)                                                                 \
    _mm512_add_ps(sum, _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(gap),              \
                                                            _mm512_set1_epi32(INT32_MAX))))
#define BLOCK_FINISH(sum) ((sum) * (sum))
#include "metric/block_body.h"

/* As the formula says, in double precision. */
static double exact(const float *x, const float *y, int64_t d) {
    double sum = 0;
    for (int64_t k = 0; k < d; k++)
        sum += fabs((double)x[k] - (double)y[k]);
    return sum * sum;
}

static double sparse_exact(ikt_sparse_row x, ikt_sparse_row y) {
    const double sum = ikt_sparse_manhattan_f64(x, y);
    return sum * sum;
}

const ikt_metric ikt_metric_manhattan = {.block = block,
                                         .groups = some_groups,
                                         .sparse = sparse,
                                         .exact = exact,
                                         .sparse_exact = sparse_exact};
