/* Values of rows that are chosen one by one, compiled once for each instruction set: part of
 * kernel_body.h.
 *
 * Method: the registers hold the sums of some rows and vectors of centres, as there, but the rows
 * are read from wherever they stand side by side. Advantage: rows that want the same centres need
 * not be brought together first. Disadvantage: one register more for each row's address. */
#ifndef IKT_ISOLATION_KERNEL_CHOSEN_H
#define IKT_ISOLATION_KERNEL_CHOSEN_H

/* Where the rows of a group begin; the last chosen one fills the group up. */
LANES_KERNEL void find_chosen(const int32_t *x[BLOCK_ROWS], const void *word, int64_t words,
                              const uint32_t *row, int64_t left) {
    for (int64_t r = 0; r < BLOCK_ROWS; r++)
        x[r] = (const int32_t *)word + (int64_t)row[r < left ? r : left - 1] * words;
}

LANES_KERNEL void u8_score_group(const int32_t *const x[BLOCK_ROWS], const ikt_centres *centres,
                                 int64_t number, const int vectors, const form of, int32_t *out,
                                 int64_t stride) {
    const int64_t words = centres->words, step = words * LANES;
    const int32_t *c = (const int32_t *)centres->word + number * step;
    const int32_t *start = (const int32_t *)centres->start + number * LANES;
    dots sum;
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        sum[r][v] = ints_set(0);
    for (int64_t w = 0; w < words; w++, c += LANES) {
        ints centre[BLOCK_VECTORS];
        for (int v = 0; v < vectors; v++)
            centre[v] = ints_load(c + v * step);
        EACH_ROW(r) {
            ints row = ints_set(x[r][w]);
            for (int v = 0; v < vectors; v++)
                sum[r][v] = of == GAPS ? ints_add_gaps(sum[r][v], row, centre[v])
                                       : ints_add_products(sum[r][v], row, centre[v]);
        }
    }
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        ints_store(out + r * stride + v * LANES,
                   u8_value(ints_load(start + v * LANES), sum[r][v], of));
}

#if !defined(LANES_VNNI)
LANES_KERNEL void f32_score_group(const int32_t *const from[BLOCK_ROWS], const ikt_centres *centres,
                                  int64_t number, const int vectors, const form of, float *out,
                                  int64_t stride) {
    const int64_t words = centres->words, step = words * LANES;
    const float *c = (const float *)centres->word + number * step;
    const float *start =
        (of == GAPS ? centres->bias : (const float *)centres->start) + number * LANES;
    const float *x[BLOCK_ROWS];
    sums sum;
    EACH_ROW(r) {
        x[r] = (const float *)(const void *)from[r];
        for (int v = 0; v < vectors; v++)
            sum[r][v] = floats_load(start + v * LANES);
    }
    for (int64_t w = 0; w < words; w++, c += LANES) {
        floats centre[BLOCK_VECTORS];
        for (int v = 0; v < vectors; v++)
            centre[v] = floats_load(c + v * step);
        EACH_ROW(r) {
            floats row = floats_set(x[r][w]);
            for (int v = 0; v < vectors; v++)
                sum[r][v] = of == GAPS ? floats_add_gap(row, centre[v], sum[r][v])
                                       : floats_minus_product(row, centre[v], sum[r][v]);
        }
    }
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        floats_store(out + r * stride + v * LANES, sum[r][v]);
}
#endif

/* The score_chosen of one type: panel after panel of centres, so that a panel is in the first-level
 * cache for all rows. */
#define SCORE_CHOSEN(name, type, element, of)                                                      \
    static TARGET void name(const void *word, const uint32_t *row, int64_t count,                  \
                            const ikt_centres *centres, int64_t first, int64_t end, void *out,     \
                            int64_t stride) {                                                      \
        for (int64_t number = first, left = end - first; left > 0; left = end - number) {          \
            const int vectors = panel_vectors(left);                                               \
            element *to = (element *)out + (number - first) * LANES;                               \
            for (int64_t r = 0; r < count; r += BLOCK_ROWS, to += BLOCK_ROWS * stride) {           \
                const int32_t *x[BLOCK_ROWS];                                                      \
                find_chosen(x, word, centres->words, row + r, count - r);                          \
                if (vectors == 1)                                                                  \
                    type##_score_group(x, centres, number, 1, of, to, stride);                     \
                else if (vectors == 2)                                                             \
                    type##_score_group(x, centres, number, BLOCK_VECTORS > 1 ? 2 : 1, of, to,      \
                                       stride);                                                    \
                else                                                                               \
                    type##_score_group(x, centres, number, BLOCK_VECTORS, of, to, stride);         \
            }                                                                                      \
            number += vectors;                                                                     \
        }                                                                                          \
    }

SCORE_CHOSEN(u8_score_chosen, u8, int32_t, PRODUCTS)
SCORE_CHOSEN(u8_l1_score_chosen, u8, int32_t, GAPS)
#if !defined(LANES_VNNI)
SCORE_CHOSEN(f32_score_chosen, f32, float, PRODUCTS)
SCORE_CHOSEN(f32_l1_score_chosen, f32, float, GAPS)
#endif

#endif
