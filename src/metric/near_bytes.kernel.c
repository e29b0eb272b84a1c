/* Values of rows and centres as bytes. See near_bytes.h, chosen_rows.h. */
#include "metric/near_bytes.h"

#include <string.h>

#include "base/lanes_bytes.h"
#include "metric/chosen_rows.h"

LANES_INLINE void bytes_score_group(const int32_t *const x[BLOCK_ROWS],
                                    const ikt_near_bytes *centres, int64_t number,
                                    const int vectors, const form of, float *out, int64_t stride) {
    const int64_t words = centres->words, step = words * LANES;
    const int32_t *head = centres->word + number * step, *c = head + IKT_BYTES_HEAD * LANES;
    ints sum[BLOCK_ROWS][BLOCK_VECTORS];
    (void)of; /* products: there are no others */
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        sum[r][v] = ints_set(0);
    for (int64_t w = IKT_BYTES_HEAD; w < words; w++, c += LANES) {
        ints centre[BLOCK_VECTORS];
        for (int v = 0; v < vectors; v++)
            centre[v] = ints_load(c + v * step);
        EACH_ROW(r) {
            ints row = ints_set(x[r][w]);
            for (int v = 0; v < vectors; v++)
                sum[r][v] = ints_add_bytes(sum[r][v], row, centre[v]);
        }
    }
    for (int v = 0; v < vectors; v++, head += step) {
        const floats half = floats_load((const float *)(const void *)head);
        const floats size = floats_load((const float *)(const void *)(head + LANES));
        const ints middle = ints_load(head + 2 * LANES);
        EACH_ROW(r) {
            float row_step;
            memcpy(&row_step, x[r], sizeof row_step);
            const floats both = floats_mul(floats_set(row_step), size);
            const floats product = floats_mul(both, ints_as_floats(ints_sub(sum[r][v], middle)));
            floats_store(out + r * stride + v * LANES, floats_sub(half, product));
        }
    }
}

SCORE_CHOSEN(bytes_score_chosen, ikt_near_bytes, bytes_score_group, float, PRODUCTS)

/* The sum of products of the bytes of two rows. */
LANES_INLINE int32_t multiply_bytes(const int32_t *a, const int32_t *b, int64_t words) {
    ints sum = ints_set(0);
    int64_t w = 0;
    for (; w + LANES <= words; w += LANES)
        sum = ints_add_bytes(sum, ints_load(a + w), ints_load(b + w));
    if (w < words) {
        int32_t rest[2][LANES] = {{0}, {0}};
        for (int64_t l = 0; w + l < words; l++) {
            rest[0][l] = a[w + l];
            rest[1][l] = b[w + l];
        }
        sum = ints_add_bytes(sum, ints_load(rest[0]), ints_load(rest[1]));
    }
    return ints_total(sum);
}

/* What the values of two rows for each other have in common: both steps times the sum of products
 * of their numbers of steps. */
static inline float common_part(const int32_t *a, const int32_t *b, int32_t sum, int64_t d) {
    enum { MIDDLE = IKT_BYTES_MIDDLE };
    float size[2];
    memcpy(&size[0], a, sizeof *size);
    memcpy(&size[1], b, sizeof *size);
    /* Both rows' bytes are off by the middle. */
    const int64_t product = sum - MIDDLE * ((int64_t)a[2] + b[2]) - (int64_t)MIDDLE * MIDDLE * d;
    return size[0] * size[1] * (float)product;
}

static inline float half_of(const int32_t *row) {
    float half;
    memcpy(&half, row + 1, sizeof half);
    return half;
}

static void bytes_score_rows(const int32_t *row, const char *const *other, int64_t count, int64_t d,
                             float *out) {
    const int64_t words = ikt_near_bytes_words(d);
    for (int64_t e = 0; e < count; e++) {
        const int32_t *o = (const int32_t *)(const void *)other[e];
        const int32_t sum =
            multiply_bytes(row + IKT_BYTES_HEAD, o + IKT_BYTES_HEAD, words - IKT_BYTES_HEAD);
        out[e] = half_of(o) - common_part(row, o, sum, d);
    }
}

/* Sums of the products of the bytes of one row and of some that lie side by side. */
LANES_INLINE void multiply_some(const int32_t *a, const int32_t *some, int64_t words,
                                int32_t out[IKT_BYTES_PAIRS]) {
    ints sum[IKT_BYTES_PAIRS];
    for (int p = 0; p < IKT_BYTES_PAIRS; p++)
        sum[p] = ints_set(0);
    for (int64_t w = 0; w < words; w += LANES) {
        const ints own = ints_load(a + w);
        for (int p = 0; p < IKT_BYTES_PAIRS; p++)
            sum[p] = ints_add_bytes(sum[p], own, ints_load(some + p * words + w));
    }
    for (int p = 0; p < IKT_BYTES_PAIRS; p++)
        out[p] = ints_total(sum[p]);
}

/* The rows are brought side by side first, in whole vectors: each is read once from where it lies,
 * and used as often as there are others. */
static void bytes_score_pairs(const char *const *row, int64_t fresh, int64_t count, int64_t d,
                              int32_t *scratch, float *out, int64_t stride) {
    const int64_t used = ikt_near_bytes_words(d) - IKT_BYTES_HEAD;
    const int64_t words = (used + LANES - 1) / LANES * LANES;
    for (int64_t a = 0; a < count + IKT_BYTES_PAIRS; a++) {
        int32_t *own = scratch + a * words;
        const int64_t copied = a < count ? used : 0;
        if (a < count)
            memcpy(own, row[a] + IKT_BYTES_HEAD * sizeof *own, (size_t)used * sizeof *own);
        memset(own + copied, 0, (size_t)(words - copied) * sizeof *own);
    }
    for (int64_t a = 1; a < count; a++)
        for (int64_t b = 0; b < a && b < fresh; b += IKT_BYTES_PAIRS) {
            const int32_t *one = (const int32_t *)(const void *)row[a];
            int32_t sum[IKT_BYTES_PAIRS];
            multiply_some(scratch + a * words, scratch + b * words, words, sum);
            for (int64_t p = b; p < b + IKT_BYTES_PAIRS && p < a; p++) {
                const int32_t *other = (const int32_t *)(const void *)row[p];
                const float common = common_part(one, other, sum[p - b], d);
                out[a * stride + p] = half_of(other) - common;
                out[p * stride + a] = half_of(one) - common;
            }
        }
}

const ikt_near_bytes_kernel IKT_KERNEL(ikt_near_bytes_kernel) = {.score_chosen = bytes_score_chosen,
                                                                 .score_rows = bytes_score_rows,
                                                                 .score_pairs = bytes_score_pairs};
