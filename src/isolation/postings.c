/* An inverted index of sparse centres. See postings.h. */
#include "isolation/postings.h"

#include <math.h>

#include "base/arrays.h"
#include "base/cpu.h"

enum { CHUNK = IKT_POSTINGS_CHUNK, FILLED_SHARE = 4 };

/* Lists are looked up this many entries of a row ahead: they are anywhere in memory. */
enum { AHEAD = 8 };

static const char purpose[] = "centres";

static int64_t members_of(const ikt_postings *p, int64_t chunk) {
    const int64_t left = p->count - chunk * CHUNK;
    return left < CHUNK ? left : CHUNK;
}

/* --- creation --------------------------------------------------------------------------------- */

/* Lengths of the lists in first[1 ..], which then become their starts. */
static void place_lists(ikt_postings *p, const ikt_sparse *centres, int64_t stride) {
    for (int64_t q = 0; q < p->count; q++) {
        const ikt_sparse_row c = ikt_sparse_row_of(centres, q * stride % p->count);
        int64_t *length = p->first + q / CHUNK * p->slots + 1;
        for (int64_t e = 0; e < c.count; e++)
            length[p->slot[c.column[e]]]++;
    }
    for (int64_t chunk = 0; chunk < p->chunks; chunk++)
        for (int64_t s = chunk * p->slots; s < (chunk + 1) * p->slots; s++) {
            if (FILLED_SHARE * p->first[s + 1] >= members_of(p, chunk))
                p->first[s + 1] = members_of(p, chunk);
            p->first[s + 1] += p->first[s];
        }
}

static bool is_filled(const ikt_postings *p, int64_t chunk, int64_t list) {
    return p->first[list + 1] - p->first[list] == members_of(p, chunk);
}

/* Writes the lists; centres of a chunk come in order, so that each list ascends.
 *   next   [slots] */
static void fill_chunk(ikt_postings *p, const ikt_sparse *centres, int64_t stride, int64_t chunk,
                       int64_t *next) {
    const int64_t *first = p->first + chunk * p->slots;
    for (int64_t s = 0; s < p->slots; s++) {
        next[s] = first[s];
        for (int64_t m = 0;
             is_filled(p, chunk, chunk * p->slots + s) && m < first[s + 1] - first[s]; m++)
            p->posting[first[s] + m].member = (uint32_t)m;
    }
    for (int64_t m = 0; m < members_of(p, chunk); m++) {
        const ikt_sparse_row c =
            ikt_sparse_row_of(centres, (chunk * CHUNK + m) * stride % p->count);
        for (int64_t e = 0; e < c.count; e++) {
            const int32_t s = p->slot[c.column[e]];
            const int64_t at = is_filled(p, chunk, chunk * p->slots + s) ? first[s] + m : next[s]++;
            p->posting[at] = (ikt_posting){c.value[e], (uint32_t)m};
        }
    }
}

static double start_bound(int64_t longest) {
    return 1.01 * (0x1p-24 + (double)(2 * longest + 8) * 0x1p-53);
}

static ikt_status create(ikt_context *ctx, const ikt_sparse *centres, int64_t stride,
                         ikt_postings *p) {
    ikt_arrays *held = &p->held;
    p->slot = ikt_claim(held, p->d, sizeof *p->slot);
    p->start = ikt_claim(held, p->count, sizeof *p->start);
    p->norm = ikt_claim(held, p->count, sizeof *p->norm);
    IKT_TRY(held->status);
    for (int64_t e = 0; e < centres->start[centres->count]; e++) /* numbers the columns in use */
        p->slot[centres->column[e]] = 1;
    for (int64_t k = 0; k < p->d; k++)
        p->slot[k] = p->slot[k] ? (int32_t)p->slots++ : -1;
    p->first = ikt_claim(held, p->chunks * p->slots + 1, sizeof *p->first);
    IKT_TRY(held->status);
    place_lists(p, centres, stride);
    IKT_ARRAYS(work, ctx, purpose);
    p->posting = ikt_claim(held, p->first[p->chunks * p->slots], sizeof *p->posting);
    int64_t *next = ikt_claim(&work, p->slots, sizeof *next);
    IKT_TRY(held->status != IKT_OK ? held->status : work.status);
    for (int64_t chunk = 0; chunk < p->chunks; chunk++)
        fill_chunk(p, centres, stride, chunk, next);
    p->longest = ikt_sparse_longest(centres);
    for (int64_t q = 0; q < p->count; q++) {
        const int64_t row = q * stride % p->count;
        const ikt_sparse_row c = ikt_sparse_row_of(centres, row);
        const double norm = p->is_manhattan ? ikt_sparse_length_l1(c) : ikt_sparse_norm(c);
        p->norm[row] = norm;
        p->start[q] = norm / (p->is_manhattan ? 1 : 2) - start_bound(p->longest) * norm;
        p->largest_norm = fmax(p->largest_norm, norm);
    }
    return IKT_OK;
}

