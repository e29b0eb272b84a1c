/* Draws of the whole kernel. See whole_draw.h. */
#include "objective/whole_draw.h"

#include "affinity/whole.h"
#include "base/rng.h"
#include "kernelsum/pairs.h"

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

/* --- all pairs of a block, in lanes ----------------------------------------------------------- */

enum {
    GROUP = 2, /* vectors of rows that go together, so that what passes by is loaded once */
    CHUNK = 128
};

typedef struct {
    vector at[IKT_DIMENSIONS_MOST], share;
} lane_rows;

typedef struct {
    vector along[IKT_DIMENSIONS_MOST];
} lane_sums;

LANES_INLINE void add_row(const ikt_whole_block *b, int q, pair_form form, int64_t j,
                          const lane_rows *own, lane_sums *sums) {
    vector d[IKT_DIMENSIONS_MOST], far, weight = own->share + b->share[j];
    for (int c = 0; c < q; c++) {
        d[c] = own->at[c] - b->at[c][j];
        far = c == 0 ? d[0] * d[0] : far + d[c] * d[c];
    }
    if (form.kind == IKT_KERNEL_TAILED) far *= form.inverse;
    if (form.kind != IKT_KERNEL_GAUSSIAN) weight /= 1.0f + far;
    for (int c = 0; c < q; c++)
        sums->along[c] += weight * d[c];
}

/* The rows first .. first + 16 group - 1 against all. */
LANES_INLINE void sum_group(const ikt_whole_block *b, int q, pair_form form, int group,
                            int64_t first) {
    lane_rows own[GROUP];
    pair_wide wide[GROUP][IKT_DIMENSIONS_MOST];
    for (int k = 0; k < group; k++) {
        for (int c = 0; c < q; c++)
            memcpy(&own[k].at[c], b->at[c] + first + k * LANES, sizeof own[k].at[c]);
        memcpy(&own[k].share, b->share + first + k * LANES, sizeof own[k].share);
    }
    memset(wide, 0, sizeof wide);
    for (int64_t from = 0; from < b->rows; from += CHUNK) {
        const int64_t to = from + CHUNK < b->rows ? from + CHUNK : b->rows;
        lane_sums sums[GROUP];
        memset(sums, 0, sizeof sums);
        for (int64_t j = from; j < to; j++)
            for (int k = 0; k < group; k++)
                add_row(b, q, form, j, &own[k], &sums[k]);
        for (int k = 0; k < group; k++)
            for (int c = 0; c < q; c++) {
                float *force = b->force[c] + first + k * LANES;
                if (b->rows <= CHUNK) {
                    memcpy(force, &sums[k].along[c], sizeof sums[k].along[c]);
                    continue;
                }
                pair_widen(&sums[k].along[c], &wide[k][c]);
                const pair_half_float low =
                    __builtin_convertvector(wide[k][c].low, pair_half_float);
                const pair_half_float high =
                    __builtin_convertvector(wide[k][c].high, pair_half_float);
                memcpy(force, &low, sizeof low);
                memcpy(force + LANES / 2, &high, sizeof high);
            }
    }
}

LANES_INLINE void sum_rows(const ikt_whole_block *b, int q, pair_form form, int group) {
    int64_t first = 0;
    for (; group > 1 && first + LANES < b->rows; first += group * LANES)
        sum_group(b, q, form, group, first);
    for (; first < b->rows; first += LANES)
        sum_group(b, q, form, 1, first);
}

LANES_INLINE void sum_form(const ikt_whole_block *b, int q, int group) {
    const pair_form form = pair_form_of(b->kernel);
    if (form.kind == IKT_KERNEL_STUDENT)
        sum_rows(b, q, (pair_form){IKT_KERNEL_STUDENT, 1, 1}, group);
    else if (form.kind == IKT_KERNEL_GAUSSIAN)
        sum_rows(b, q, (pair_form){IKT_KERNEL_GAUSSIAN, 1, 1}, group);
    else
        sum_rows(b, q, (pair_form){IKT_KERNEL_TAILED, 1, form.inverse}, group);
}

LANES_INLINE void sum_any(const ikt_whole_block *b, int group) {
    if (b->q == 1)
        sum_form(b, 1, group);
    else if (b->q == 2)
        sum_form(b, 2, group);
    else
        sum_form(b, 3, group);
}

IKT_FOR_EACH_ISA(sum_single, sum_any, (const ikt_whole_block *b), (b, 1))
IKT_FOR_EACH_ISA(sum_grouped, sum_any, (const ikt_whole_block *b), (b, GROUP))

/* Registers of four or eight lanes do not hold the sums of more than one vector of sixteen. */
void ikt_whole_block_sum(ikt_isa isa, const ikt_whole_block *block) {
    if (isa >= IKT_ISA_AVX512)
        sum_grouped(isa)(block);
    else
        sum_single(isa)(block);
}
