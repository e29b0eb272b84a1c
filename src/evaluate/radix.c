/* Radix sort of floats. See radix.h. */
#include "evaluate/radix.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PASSES = 3 };

ikt_status ikt_radix_create(ikt_context *ctx, int64_t n, ikt_radix *out) {
    memset(out, 0, sizeof *out);
    out->n = n;
    for (int side = 0; side < 2; side++) {
        IKT_TRY(ikt_alloc(ctx, &out->key[side], n, sizeof(uint32_t), "measures"));
        IKT_TRY(ikt_alloc(ctx, &out->item[side], n, sizeof(int32_t), "measures"));
        IKT_TRY(ikt_alloc(ctx, &out->rank[side], n, sizeof(int32_t), "measures"));
    }
    return IKT_OK;
}

void ikt_radix_destroy(ikt_radix *radix) {
    for (int side = 0; side < 2; side++) {
        ikt_free(&radix->key[side]);
        ikt_free(&radix->item[side]);
        ikt_free(&radix->rank[side]);
    }
}

int64_t ikt_radix_memory(int64_t n) {
    return n * (int64_t)(2 * sizeof(uint32_t) + 4 * sizeof(int32_t));
}

/* Unsigned integers in the order of the floats: negative ones reversed, below positive ones. */
static uint32_t ordered(float value) {
    uint32_t bits;
    value += 0.0f; /* -0 becomes 0 */
    if (isnan(value)) return UINT32_MAX;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

static void pass(ikt_radix *r, int from, int shift) {
    int64_t place[DIGITS] = {0}, sum = 0;
    const uint32_t *key = r->key[from];
    for (int64_t j = 0; j < r->n; j++)
        place[key[j] >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        int64_t count = place[d];
        place[d] = sum;
        sum += count;
    }
    for (int64_t j = 0; j < r->n; j++) {
        int64_t to = place[key[j] >> shift & (DIGITS - 1)]++;
        r->key[1 - from][to] = key[j];
        r->item[1 - from][to] = r->item[from][j];
    }
}

void ikt_radix_ranks(ikt_radix *r, const float *value, int32_t *rank) {
    for (int64_t j = 0; j < r->n; j++) {
        r->key[0][j] = ordered(value[j]);
        r->item[0][j] = (int32_t)j;
    }
    for (int p = 0; p < PASSES; p++)
        pass(r, p % 2, p * DIGIT_BITS);
    const int32_t *sorted = r->item[PASSES % 2];
    for (int64_t place = 0; place < r->n; place++)
        rank[sorted[place]] = (int32_t)place;
}
