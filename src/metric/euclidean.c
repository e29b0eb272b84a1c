/* Squared Euclidean distances. See metric.h.
 *
 * Method: the difference of two coordinates and a fused multiply-add that adds its square, in the
 * tiles of block.kernel.c.
 * Advantage: d(x, y) = d(y, x) and d(x, x) = 0 exactly; nothing cancels, near rows are as accurate
 * as far ones. Disadvantage: two instructions an element, where |x|^2 - 2 x.y + |y|^2 needs one. */
#include "metric/metric.h"

static void block(ikt_isa isa, const float *a, int64_t na, const float *packed_b, int64_t nb,
                  int64_t d, float *out) {
    ikt_euclidean_for(isa)->block(a, na, packed_b, nb, d, out);
}

static void some_groups(ikt_isa isa, const float *a, const float *const *group, int64_t groups,
                        int64_t d, float *out) {
    ikt_euclidean_for(isa)->groups(a, group, groups, d, out);
}

static void sparse(ikt_isa isa, const ikt_sparse_pack *pack, ikt_sparse_row row, float *out) {
    ikt_euclidean_for(isa)->sparse(pack, row, out);
}

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
