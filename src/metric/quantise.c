/* Rows as integers. See quantise.h.
 *
 * Method: one step for all columns, so long that the row farthest from the centre has 2^15 of them;
 * then a product of two rows fits 32 bits, whatever the number of columns (Cauchy and Schwarz).
 * Advantage: a few rows in 10^4 are all that the rounding leaves in doubt, where rows are some
 * hundreds of steps apart. Disadvantage: where many rows are thousands of times farther out than
 * most are, these are few steps apart, and the filter lets too many pass. */
#include "metric/quantise.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"

enum {
    SAMPLE = 63,               /* rows that the centre is the median of */
    OUTSIDE = 8,               /* rows beyond the ball, at most */
    OUTLYING = 4,              /* times farther out than the next: an outlier */
    STEPS = 32767,             /* of the longest row */
    LANE_COUNT = 16,           /* rows of a packed group */
    TOGETHER = 16 * LANE_COUNT /* rows that a thread packs at a time */
};

static const char purpose[] = "quantised rows";

static double squared_length(const ikt_quantiser *q, const float *x) {
    double sum = 0;
    for (int64_t k = 0; k < q->d; k++) {
        const double gap = (double)x[k] - (double)q->centre[k];
        sum += gap * gap;
    }
    return sum;
}

/* --- centre and unit -------------------------------------------------------------------------- */

static void find_centre(const float *sample, ikt_quantiser *q) {
    for (int64_t k = 0; k < q->d; k++) {
        double column[SAMPLE];
        for (int64_t s = 0; s < SAMPLE; s++)
            column[s] = sample[s * q->d + k];
        ikt_sort_f64(column, SAMPLE);
        q->centre[k] = (float)column[SAMPLE / 2];
    }
}

/* Keeps the largest values, descending. */
static void keep_largest(double *largest, double value) {
    int at = OUTSIDE;
    if (!(value > largest[at])) return;
    for (; at > 0 && largest[at - 1] < value; at--)
        largest[at] = largest[at - 1];
    largest[at] = value;
}

/* From the greatest distances from the centre, descending, to the unit. */
static void find_unit(const double *largest, ikt_quantiser *q) {
    const double half = 0.5 * sqrt((double)q->d);
    q->error = half * (1 + 1e-9) + 1e-3;
    q->most = STEPS - ceil(half) - 1;
    q->rounding = (double)(q->d + 4) * (0.5 * (double)FLT_EPSILON) * 1.01;
    while (q->outside < OUTSIDE && largest[q->outside] > OUTLYING * largest[OUTSIDE])
        q->outside++;
    if (largest[OUTSIDE] == 0) q->outside = 0;
    q->unit = largest[q->outside] * (1 + 1e-9) / q->most;
    /* Squares of some steps have to be normal floats, and those of 2^17 steps floats. */
    if (!(q->unit > 0x1p-50 && q->unit < 0x1p45) || q->most < STEPS / 2) q->unit = 0;
}

/* COLLECTIVE. */
static void choose(ikt_context *ctx, const ikt_rows *rows, const float *x, float *sample,
                   double *length, int64_t *counts, double *all, ikt_quantiser *q) {
    const int64_t d = q->d, size = ikt_size(ctx);
    double own[OUTSIDE + 1] = {0}, largest[OUTSIDE + 1] = {0};
    int64_t row[SAMPLE]; /* at equal distances */
    for (int64_t s = 0; s < SAMPLE; s++)
        row[s] = rows->n * (2 * s + 1) / (2 * SAMPLE);
    ikt_rows_gather(ctx, rows, row, SAMPLE, x, (size_t)d * sizeof *x, counts, sample);
    find_centre(sample, q);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++)
        length[i] = squared_length(q, x + i * d);
    for (int64_t i = 0; i < rows->count; i++)
        keep_largest(own, length[i]);
    for (int64_t r = 0; r < size; r++)
        counts[r] = OUTSIDE + 1;
    ikt_allgather(ctx, own, OUTSIDE + 1, sizeof *own, all, counts);
    for (int64_t e = 0; e < size * (OUTSIDE + 1); e++)
        keep_largest(largest, all[e]);
    for (int e = 0; e <= OUTSIDE; e++)
        largest[e] = sqrt(largest[e]);
    find_unit(largest, q);
}

