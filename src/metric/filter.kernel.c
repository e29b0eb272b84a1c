/* Scores of quantised rows, and what is kept of them. See quantise.h.
 *
 * Method: the scores of eight own rows (AVX-512) and three vectors of candidates are summed in
 * registers, from half the candidates' squared lengths on, and compared with the limits of the rows
 * without being stored. Advantage: the multipliers are the limit, and a comparison for every
 * sixteen scores is all that selecting costs a score that is out. */
#include "base/lanes.h"
#include "metric/quantise.h"

enum {
    BLOCK_ROWS = LANE_WIDTH == 16  ? 8
                 : LANE_WIDTH == 8 ? 4
                                   : 2,
    BLOCK_VECTORS = LANE_WIDTH == 16 ? 3 : 1
};

#define EACH_ROW(r)    LANES_UNROLL for (int r = 0; r < BLOCK_ROWS; r++)
#define EACH_VECTOR(v) LANES_UNROLL for (int v = 0; v < vectors; v++)

/* --- the buffer of a row ---------------------------------------------------------------------- */

/* A mask of the first lanes, none or all where the count is beyond them. */
LANES_INLINE uint32_t first_lanes(int64_t count) {
    return count <= 0 ? 0 : count >= LANES ? 0xFFFFu : (UINT32_C(1) << count) - 1;
}

/* Writes the lanes of a mask one behind the other; sixteen places are written in any case where
 * there is an instruction for it. `to` may be `from`, or stand before it. */
LANES_INLINE void pack_lanes(int32_t *to, const int32_t *from, uint32_t mask) {
#if LANE_WIDTH == 16
    const __m512i lanes = _mm512_loadu_si512(from);
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32((__mmask16)mask, lanes));
#else
    for (; mask; mask &= mask - 1)
        *to++ = from[__builtin_ctz(mask)];
#endif
}

/* Appends the lanes of a mask with their numbers. */
LANES_INLINE void append(ikt_filter_row *row, uint32_t mask, const int32_t *score,
                         const int32_t *number) {
    pack_lanes(row->score + row->count, score, mask);
    pack_lanes((int32_t *)row->number + row->count, number, mask);
    row->count += __builtin_popcount(mask);
}

LANES_INLINE int64_t count_at_most(const ikt_filter_row *row, int32_t limit) {
    int64_t count = 0;
    for (int64_t e = 0; e < row->count; e += LANES)
        count += __builtin_popcount(ints_at_most(ints_load(row->score + e), limit));
    return count;
}

/* The keep-th least score, or one with up to `spare` more candidates up to it, by halving. No score
 * is above the limit. */
LANES_INLINE int32_t find_score(const ikt_filter *f, const ikt_filter_row *row, int64_t spare) {
    ints least = ints_set(INT32_MAX);
    for (int64_t e = 0; e < row->count; e += LANES)
        least = ints_min(least, ints_load(row->score + e));
    int64_t low = ints_least(least), high = row->limit;
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
static void thin(const ikt_filter *f, ikt_filter_row *row, int64_t spare) {
    const int32_t count = row->count;
    ints_store(row->score + count, ints_set(INT32_MAX));
    const int32_t limit = ikt_filter_limit(f, row, find_score(f, row, spare));
    if (limit < row->limit) row->limit = limit;
    row->count = 0;
    for (int32_t e = 0; e < count; e += LANES) {
        const uint32_t kept = ints_at_most(ints_load(row->score + e), row->limit);
        append(row, kept & first_lanes(count - e), row->score + e,
               (const int32_t *)row->number + e);
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
LANES_INLINE uint32_t counting(const panel *p, int v) {
    return first_lanes(p->end - v * LANES) & ~first_lanes(p->from - v * LANES);
}

typedef ints scores[BLOCK_ROWS][BLOCK_VECTORS];

LANES_INLINE void keep_scores(ikt_filter *f, int64_t first_row, const panel *p, scores sum,
                              const int vectors) {
    EACH_ROW(r) {
        ikt_filter_row *row = &f->row[first_row + r];
        uint32_t mask[BLOCK_VECTORS], any = 0;
        EACH_VECTOR(v) any |= mask[v] = ints_at_most(sum[r][v], row->limit);
        if (any) {
            EACH_VECTOR(v) {
                int32_t score[LANES], number[LANES];
                mask[v] &= counting(p, v);
                if (!mask[v]) continue;
                ints_store(score, sum[r][v]);
                for (int l = 0; l < LANES; l++)
                    number[l] = (int32_t)(p->number + (uint32_t)(v * LANES + l));
                append(row, mask[v], score, number);
            }
            if (row->count > f->capacity - IKT_FILTER_APPENDED) thin(f, row, f->keep / 8);
        }
    }
}

/* Own rows first .. first + BLOCK_ROWS - 1 against a panel. */
LANES_INLINE void score_panel(ikt_filter *f, int64_t first_row, const panel *p, const int vectors) {
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
        if (first_row == 0) /* the next panel, which may lie beyond the candidates */
            EACH_VECTOR(v) __builtin_prefetch(c + (v + vectors) * stride);
        EACH_ROW(r) {
            const ints own = ints_set(x[r]);
            EACH_VECTOR(v) sum[r][v] = ints_add_halves(sum[r][v], own, candidate[v]);
        }
    }
    keep_scores(f, first_row, p, sum, vectors);
}

LANES_INLINE void all_rows(ikt_filter *f, const panel *p, const int vectors) {
    for (int64_t r = 0; r < f->rows; r += BLOCK_ROWS)
        score_panel(f, r, p, vectors);
}

static void block(ikt_filter *f, const int32_t *packed, uint32_t first, int64_t from, int64_t end) {
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

/* --- single rows ------------------------------------------------------------------------------ */

enum { AT_ONCE = 4 /* rows whose sums wait for each other's products */ };

LANES_INLINE void some_products(const int32_t *own, const int32_t *const *other, int64_t size,
                                int32_t *product, const int rows) {
    static const int32_t but_first[LANES] = {0,  -1, -1, -1, -1, -1, -1, -1,
                                             -1, -1, -1, -1, -1, -1, -1, -1};
    ints sum[AT_ONCE], words = ints_and(ints_load(own), ints_load(but_first));
    for (int r = 0; r < rows; r++)
        sum[r] = ints_set(0);
    for (int64_t w = 0; w < size; w += LANES) {
        if (w > 0) words = ints_load(own + w);
        for (int r = 0; r < rows; r++)
            sum[r] = ints_add_halves(sum[r], words, ints_load(other[r] + w));
    }
    for (int r = 0; r < rows; r++)
        product[r] = ints_total(sum[r]);
}

static void products(const int32_t *own, const int32_t *const *other, int64_t count, int64_t size,
                     int32_t *product) {
    int64_t c = 0;
    for (; c + AT_ONCE <= count; c += AT_ONCE)
        some_products(own, other + c, size, product + c, AT_ONCE);
    for (; c < count; c++)
        some_products(own, other + c, size, product + c, 1);
}

const ikt_filter_kernel IKT_KERNEL(ikt_filter_kernel) = {block, thin, products};
