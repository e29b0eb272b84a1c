/* clang-format off */
/* How far the rounding of |c|^2/2 - x.c can reach: the certificate of the float32 kernels.
 *
 * Let X = |x|^2, N_j = |c_j|^2, S_j = N_j/2 - x.c_j, so that |x - c_j|^2 = X + 2 S_j exactly. The
 * kernel starts from a_j = N_j/2 (1 - 2G), rounded to float32, and subtracts the products: s_j.
 * They are summed in B blocks of at most b dimensions, in which no term meets more than b
 * additions, and a multiplication's rounding of its own where it is not fused; the blocks are then
 * added up. With m = b + B + 1, u = 2^-24 and gamma_m = m u / (1 - m u) (Higham, Accuracy and
 * Stability of Numerical Algorithms, section 3.1),
 *   |s_j - (a_j - x.c_j)| <= gamma_m (a_j + sum_k |x_k c_jk|) <= gamma_m (N_j + X/2),
 * as sum |x_k c_jk| <= (X + N_j)/2. With G = gamma_m + u it follows that
 *   S_j >= s_j - G X/2             for every j: the start was lowered by just what N_j costs,
 *   S_j <= s_j + G X/2 + 2 G N_j   wanted only for the apparent winner b.
 * The definition's D_j obeys |D_j - (X + 2 S_j)| <= g (X + 2 S_j) with g = gamma_{d+2}, so j cannot
 * have D_j <= D_b when S_j - S_b > (X + 2 S_b) g / (1 - g). Together: a centre whose s_j exceeds
 *   s_b + G X + 2 G N_b + (X + 2 s_b + 4 G N_b + G X) g / (1 - g)
 * cannot be the nearest. Subnormal results add at most 2^-150 an operation, far below `tiny` here.
 * Advantage over a bound with the largest norm: one far centre does not put all rows in doubt.
 */
/* clang-format on */
#ifndef IKT_ISOLATION_KERNEL_F32_BOUND_H
#define IKT_ISOLATION_KERNEL_F32_BOUND_H

#include <math.h>
#include <stdint.h>

/* gamma_m in double, a little enlarged; infinite where the bound means nothing. */
static inline double rounding_gamma(int64_t m) {
    double mu = (double)m * 0x1p-24;
    return mu < 0.25 ? 1.001 * mu / (1 - mu) : (double)INFINITY;
}

/* Blocks of dimensions and their size: equal parts of at most 128, whose centres (three vectors)
 * stay in the first-level cache and whose sums are short enough to be accurate. */
static inline int64_t depth_blocks(int64_t d) {
    return (d + 127) / 128;
}

static inline int64_t depth_of(int64_t d) {
    return (d + depth_blocks(d) - 1) / depth_blocks(d);
}

/* G above. */
static inline double start_gamma(int64_t d) {
    return rounding_gamma(depth_of(d) + depth_blocks(d) + 1) + 0x1p-24;
}

/* Norms above this could overflow float32 on the way; such rows go straight to the definition. */
static const double largest_safe_norm = 1e36;

/* What of the bound depends on d alone. */
typedef struct {
    double start;      /* G */
    double definition; /* g / (1 - g) */
    double tiny;
} rounding;

static inline rounding rounding_of(int64_t d) {
    double g = rounding_gamma(d + 2);
    return (rounding){start_gamma(d), g / (1 - g), (double)(d + 4) * 0x1p-146};
}

/* The value beyond which s_j cannot be that of the nearest centre, rounded up. */
static inline float nearest_bound(rounding round, double x_norm, double winner_norm, float winner) {
    double value = (double)winner;
    double reach = round.start * (x_norm + 2 * winner_norm) + 2 * round.tiny;
    double distance = x_norm + 2 * (value + reach);
    if (distance < 0) distance = 0;
    double bound = value + 1.01 * (reach + distance * round.definition) + round.tiny;
    return (float)(bound + fabs(bound) * 0x1p-22);
}

/* --- Manhattan distances ----------------------------------------------------------------------
 *
 * Let X = sum |x_k|, N_j = sum |c_jk| and S_j = N_j - sum of what the columns that both have make
 * the distance shorter, |x_k| + |c_jk| - |x_k - c_jk|, so that the distance is X + S_j exactly. A
 * value s_j that starts from N_j (1 - G) and is off by at most G N_j obeys
 *   S_j >= s_j and S_j <= s_j + 2 G N_j,
 * and the definition |D_j - (X + S_j)| <= g (X + S_j). */

/* The value beyond which s_j cannot be that of the nearest centre by Manhattan distances. */
static inline float nearest_bound_manhattan(rounding round, double x_length, double winner_length,
                                            float winner) {
    const double reach = 2 * round.start * winner_length + 2 * round.tiny;
    const double distance = fmax(0, x_length + (double)winner + reach);
    const double bound =
        (double)winner + 1.01 * (reach + 2 * distance * round.definition) + round.tiny;
    return (float)(bound + fabs(bound) * 0x1p-22);
}

#endif
