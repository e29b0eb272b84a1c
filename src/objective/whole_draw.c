/* Draws of the whole kernel. See whole_draw.h. */
#include "objective/whole_draw.h"

#include "affinity/whole.h"
#include "base/rng.h"

const int32_t *ikt_whole_draw(const ikt_whole_sampling *s, int64_t iteration, int32_t *order,
                              int64_t *count) {
    const int64_t is_last = iteration >= s->last_from;
    const int64_t most = is_last ? s->last : s->usual;
    const int64_t steps = (s->t + most - 1) / most; /* of an epoch */
    const int64_t since = is_last ? iteration - s->last_from : iteration;
    const int64_t epoch = 2 * (since / steps) + is_last, step = since % steps;
    const int64_t first = step * s->t / steps, end = (step + 1) * s->t / steps;
    for (int64_t p = 0; p < s->t; p++)
        order[p] = (int32_t)p;
    for (int64_t p = s->t - 1; p > 0; p--) {
        const int64_t other = ikt_rng_below(s->seed, IKT_RNG_WHOLE, epoch, (uint64_t)p, p + 1);
        const int32_t moved = order[p];
        order[p] = order[other];
        order[other] = moved;
    }
    *count = end - first;
    return order + first;
}

int64_t ikt_whole_blocks(int64_t rows, int64_t block) {
    const int64_t wanted = (rows + block - 1) / block, most = rows / 2 > 1 ? rows / 2 : 1;
    return wanted < most ? wanted : most;
}

int64_t ikt_whole_block_first(int64_t rows, int64_t blocks, int64_t block) {
    return rows / blocks * block + rows % blocks * block / blocks;
}

float ikt_whole_block_scale(int64_t rows, int64_t in_block) {
    return in_block > 1 ? (float)((double)(rows - 1) / (double)(in_block - 1)) : 0;
}

double ikt_whole_step(const ikt_whole_sampling *s, int64_t iteration) {
    const double little = IKT_WHOLE_LITTLE_NOISE, least = s->noise > little ? little / s->noise : 1;
    const int64_t from = s->iterations * 3 / 5;
    if (iteration <= from || s->step < least) return s->step;
    const double done = (double)(iteration - from) / (double)(s->iterations - from);
    return s->step + (least - s->step) * (done < 1 ? done : 1);
}

void ikt_whole_shuffle(const ikt_whole_sampling *s, int64_t iteration, int64_t partitioning,
                       int64_t cell, uint32_t *member, int64_t rows) {
    const uint64_t key = ikt_rng_u64(s->seed, IKT_RNG_BLOCKS, iteration,
                                     (uint64_t)partitioning << 32 | (uint64_t)cell);
    for (int64_t i = rows - 1; i > 0; i--) {
        const int64_t other = ikt_rng_scale(ikt_rng_mix(key, (uint64_t)i), i + 1);
        const uint32_t moved = member[i];
        member[i] = member[other];
        member[other] = moved;
    }
}
