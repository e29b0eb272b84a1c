/* Z as a sum of integers.
 *
 * Method: phi without the point itself in fixed point; heads and tails of 32 bits are summed apart,
 * which a rank can do for 2^31 rows. Advantage over a superaccumulator (base/exact_sum.h): as fast
 * as memory is read, and 24 bytes to reduce. Disadvantage: an absolute error, far below that of phi
 * itself. */
#include "objective/normalisation.h"

#include <math.h>

#include "base/comm.h"
#include "base/cpu.h"

static const double units = 1 << 30, most = 8589934592.0 /* 2^33 */;

enum { PIECE = 8192 };

/* Rows from which on a second thread is worth waking. */
static const int64_t parallel_rows = 1 << 16;

typedef struct {
    int64_t head, tail, not_finite;
} fixed;

static IKT_WIDEST_VECTORS fixed sum_piece(const double *phi, double self, int64_t count) {
    int64_t head = 0, tail = 0, outside = 0;
    for (int64_t i = 0; i < count; i++) {
        double value = phi[i] - self;
        int64_t is_inside = fabs(value) < most;
        int64_t whole = (int64_t)((is_inside ? value : 0) * units);
        head += whole >> 32;
        tail += whole & 0xFFFFFFFF;
        outside += 1 - is_inside;
    }
    return (fixed){head, tail, outside};
}

double ikt_normalisation(ikt_context *ctx, const double *phi, double self, int64_t n_local) {
    int64_t head = 0, tail = 0, outside = 0;
#pragma omp parallel for reduction(+ : head, tail, outside) num_threads(ikt_threads(ctx))         \
    if (n_local >= parallel_rows)
    for (int64_t first = 0; first < n_local; first += PIECE) {
        fixed piece =
            sum_piece(phi + first, self, n_local - first < PIECE ? n_local - first : PIECE);
        head += piece.head;
        tail += piece.tail;
        outside += piece.not_finite;
    }
    /* Tails of many ranks could overflow: what they have above 32 bits goes to the head. */
    int64_t sum[3] = {head + (tail >> 32), tail & 0xFFFFFFFF, outside};
    ikt_sum_i64(ctx, sum, 3);
    if (sum[2] > 0) return NAN;
    return (ldexp((double)sum[0], 32) + (double)sum[1]) / units;
}
