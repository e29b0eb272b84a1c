/* Sums of a few rows over all rows: the inner loop of everything that is summed over all pairs.
 *
 * Method: the rows run in global order in sixteen lanes of float; every 512 rows the lanes are
 * added to sixteen lanes of double, and those to each other in the end. Some own rows go together,
 * which share what is loaded. The division is a division, not an estimate with corrections, and
 * nothing is fused: the same bits on any vector width, however many rows go together.
 * Advantage: floats at their full rate, sums to 1e-7 for any n. Disadvantage: the division is half
 * of the time.
 *
 * Functions are inlined with constant dimensions, kernel and group into a function for each
 * instruction set. */
#ifndef IKT_KERNELSUM_PAIRS_H
#define IKT_KERNELSUM_PAIRS_H

#define LANE_WIDTH 16
#define LANES_GENERIC
#include "base/lanes.h"
#include "kernelsum/kernelsum.h"
#include "kernelsum/replica.h"

enum { PAIR_BLOCK = 512, PAIR_GROUP = 4 /* most rows that go together */ };

/* Beyond this a squared distance counts as this: so that 0 times it is 0, in the padding. */
static const float pair_far = 1e30f;

typedef double pair_half __attribute__((vector_size(LANES / 2 * sizeof(double))));
typedef float pair_half_float __attribute__((vector_size(LANES / 2 * sizeof(float))));

/* Sixteen lanes of double. */
typedef struct {
    pair_half low, high;
} pair_wide;

LANES_INLINE void pair_widen(const vector *lanes, pair_wide *sum) {
    pair_half_float part[2];
    memcpy(part, lanes, sizeof part);
    sum->low += __builtin_convertvector(part[0], pair_half);
    sum->high += __builtin_convertvector(part[1], pair_half);
}

LANES_INLINE double pair_total(const pair_wide *sum) {
    const pair_half s = sum->low + sum->high;
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* A kernel as lanes take it. */
typedef struct {
    ikt_kernel_kind kind; /* a constant where it is inlined */
    float alpha, inverse; /* of the tailed kernel, and 1 / alpha */
} pair_form;

LANES_INLINE pair_form pair_form_of(ikt_kernel kernel) {
    return (pair_form){kernel.kind, (float)kernel.alpha, (float)(1 / kernel.alpha)};
}

/* The tailed kernel as exp(-alpha log(1 + x)), x = r2 / alpha, and the kernel over 1 + x: to about
 * 1e-7 times the exponent. */
LANES_INLINE void pair_tailed(pair_form form, const vector *r2, vector *value, vector *slope) {
    const vector x = *r2 * form.inverse, v = 1.0f / (1.0f + x);
    vector finite = x; /* the padding is infinitely far */
    vector_cap(&finite, pair_far);
    const vector u = 1.0f + finite;
    vector l = u;
    vector_log(&l);
    l += (finite - (u - 1.0f)) * v; /* what the sum has lost of a small square */
    *value = (finite - x) - form.alpha * l;
    vector_exp(value);
    *slope = *value * v;
}

/* A kernel at a squared distance, and minus its derivative by the square: the gradient of the
 * kernel is -2 slope (y - y_j). */
LANES_INLINE void pair_kernel(pair_form form, const vector *r2, vector *value, vector *slope) {
    if (form.kind == IKT_KERNEL_TAILED) {
        pair_tailed(form, r2, value, slope);
        return;
    }
    if (form.kind == IKT_KERNEL_GAUSSIAN) {
        *value = -*r2;
        vector_exp(value);
        *slope = *value;
        return;
    }
    const vector w = 1.0f / (1.0f + *r2);
    *value = w;
    *slope = w * w;
    if (form.kind == IKT_KERNEL_STUDENT_LOG) {
        vector square = *r2; /* not infinite, as in the padding */
        vector_cap(&square, pair_far);
        const vector u = 1.0f + square;
        vector l = u; /* -log w */
        vector_log(&l);
        l += (square - (u - 1.0f)) * w; /* what the sum has lost of a small square */
        *value = -(w * l);
        *slope *= 1.0f - l;
    }
}

/* Sums of a row: of the kernel; of slope times the difference of positions, along each axis. */
typedef struct {
    vector value, along[IKT_DIMENSIONS_MOST];
} pair_lanes;
typedef struct {
    pair_wide value, along[IKT_DIMENSIONS_MOST];
} pair_sums;

/* One row at own[q] in `group` sets of charges, charge[k][j] that of row j in the k-th. */
LANES_INLINE void pair_block_charged(const float *const *at, const float *const *charge, int q,
                                     pair_form form, int group, const float *own, int64_t first,
                                     int64_t end, pair_lanes *lanes) {
    for (int64_t j = first; j < end; j += LANES) {
        vector d[IKT_DIMENSIONS_MOST], value, slope, r2 = {0};
        for (int c = 0; c < q; c++) {
            memcpy(&d[c], at[c] + j, sizeof d[c]);
            d[c] = own[c] - d[c];
            r2 = c == 0 ? d[c] * d[c] : r2 + d[c] * d[c];
        }
        pair_kernel(form, &r2, &value, &slope);
        for (int k = 0; k < group; k++) {
            vector amount;
            memcpy(&amount, charge[k] + j, sizeof amount);
            lanes[k].value += amount * value;
            for (int c = 0; c < q; c++)
                lanes[k].along[c] += amount * slope * d[c];
        }
    }
}

/* `group` rows at own[group * q], all charges 1. */
LANES_INLINE void pair_block(const float *const *at, int q, pair_form form, int group,
                             const float *own, int64_t first, int64_t end, pair_lanes *lanes) {
    for (int64_t j = first; j < end; j += LANES) {
        vector other[IKT_DIMENSIONS_MOST];
        for (int c = 0; c < q; c++)
            memcpy(&other[c], at[c] + j, sizeof other[c]);
        for (int i = 0; i < group; i++) {
            vector d[IKT_DIMENSIONS_MOST], value, slope;
            vector r2 = {0};
            for (int c = 0; c < q; c++) {
                d[c] = own[q * i + c] - other[c];
                r2 = c == 0 ? d[c] * d[c] : r2 + d[c] * d[c];
            }
            pair_kernel(form, &r2, &value, &slope);
            lanes[i].value += value;
            for (int c = 0; c < q; c++)
                lanes[i].along[c] += slope * d[c];
        }
    }
}

/* Adds to the sums of `group` rows at own[group * q], or of one row in `group` sets of charges,
 * those over the rows first .. last - 1, multiples of 16, of `at`.
 *   charge   [group][last] charges of these rows; NULL: each has a charge of 1 */
LANES_INLINE void pair_add(const float *const *at, const float *const *charge, int64_t first,
                           int64_t last, int q, pair_form form, int group, const float *own,
                           pair_sums *sums) {
    for (int64_t block = first; block < last; block += PAIR_BLOCK) {
        const int64_t end = block + PAIR_BLOCK < last ? block + PAIR_BLOCK : last;
        pair_lanes lanes[PAIR_GROUP];
        memset(lanes, 0, (size_t)group * sizeof *lanes);
        if (charge)
            pair_block_charged(at, charge, q, form, group, own, block, end, lanes);
        else
            pair_block(at, q, form, group, own, block, end, lanes);
        for (int i = 0; i < group; i++) {
            pair_widen(&lanes[i].value, &sums[i].value);
            for (int c = 0; c < q; c++)
                pair_widen(&lanes[i].along[c], &sums[i].along[c]);
        }
    }
}

#endif
