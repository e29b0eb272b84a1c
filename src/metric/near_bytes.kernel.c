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

static void bytes_score_rows(const int32_t *row, const char *const *other, int64_t count, int64_t d,
                             float *out) {
    enum { MIDDLE = IKT_BYTES_MIDDLE };
    const int64_t words = ikt_near_bytes_words(d);
    float size[2], half;
    memcpy(&size[0], row, sizeof *size);
    for (int64_t e = 0; e < count; e++) {
        const int32_t *o = (const int32_t *)(const void *)other[e];
        const int32_t sum =
            multiply_bytes(row + IKT_BYTES_HEAD, o + IKT_BYTES_HEAD, words - IKT_BYTES_HEAD);
        /* Both rows' bytes are off by the middle. */
        const int64_t product =
            sum - MIDDLE * ((int64_t)row[2] + o[2]) - (int64_t)MIDDLE * MIDDLE * d;
        memcpy(&size[1], o, sizeof *size);
        memcpy(&half, o + 1, sizeof half);
        out[e] = half - size[0] * size[1] * (float)product;
    }
}

const ikt_near_bytes_kernel IKT_KERNEL(ikt_near_bytes_kernel) = {.score_chosen = bytes_score_chosen,
                                                                 .score_rows = bytes_score_rows};
