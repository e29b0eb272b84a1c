/* The k best of a stream of (score, row): a binary heap with the worst on top.
 *
 * The order by (score, row) is total, so what is kept does not depend on the order of offers. */
#include <math.h>

#include "neighbours/neighbours.h"

static int worse(float a_score, uint32_t a_row, float b_score, uint32_t b_row) {
    return a_score > b_score || (a_score == b_score && a_row > b_row);
}

/* Lets the pair sink from entry `hole` of a heap of `count` entries to its place. */
static void sink(float *score, uint32_t *row, int64_t count, int64_t hole, float new_score,
                 uint32_t new_row) {
    for (;;) {
        int64_t child = 2 * hole + 1;
        if (child >= count) break;
        if (child + 1 < count && worse(score[child + 1], row[child + 1], score[child], row[child]))
            child++;
        if (!worse(score[child], row[child], new_score, new_row)) break;
        score[hole] = score[child];
        row[hole] = row[child];
        hole = child;
    }
    score[hole] = new_score;
    row[hole] = new_row;
}

void ikt_best_clear(float *score, uint32_t *row, int64_t k) {
    for (int64_t i = 0; i < k; i++) {
        score[i] = INFINITY;
        row[i] = UINT32_MAX;
    }
}

void ikt_best_offer(float *score, uint32_t *row, int64_t k, float new_score, uint32_t new_row) {
    if (worse(score[0], row[0], new_score, new_row)) sink(score, row, k, 0, new_score, new_row);
}

/* Most scores lose against the worst that is kept: a vector of them is compared at once, and looked
 * at one by one only where one wins. */
void ikt_best_offer_row(float *best, uint32_t *row, int64_t k, int64_t own, int64_t first,
                        int64_t nb, const float *score) {
    enum { STEP = 16 };
    for (int64_t b = 0; b < nb; b += STEP) {
        int wins = 0;
        float worst = best[0];
        for (int64_t l = 0; l < STEP; l++)
            wins |= score[b + l] <= worst;
        if (!wins) continue;
        for (int64_t l = b; l < b + STEP && l < nb; l++)
            if (score[l] <= best[0] && first + l != own)
                ikt_best_offer(best, row, k, score[l], (uint32_t)(first + l));
    }
}

void ikt_best_sort(float *score, uint32_t *row, int64_t k) {
    for (int64_t hole = k / 2 - 1; hole >= 0; hole--) /* does nothing where it is a heap already */
        sink(score, row, k, hole, score[hole], row[hole]);
    for (int64_t last = k - 1; last > 0; last--) {
        float worst_score = score[0];
        uint32_t worst_row = row[0];
        sink(score, row, last, 0, score[last], row[last]);
        score[last] = worst_score;
        row[last] = worst_row;
    }
}

void ikt_best_reverse(float *score, uint32_t *row, int64_t k) {
    for (int64_t i = 0, j = k - 1; i < j; i++, j--) {
        float s = score[i];
        uint32_t r = row[i];
        score[i] = score[j];
        row[i] = row[j];
        score[j] = s;
        row[j] = r;
    }
}
