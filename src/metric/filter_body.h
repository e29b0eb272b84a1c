/* Scores of quantised rows, and what is kept of them: the text of the kernels, compiled once for
 * each instruction set (LANE_WIDTH, see base/lanes.h).
 *
 * Method: the scores of eight own rows (AVX-512) and three vectors of candidates are summed in
 * registers, from half the candidates' squared lengths on, and compared with the limits of the rows
 * without being stored. Advantage: the multipliers are the limit, and a comparison for every
 * sixteen scores is all that selecting costs a score that is out. */
#include "base/lanes.h"
#include "metric/filter.h"

enum {
    BLOCK_ROWS = LANE_WIDTH == 16  ? 8
                 : LANE_WIDTH == 8 ? 4
                                   : 2,
    BLOCK_VECTORS = LANE_WIDTH == 16 ? 3 : 1
};

#define EACH_ROW(r)    LANES_UNROLL for (int r = 0; r < BLOCK_ROWS; r++)
#define EACH_VECTOR(v) LANES_UNROLL for (int v = 0; v < vectors; v++)

/* --- the buffer of a row ---------------------------------------------------------------------- */

/* Appends the lanes of a mask, with their numbers from `first` on. Up to sixteen places are written
 * in any case. */
LANES_KERNEL void append(ikt_filter_row *row, uint32_t mask, const int32_t *score, uint32_t first) {
    int32_t *to = row->score + row->count;
    uint32_t *number = row->number + row->count;
    row->count += __builtin_popcount(mask);
#if LANE_WIDTH == 16
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i numbers = _mm512_add_epi32(_mm512_set1_epi32((int32_t)first), lanes);
    const __m512i scores = _mm512_loadu_si512(score);
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32((__mmask16)mask, scores));
    _mm512_storeu_si512(number, _mm512_maskz_compress_epi32((__mmask16)mask, numbers));
#else
    for (; mask; mask &= mask - 1) {
        const int l = __builtin_ctz(mask);
        *to++ = score[l];
        *number++ = first + (uint32_t)l;
    }
#endif
}

LANES_KERNEL int64_t count_at_most(const ikt_filter_row *row, int32_t limit) {
    int64_t count = 0;
    for (int64_t e = 0; e < row->count; e += LANES)
        count += __builtin_popcount(ints_at_most(ints_load(row->score + e), limit));
    return count;
}

/* The keep-th least score, or one with up to `spare` more candidates up to it, by halving. */
LANES_KERNEL int32_t find_score(const ikt_filter *f, const ikt_filter_row *row, int64_t spare) {
    int64_t low = INT32_MAX, high = INT32_MIN;
    for (int64_t e = 0; e < row->count; e++) {
        low = row->score[e] < low ? row->score[e] : low;
        high = row->score[e] > high ? row->score[e] : high;
    }
    for (low--; high - low > 1;) {
        const int64_t middle = low + (high - low) / 2;
        const int64_t count = count_at_most(row, (int32_t)middle);
        if (count >= f->keep)
            high = middle;
        else
            low = middle;
        if (count >= f->keep && count <= f->keep + spare) break;
    }
    return (int32_t)high;
}

/* Lanes behind the last candidate hold the largest integer, so that they count for nothing. */
static TARGET void thin(const ikt_filter *f, ikt_filter_row *row, int64_t spare) {
    const int32_t count = row->count;
    ints_store(row->score + count, ints_set(INT32_MAX));
    const int32_t limit = ikt_filter_limit(f, row, find_score(f, row, spare));
    if (limit < row->limit) row->limit = limit;
    row->count = 0;
    for (int32_t e = 0; e < count; e++) {
        row->score[row->count] = row->score[e];
        row->number[row->count] = row->number[e];
        row->count += row->score[e] <= row->limit;
    }
    if (row->count <= f->capacity - f->keep - IKT_FILTER_APPENDED) return;
    row->undecided = true;
    row->limit = INT32_MIN;
    row->count = 0;
}

/* --- scores ----------------------------------------------------------------------------------- */