ikt_status ikt_postings_create(ikt_context *ctx, const ikt_sparse *centres, int64_t stride,
                               bool is_manhattan, ikt_postings *out) {
    *out = (ikt_postings){.count = centres->count,
                          .d = centres->d,
                          .chunks = (centres->count + CHUNK - 1) / CHUNK,
                          .is_manhattan = is_manhattan,
                          .held = ikt_arrays_of(ctx, purpose)};
    const ikt_status st = create(ctx, centres, stride, out);
    if (st != IKT_OK) ikt_postings_destroy(out);
    return st;
}

void ikt_postings_destroy(ikt_postings *p) {
    ikt_arrays_free(&p->held);
    *p = (ikt_postings){0};
}

/* --- values ----------------------------------------------------------------------------------- */

void ikt_postings_post(const ikt_postings *p, ikt_sparse_row row, ikt_posted_row *out) {
    out->count = 0;
    for (int64_t e = 0; e < row.count; e++) {
        const int32_t slot = p->slot[row.column[e]];
        out->slot[out->count] = slot;
        out->value[out->count] = (double)row.value[e];
        out->count += slot >= 0;
    }
}

/* A list of all centres of a chunk. */
IKT_WIDEST_VECTORS
static void subtract_all(double *sum, const ikt_posting *list, int64_t count, double x) {
    for (int64_t m = 0; m < count; m++)
        sum[m] -= x * (double)list[m].value;
}

/* What the columns that both have make the Manhattan distance shorter. */
static inline double shared_length(double x, double c) {
    const double size = fabs(x) < fabs(c) ? fabs(x) : fabs(c);
    return (x < 0) == (c < 0) ? 2 * size : 0;
}

static void subtract_shared(double *sum, const ikt_posting *list, int64_t count, double x) {
    for (int64_t m = 0; m < count; m++)
        sum[list[m].member] -= shared_length(x, (double)list[m].value);
}

IKT_WIDEST_VECTORS
static void round_all(const double *sum, int64_t count, float *value) {
    for (int64_t m = 0; m < count; m++)
        value[m] = (float)sum[m];
}

int64_t ikt_postings_score(const ikt_postings *p, const ikt_posted_row *row, int64_t chunk,
                           float *value) {
    const int64_t members = members_of(p, chunk);
    double sum[CHUNK];
    const int64_t *first = p->first + chunk * p->slots;
    for (int64_t m = 0; m < members; m++)
        sum[m] = p->start[chunk * CHUNK + m];
    for (int64_t e = 0; e < row->count; e++) {
        const int64_t at = first[row->slot[e]], length = first[row->slot[e] + 1] - at;
        const ikt_posting *list = p->posting + at;
        const double x = row->value[e];
        if (e + 2 * AHEAD < row->count) __builtin_prefetch(first + row->slot[e + 2 * AHEAD]);
        if (e + AHEAD < row->count) __builtin_prefetch(p->posting + first[row->slot[e + AHEAD]]);
        if (p->is_manhattan)
            subtract_shared(sum, p->posting + at, length, x);
        else if (length == members)
            subtract_all(sum, list, length, x);
        else
            for (int64_t i = 0; i < length; i++)
                sum[list[i].member] -= x * (double)list[i].value;
    }
    round_all(sum, members, value);
    return members;
}

rounding ikt_postings_rounding(const ikt_postings *p, int64_t entries) {
    const int64_t terms = p->longest + entries;
    const double g = rounding_gamma(terms + 2);
    return (rounding){start_bound(p->longest), g / (1 - g), (double)(terms + 4) * 0x1p-146};
}

/* A list may take four times its entries when it is filled up. */
int64_t ikt_postings_bytes(int64_t count, int64_t d, int64_t entries) {
    const int64_t chunks = (count + CHUNK - 1) / CHUNK, slots = entries < d ? entries : d;
    return d * 4 + count * 16 + (chunks + 1) * slots * 8 +
           2 * entries * (int64_t)sizeof(ikt_posting);
}
