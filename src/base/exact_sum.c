/* Order-free sums: a superaccumulator of 32-bit digits in 64-bit integers. See exact_sum.h. */
#include "base/exact_sum.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/context.h"

/* Each addition changes a digit by less than 2^32, so 2^30 of them stay far below 2^63. */
static const int64_t additions_max = (int64_t)1 << 30;

enum { LOWEST_EXPONENT = -1088 }; /* of digit 0; below the smallest subnormal, 2^-1074 */

/* Moves what exceeds 32 bits of each digit to the next: digits become 0 .. 2^32-1, the top signed.
 */
static void carry(ikt_exact_sum *sum) {
    int64_t over = 0;
    for (int i = 0; i < IKT_EXACT_SUM_DIGITS - 1; i++) {
        int64_t digit = sum->digit[i] + over;
        over = digit >> 32; /* arithmetic shift: floor */
        sum->digit[i] = digit - over * ((int64_t)1 << 32);
    }
    sum->digit[IKT_EXACT_SUM_DIGITS - 1] += over;
    sum->additions = 1;
}

void ikt_exact_sum_add(ikt_exact_sum *sum, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7FF);
    uint64_t mantissa = bits & 0xFFFFFFFFFFFFFu;
    if (exponent == 0x7FF) {
        sum->not_finite++;
        return;
    }
    if (exponent > 0)
        mantissa |= (uint64_t)1 << 52;
    else
        exponent = 1;
    int shift = exponent - 1075 - LOWEST_EXPONENT; /* value = mantissa * 2^(exponent - 1075) */
    int first = shift / 32, offset = shift % 32;
    uint64_t lower = mantissa << offset; /* may lose high bits, which `upper` holds */
    uint64_t upper = mantissa >> 1 >> (63 - offset);
    int64_t sign = (bits >> 63) ? -1 : 1;
    int64_t *digit = sum->digit + first;
    digit[0] += sign * (int64_t)(lower & 0xFFFFFFFFu);
    digit[1] += sign * (int64_t)(lower >> 32);
    digit[2] += sign * (int64_t)upper;
    if (++sum->additions >= additions_max) carry(sum);
}

void ikt_exact_sum_add_array(ikt_exact_sum *sum, const double *values, int64_t count,
                             int64_t stride) {
    for (int64_t i = 0; i < count; i++)
        ikt_exact_sum_add(sum, values[i * stride]);
}

void ikt_exact_sum_merge(ikt_exact_sum *sum, const ikt_exact_sum *other) {
    ikt_exact_sum copy = *other;
    carry(sum);
    carry(&copy);
    for (int i = 0; i < IKT_EXACT_SUM_DIGITS; i++)
        sum->digit[i] += copy.digit[i];
    sum->additions += copy.additions;
    sum->not_finite += copy.not_finite;
}

double ikt_exact_sum_value(const ikt_exact_sum *sum) {
    if (sum->not_finite > 0) return NAN;
    ikt_exact_sum copy = *sum;
    carry(&copy);
    int negative = copy.digit[IKT_EXACT_SUM_DIGITS - 1] < 0;
    if (negative) {
        for (int i = 0; i < IKT_EXACT_SUM_DIGITS; i++)
            copy.digit[i] = -copy.digit[i];
        carry(&copy);
    }
    int top = IKT_EXACT_SUM_DIGITS - 1;
    while (top > 0 && copy.digit[top] == 0)
        top--;
    /* Three digits hold at least 65 bits: the rest only decides ties, as a sticky last bit. */
    int64_t sticky = 0;
    for (int i = 0; i < top - 2; i++)
        sticky |= copy.digit[i];
    int low = top >= 2 ? top - 2 : 0;
    __extension__ typedef unsigned __int128 wide;
    wide head = 0;
    for (int i = top; i >= low; i--)
        head = head << 32 | (wide)(uint64_t)copy.digit[i];
    int drop = 0;
    while (head >> drop >= (wide)1 << 62)
        drop++; /* leaves 62 bits, room for the sticky bit */
    wide kept = head >> drop << 1;
    if (sticky || (kept >> 1) << drop != head) kept |= 1;
    double value = ldexp((double)(uint64_t)kept, 32 * low + LOWEST_EXPONENT + drop - 1);
    return negative ? -value : value;
}

void ikt_exact_sum_reduce(ikt_context *ctx, ikt_exact_sum *sums, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        carry(&sums[i]);
    ikt_sum_i64(ctx, (int64_t *)(void *)sums,
                count * (int64_t)(sizeof(ikt_exact_sum) / sizeof(int64_t)));
}

double ikt_exact_total(ikt_context *ctx, const double *values, int64_t count) {
    ikt_exact_sum sum = {{0}, 0, 0};
    ikt_exact_sum_add_array(&sum, values, count, 1);
    ikt_exact_sum_reduce(ctx, &sum, 1);
    return ikt_exact_sum_value(&sum);
}
