/* The filter's buffers and its limit. See filter.h. */
#include "metric/filter.h"

#include <math.h>

#include "base/memory.h"

enum { BUFFER = 4, LANE_COUNT = 16, GROUP = IKT_FILTER_GROUP };

static const char purpose[] = "candidates";

/* Candidates that are kept beyond the k: the row itself, and as many rows as are outside the ball,
 * whose scores say nothing from above. */
static int64_t kept(int64_t k, int64_t outside) {
    return k + 1 + outside;
}

static int64_t capacity_for(int64_t keep) {
    return (BUFFER * keep + 2 * IKT_FILTER_APPENDED) / LANE_COUNT * LANE_COUNT;
}

ikt_status ikt_filter_create(ikt_context *ctx, const ikt_quantiser *quantiser, ikt_isa isa,
                             int64_t k, ikt_filter *filter) {
    const int64_t keep = kept(k, quantiser->outside), capacity = capacity_for(keep);
    const int64_t entries = IKT_FILTER_ROWS * (capacity + LANE_COUNT);
    const int64_t words = IKT_FILTER_ROWS * quantiser->words;
    *filter = (ikt_filter){.quantiser = quantiser, .isa = isa, .keep = keep, .capacity = capacity};
    IKT_TRY(ikt_alloc(ctx, &filter->own, words, sizeof *filter->own, purpose));
    IKT_TRY(ikt_alloc(ctx, &filter->score, entries, sizeof *filter->score, purpose));
    return ikt_alloc(ctx, &filter->number, entries, sizeof *filter->number, purpose);
}

void ikt_filter_destroy(ikt_filter *filter) {
    ikt_free_all(&filter->own, &filter->score, &filter->number);
}

int64_t ikt_filter_memory(int64_t d, int64_t k) {
    return IKT_FILTER_ROWS * (2 * d + 8 * (capacity_for(kept(k, 0)) + LANE_COUNT));
}

void ikt_filter_begin(ikt_filter *filter, const float *x, int64_t count) {
    const ikt_quantiser *q = filter->quantiser;
    const int64_t all = (count + GROUP - 1) / GROUP * GROUP;
    filter->rows = count;
    for (int64_t r = 0; r < all; r++) {
        ikt_filter_row *row = &filter->row[r];
        int32_t *words = filter->own + r / GROUP * GROUP * q->words + r % GROUP;
        *row = (ikt_filter_row){.limit = INT32_MAX,
                                .score = filter->score + r * (filter->capacity + LANE_COUNT),
                                .number = filter->number + r * (filter->capacity + LANE_COUNT)};
        row->undecided =
            r >= count || !ikt_quantise_negated(q, x + r * q->d, words, GROUP, &row->square);
        if (row->undecided) row->limit = INT32_MIN;
    }
}

void ikt_filter_block(ikt_filter *filter, const int32_t *packed, uint32_t first, int64_t from,
                      int64_t end) {
    ikt_filter_kernel_for(filter->isa)->block(filter, packed, first, from, end);
}

int64_t ikt_filter_end(ikt_filter *filter, int64_t row) {
    ikt_filter_row *r = &filter->row[row];
    if (!r->undecided && r->count > filter->keep)
        ikt_filter_kernel_for(filter->isa)->thin(filter, r, 0);
    return r->undecided ? -1 : r->count;
}

/* Let s be the score, e the error of a quantised row, n this row's squared length, all in steps. A
 * candidate up to s is, quantised, at most sqrt(n + 2 s + 1) away (1: half squared lengths are
 * rounded down), so truly at most 2 e more: the k nearest are not farther. In float32 a squared
 * distance is right to `rounding` of itself, and to nothing where it is far below a step; so what
 * is farther by that much and more cannot pass for nearer. Quantised, its distance is at most 2 e
 * less than the true one. */
int32_t ikt_filter_limit(const ikt_filter *filter, const ikt_filter_row *row, int32_t score) {
    const ikt_quantiser *q = filter->quantiser;
    const double twice = 2 * q->error, square = row->square + 2.0 * score + 1;
    const double near = sqrt(square > 0 ? square : 0) + twice;
    const double far = sqrt(near * near * (1 + 2.1 * q->rounding) + 1) + twice;
    const double limit = (far * far - row->square) / 2 + 1;
    return limit < INT32_MAX ? (int32_t)limit : INT32_MAX;
}