ikt_status ikt_quantiser_create(ikt_context *ctx, const ikt_rows *rows, const float *x, int64_t d,
                                ikt_quantiser *out) {
    const int64_t size = ikt_size(ctx);
    ikt_quantiser made IKT_AT_END(ikt_quantiser_destroy) = {.d = d, .words = (d + 1) / 2};
    *out = (ikt_quantiser){0};
    IKT_ARRAYS(held, ctx, purpose);
    made.centre = ikt_claim_kept(&held, d, sizeof *made.centre);
    float *sample = ikt_claim(&held, SAMPLE * d, sizeof *sample);
    double *length = ikt_claim(&held, rows->count, sizeof *length);
    int64_t *counts = ikt_claim(&held, size, sizeof *counts);
    double *all = ikt_claim(&held, size * (OUTSIDE + 1), sizeof *all);
    IKT_TRY(ikt_arrays_agree(&held));
    choose(ctx, rows, x, sample, length, counts, all, &made);
    return ikt_give(out, made);
}

void ikt_quantiser_destroy(ikt_quantiser *quantiser) {
    ikt_free(&quantiser->centre);
    quantiser->unit = 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Steps to a coordinate of 1, with the projection of a row outside. */
static double scale_of(const ikt_quantiser *q, const float *x, bool *is_inside) {
    const double length = sqrt(squared_length(q, x));
    *is_inside = length <= q->unit * q->most;
    return *is_inside ? 1 / q->unit : q->most / length;
}

/* The integer nearest to a number of steps. */
static int32_t whole(double steps) {
    return (int32_t)(steps + (STEPS + 1.5)) - (STEPS + 1);
}

/* Two coordinates in one word; returns the sum of their squares. */
static int32_t join(int32_t first, int32_t second, int32_t *word) {
    *word = (int32_t)(((uint32_t)first & 0xFFFFu) | (uint32_t)second << 16);
    return first * first + second * second;
}

/* A row into every stride-th word, its coordinates times scale. */
static int32_t quantise(const ikt_quantiser *q, const float *x, double scale, int32_t *word,
                        int64_t stride) {
    int32_t square = 0;
    for (int64_t w = 0; w < q->words; w++) {
        const int64_t k = 2 * w;
        const int32_t first = whole(scale * ((double)x[k] - (double)q->centre[k]));
        const int32_t second =
            k + 1 < q->d ? whole(scale * ((double)x[k + 1] - (double)q->centre[k + 1])) : 0;
        square += join(first, second, word + w * stride);
    }
    return square;
}

/* The same of a part, by one thread. */
static void pack(const ikt_quantiser *q, const float *x, int64_t count, int32_t *packed) {
    const int64_t group = (1 + q->words) * LANE_COUNT, tail = count % LANE_COUNT;
    bool is_inside;
    if (tail) {
        int32_t *last = packed + count / LANE_COUNT * group;
        memset(last, 0, (size_t)group * sizeof *packed);
        for (int64_t l = tail; l < LANE_COUNT; l++)
            last[l] = INT32_MAX;
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t *lane = packed + i / LANE_COUNT * group + i % LANE_COUNT;
        const double scale = scale_of(q, x + i * q->d, &is_inside);
        *lane = quantise(q, x + i * q->d, scale, lane + LANE_COUNT, LANE_COUNT) / 2;
    }
}

void ikt_quantise_all(ikt_context *ctx, const ikt_quantiser *q, const float *x, int64_t count,
                      int32_t *packed) {
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t first = 0; first < count; first += TOGETHER)
        pack(q, x + first * q->d, ikt_smaller(count - first, TOGETHER),
             packed + ikt_quantised_size(q->d, first));
}

void ikt_quantise_rows(ikt_context *ctx, const ikt_quantiser *q, const float *x, int64_t count,
                       int32_t *row) {
    const int64_t size = ikt_quantised_row(q->d);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < count; i++) {
        bool is_inside;
        int32_t *own = row + i * size;
        const double scale = scale_of(q, x + i * q->d, &is_inside);
        own[0] = quantise(q, x + i * q->d, scale, own + 1, 1) / 2;
        memset(own + 1 + q->words, 0, (size_t)(size - 1 - q->words) * sizeof *own);
    }
}

