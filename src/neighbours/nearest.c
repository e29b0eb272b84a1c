/* The k nearest of many candidates. See nearest.h. */
#include "neighbours/nearest.h"

#include <string.h>

enum { ROWS = IKT_FILTER_ROWS, TRUSTED = 15, LINE = 64 };

void ikt_nearest_rows_create(ikt_arrays *held, const ikt_scorer *scorer,
                             const ikt_quantiser *quantiser, int64_t k, ikt_nearest_rows *out) {
    memset(out, 0, sizeof *out);
    out->scorer = scorer;
    out->k = k;
    out->has_filter = quantiser && quantiser->unit > 0;
    if (out->has_filter) {
        ikt_filter_create(held, quantiser, scorer->isa, k, &out->filter);
        out->others = ikt_claim(held, out->filter.capacity, sizeof *out->others);
        out->scratch = ikt_claim(held, scorer->scratch_bytes, 1);
    }
    if (scorer->pack && !scorer->keeps_packed)
        out->packed = ikt_claim(held, scorer->packed_bytes(scorer, ROWS), 1);
    out->rows = ikt_claim(held, ROWS * scorer->row_bytes, 1);
    out->scores = ikt_claim(held, ROWS * (ROWS + IKT_PACK_ROWS), sizeof *out->scores);
    out->pairs = ikt_claim(held, ROWS * IKT_SELECT_CAPACITY * k, sizeof *out->pairs);
}

int64_t ikt_nearest_rows_memory(int64_t row_bytes, int64_t k) {
    return ikt_filter_memory(row_bytes / (int64_t)sizeof(float), k) +
           ROWS * (2 * row_bytes + (ROWS + IKT_PACK_ROWS) * (int64_t)sizeof(float) +
                   IKT_SELECT_CAPACITY * k * (int64_t)sizeof(ikt_pair));
}

/* Every candidate will be scored for the own rows that have no list. */
static void begin_direct(ikt_nearest_rows *n) {
    const ikt_scorer *scorer = n->scorer;
    const size_t bytes = (size_t)scorer->row_bytes;
    n->is_direct = true;
    for (int64_t r = 0; r < n->direct; r++) {
        memcpy(n->rows + (size_t)r * bytes, n->plain + (size_t)n->row[r] * bytes, bytes);
        ikt_select_begin(&n->kept[r], scorer->isa, n->k, n->pairs + r * IKT_SELECT_CAPACITY * n->k);
    }
}

void ikt_nearest_rows_begin(ikt_nearest_rows *n, const char *plain, int64_t first, int64_t count) {
    n->plain = plain;
    n->first = first;
    n->count = count;
    n->is_direct = false;
    if (n->has_filter && n->trusted == 0) {
        ikt_filter_begin(&n->filter, (const float *)(const void *)plain, count);
        return;
    }
    if (n->trusted > 0) n->trusted--;
    n->direct = count;
    for (int64_t r = 0; r < count; r++)
        n->row[r] = (int32_t)r;
    begin_direct(n);
}

void ikt_nearest_rows_offer(ikt_nearest_rows *n, const ikt_candidates *c) {
    const ikt_scorer *scorer = n->scorer;
    if (!n->is_direct) {
        ikt_filter_block(&n->filter, c->packed, c->first - (uint32_t)c->skipped, c->skipped,
                         c->skipped + c->count);
        return;
    }
    const int64_t before = scorer->keeps_packed ? c->skipped : 0, count = before + c->count;
    const int64_t stride = ikt_score_stride(count);
    const void *packed = scorer->keeps_packed ? (const void *)c->packed
                         : scorer->pack       ? n->packed
                                              : c->plain;
    if (scorer->pack && !scorer->keeps_packed) scorer->pack(scorer, c->plain, c->count, n->packed);
    scorer->score(scorer, n->rows, n->direct, packed, count, n->scores);
    for (int64_t r = 0; r < n->direct; r++)
        ikt_select_floats(&n->kept[r], n->first + n->row[r], c->first, c->count,
                          n->scores + r * stride + before);
}

/* Where the candidates of an own row lie, and the row itself not among them. They lie anywhere:
 * the processor is told early what will be read. */
static int64_t find_others(ikt_nearest_rows *n, int64_t own, int64_t count,
                           const ikt_row_finder *from) {
    uint32_t *number = n->filter.row[own].number;
    int64_t others = 0;
    for (int64_t e = 0; e < count; e++) {
        if (number[e] == n->first + own) continue;
        const char *row = from->find(from->self, number[e]);
        for (int64_t line = 0; line < n->scorer->row_bytes; line += LINE)
            __builtin_prefetch(row + line);
        number[others] = number[e];
        n->others[others++] = row;
    }
    return others;
}

/* The list of an own row from what the filter left; false where it is undecided. */
static bool refine_row(ikt_nearest_rows *n, int64_t own, const ikt_row_finder *finder, float *score,
                       uint32_t *row) {
    const ikt_scorer *scorer = n->scorer;
    const int64_t left = ikt_filter_end(&n->filter, own);
    if (left < 0) return false;
    const int64_t count = find_others(n, own, left, finder);
    const uint32_t *number = n->filter.row[own].number;
    scorer->score_one(scorer, n->plain + own * scorer->row_bytes, n->others, count, n->scratch,
                      n->scores);
    for (int64_t e = 0; e < count; e++)
        n->pairs[e] = ikt_pair_make(n->scores[e], number[e]);
    ikt_pairs_part(scorer->isa, n->pairs, count, n->k);
    ikt_best_write(score, row, n->pairs, count < n->k ? count : n->k);
    return true;
}

bool ikt_nearest_rows_next(ikt_nearest_rows *n, const ikt_row_finder *finder, float *score,
                           uint32_t *row) {
    if (n->is_direct) {
        for (int64_t r = 0; r < n->direct; r++) {
            ikt_select_end(&n->kept[r]);
            ikt_best_write(score + n->row[r] * n->k, row + n->row[r] * n->k, n->kept[r].pair,
                           n->kept[r].count);
        }
        return false;
    }
    n->direct = 0;
    for (int64_t r = 0; r < n->count; r++)
        if (!refine_row(n, r, finder, score + r * n->k, row + r * n->k))
            n->row[n->direct++] = (int32_t)r;
    if (2 * n->direct > n->count) n->trusted = TRUSTED;
    if (n->direct == 0) return false;
    begin_direct(n);
    return true;
}
