/* Values of rows and centres as bytes. See near_bytes.h, chosen_rows.h. */
#include "metric/near_bytes.h"

#include "base/lanes_bytes.h"
#include "metric/chosen_rows.h"

LANES_INLINE void bytes_score_group(const int32_t *const x[BLOCK_ROWS],
                                    const ikt_near_bytes *centres, int64_t number,
                                    const int vectors, const form of, float *out, int64_t stride) {
    const int64_t bytes = centres->words - 1, step = (bytes + IKT_BYTES_HEAD) * LANES;
    const int32_t *head = centres->word + number * step, *c = head + IKT_BYTES_HEAD * LANES;
    ints sum[BLOCK_ROWS][BLOCK_VECTORS];
    (void)of; /* products: there are no others */
    EACH_ROW(r)
    for (int v = 0; v < vectors; v++)
        sum[r][v] = ints_set(0);
    for (int64_t w = 1; w <= bytes; w++, c += LANES) {
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

const ikt_near_bytes_kernel IKT_KERNEL(ikt_near_bytes_kernel) = {
    .score_chosen = bytes_score_chosen};