/* LOCAL. One row with its sign turned, so that adding its products subtracts them.
 *   words   [words * stride], every stride-th is written
 *   square  receives the squared length
 * Returns whether the row is within the ball. */
static bool pack_negated(const ikt_quantiser *q, const float *x, int32_t *words, int64_t stride,
                         double *square) {
    bool is_inside;
    const double scale = scale_of(q, x, &is_inside);
    *square = quantise(q, x, -scale, words, stride);
    return is_inside;
}

/* --- the filter's buffers and its limit ------------------------------------------------------- */

enum { BUFFER = 4, GROUP = IKT_FILTER_GROUP };

/* Candidates that are kept beyond the k: the row itself, and as many rows as are outside the ball,
 * whose scores say nothing from above. */
static int64_t kept(int64_t k, int64_t outside) {
    return k + 1 + outside;
}

static int64_t capacity_for(int64_t keep) {
    return (BUFFER * keep + 2 * IKT_FILTER_APPENDED) / LANE_COUNT * LANE_COUNT;
}

void ikt_filter_create(ikt_arrays *held, const ikt_quantiser *quantiser, ikt_isa isa, int64_t k,
                       ikt_filter *filter) {
    const int64_t keep = kept(k, quantiser->outside), capacity = capacity_for(keep);
    const int64_t entries = IKT_FILTER_ROWS * (capacity + LANE_COUNT);
    *filter = (ikt_filter){.quantiser = quantiser, .isa = isa, .keep = keep, .capacity = capacity};
    filter->own = ikt_claim(held, IKT_FILTER_ROWS * quantiser->words, sizeof *filter->own);
    filter->score = ikt_claim(held, entries, sizeof *filter->score);
    filter->number = ikt_claim(held, entries, sizeof *filter->number);
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
        row->undecided = r >= count || !pack_negated(q, x + r * q->d, words, GROUP, &row->square);
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

/* Steps between quantised rows, at most, where in float32 one can pass for as near to the other as
 * a squared distance in steps says. Such a distance is right to `rounding` of itself, and to
 * nothing where it is far below a step; what is farther by that much and more cannot pass for
 * nearer. Quantised, it is at most two errors more than the true one. */
static double quantised_most(const ikt_quantiser *q, double square) {
    return sqrt(square * (1 + 2.1 * q->rounding) + 1) + 2 * q->error;
}

/* Let s be the score, e the error of a quantised row, n this row's squared length, all in steps. A
 * candidate up to s is, quantised, at most sqrt(n + 2 s + 1) away (1: half squared lengths are
 * rounded down), so truly at most 2 e more: the k nearest are not farther. */
int32_t ikt_filter_limit(const ikt_filter *filter, const ikt_filter_row *row, int32_t score) {
    const ikt_quantiser *q = filter->quantiser;
    const double square = row->square + 2.0 * score + 1;
    const double near = sqrt(square > 0 ? square : 0) + 2 * q->error;
    const double far = quantised_most(q, near * near);
    const double limit = (far * far - row->square) / 2 + 1;
    return limit < INT32_MAX ? (int32_t)limit : INT32_MAX;
}

/* --- rows one by one -------------------------------------------------------------------------- */

/* Half the squared distance of two quantised rows is their halves less their product, or up to 1
 * more, as halves are rounded down. */
int64_t ikt_quantised_near(const ikt_quantiser *q, ikt_isa isa, const int32_t *own,
                           const int32_t *const *other, int64_t count, float distance,
                           int32_t *product, int32_t *kept) {
    const double far = quantised_most(q, (double)distance / (q->unit * q->unit));
    const double limit = far * far / 2 + 1;
    int64_t left = 0;
    ikt_filter_kernel_for(isa)->products(own, other, count, ikt_quantised_row(q->d), product);
    for (int64_t c = 0; c < count; c++)
        if ((double)own[0] + (double)other[c][0] - (double)product[c] <= limit)
            kept[left++] = (int32_t)c;
    return left;
}