/* Where a panel of candidates stands. */
typedef struct {
    const int32_t *packed; /* its first group */
    uint32_t number;       /* of its first candidate */
    int64_t from, end;     /* candidates that count, from its first one on */
} panel;

/* Bits of the lanes that count in vector v of the panel. */
LANES_KERNEL uint32_t counting(const panel *p, int v) {
    const int64_t from = p->from - v * LANES, end = p->end - v * LANES;
    const uint32_t below = from <= 0 ? 0 : from >= LANES ? 0xFFFFu : (UINT32_C(1) << from) - 1;
    const uint32_t above = end <= 0 ? 0 : end >= LANES ? 0xFFFFu : (UINT32_C(1) << end) - 1;
    return above & ~below;
}

typedef ints scores[BLOCK_ROWS][BLOCK_VECTORS];

LANES_KERNEL void keep_scores(ikt_filter *f, int64_t first_row, const panel *p, scores sum,
                              const int vectors) {
    EACH_ROW(r) {
        ikt_filter_row *row = &f->row[first_row + r];
        uint32_t mask[BLOCK_VECTORS], any = 0;
        EACH_VECTOR(v) any |= mask[v] = ints_at_most(sum[r][v], row->limit);
        if (any) {
            EACH_VECTOR(v) {
                int32_t score[LANES];
                mask[v] &= counting(p, v);
                if (!mask[v]) continue;
                ints_store(score, sum[r][v]);
                append(row, mask[v], score, p->number + (uint32_t)(v * LANES));
            }
            if (row->count > f->capacity - IKT_FILTER_APPENDED) thin(f, row, f->keep / 8);
        }
    }
}

/* Own rows first .. first + BLOCK_ROWS - 1 against a panel. */
LANES_KERNEL void score_panel(ikt_filter *f, int64_t first_row, const panel *p, const int vectors) {
    const int64_t words = f->quantiser->words, stride = (1 + words) * LANES;
    const int32_t *x = f->own + first_row / IKT_FILTER_GROUP * IKT_FILTER_GROUP * words +
                       first_row % IKT_FILTER_GROUP;
    const int32_t *c = p->packed;
    scores sum;
    EACH_VECTOR(v) {
        const ints half = ints_load(c + v * stride);
        EACH_ROW(r) sum[r][v] = half;
    }
    for (int64_t w = 0; w < words; w++, x += IKT_FILTER_GROUP) {
        ints candidate[BLOCK_VECTORS];
        c += LANES;
        EACH_VECTOR(v) candidate[v] = ints_load(c + v * stride);
        EACH_ROW(r) {
            const ints own = ints_set(x[r]);
            EACH_VECTOR(v) sum[r][v] = ints_add_halves(sum[r][v], own, candidate[v]);
        }
    }
    keep_scores(f, first_row, p, sum, vectors);
}

LANES_KERNEL void all_rows(ikt_filter *f, const panel *p, const int vectors) {
    for (int64_t r = 0; r < f->rows; r += BLOCK_ROWS)
        score_panel(f, r, p, vectors);
}

static TARGET void block(ikt_filter *f, const int32_t *packed, uint32_t first, int64_t from,
                         int64_t end) {
    const int64_t stride = (1 + f->quantiser->words) * LANES, groups = (end + LANES - 1) / LANES;
    for (int64_t g = from / LANES, left = groups - g, vectors; left > 0; left = groups - g) {
        const panel p = {packed + g * stride, first + (uint32_t)(g * LANES), from - g * LANES,
                         end - g * LANES};
        /* 2 + 2 rather than 3 + 1 */
        vectors = left < BLOCK_VECTORS ? left : left == 4 && BLOCK_VECTORS == 3 ? 2 : BLOCK_VECTORS;
        if (vectors == 1)
            all_rows(f, &p, 1);
        else if (vectors == 2)
            all_rows(f, &p, BLOCK_VECTORS > 1 ? 2 : 1);
        else
            all_rows(f, &p, BLOCK_VECTORS);
        g += vectors;
    }
}
