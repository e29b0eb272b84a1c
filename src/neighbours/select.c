/* The k best of many scores.
 *
 * Method: what is not above the worst of the k best known so far goes into a buffer of 4 k pairs;
 * when it is full, quickselect keeps the k best of it. Advantage: one comparison for most scores,
 * and a few operations for each of the others, where a heap moves log k pairs. Disadvantage: memory
 * for 4 k pairs a row. The order of pairs is total, so what is kept does not depend on the order of
 * offers. */
#include "neighbours/select.h"

#include <float.h>
#include <string.h>

#include "base/cpu.h"

enum { STEP = 16 }; /* scores that are compared at once */

static ikt_pair make_pair(float score, uint32_t row) {
    uint32_t bits; /* of a float that is not negative: ordered as the float */
    memcpy(&bits, &score, sizeof bits);
    return (ikt_pair)bits << 32 | row;
}

static float score_of(ikt_pair pair) {
    uint32_t bits = (uint32_t)(pair >> 32);
    float score;
    memcpy(&score, &bits, sizeof score);
    return score;
}

static ikt_pair median(ikt_pair a, ikt_pair b, ikt_pair c) {
    if (a > b) {
        ikt_pair swap = a;
        a = b;
        b = swap;
    }
    return c < a ? a : c > b ? b : c;
}

/* Brings the k smallest pairs to the front. All pairs are distinct. */
static void keep_smallest(ikt_pair *pair, int64_t count, int64_t k) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
        ikt_pair pivot = median(pair[low], pair[low + (high - low) / 2], pair[high]);
        int64_t i = low, j = high;
        while (i <= j) {
            while (pair[i] < pivot)
                i++;
            while (pair[j] > pivot)
                j--;
            if (i > j) break;
            ikt_pair swap = pair[i];
            pair[i++] = pair[j];
            pair[j--] = swap;
        }
        if (k - 1 <= j)
            high = j;
        else if (k - 1 >= i)
            low = i;
        else
            return;
    }
}

static void thin_out(ikt_select *s) {
    if (s->count <= s->k) return;
    keep_smallest(s->pair, s->count, s->k);
    s->count = s->k;
    s->limit = s->pair[0];
    for (int64_t e = 1; e < s->k; e++)
        if (s->pair[e] > s->limit) s->limit = s->pair[e];
}

void ikt_select_begin(ikt_select *s, int64_t k, ikt_pair *pair) {
    *s = (ikt_select){k, 0, UINT64_MAX, pair};
}

static void add(ikt_select *s, ikt_pair pair) {
    if (pair > s->limit) return;
    s->pair[s->count++] = pair;
    if (s->count == IKT_SELECT_ROOM * s->k) thin_out(s);
}

/* The first step from `b` on in which a score does not lose; nb or more when there is none. */
IKT_WIDEST_VECTORS
static int64_t next_win(const float *score, int64_t b, int64_t nb, float limit) {
    for (; b < nb; b += STEP) {
        int wins = 0;
        for (int64_t l = 0; l < STEP; l++)
            wins |= score[b + l] <= limit;
        if (wins) break;
    }
    return b;
}

void ikt_select_offer(ikt_select *s, int64_t own, int64_t first, int64_t nb, const float *score) {
    for (int64_t b = 0;; b += STEP) {
        const float limit = s->limit == UINT64_MAX ? FLT_MAX : score_of(s->limit);
        b = next_win(score, b, nb, limit);
        if (b >= nb) break;
        for (int64_t l = b; l < b + STEP && l < nb; l++)
            if (score[l] <= limit && first + l != own)
                add(s, make_pair(score[l], (uint32_t)(first + l)));
    }
}

void ikt_select_end(ikt_select *s, float *score, uint32_t *row) {
    thin_out(s);
    for (int64_t e = 0; e < s->count; e++) {
        score[e] = score_of(s->pair[e]);
        row[e] = (uint32_t)s->pair[e];
    }
}
