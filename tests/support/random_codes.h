/* Codes of clustered rows that every rank can make, without any data, for tests. */
#ifndef IKT_TEST_RANDOM_CODES_H
#define IKT_TEST_RANDOM_CODES_H

#include "base/memory.h"
#include "base/rng.h"
#include "isolation/codes.h"

/* LOCAL, pure. Cell of a row in a partitioning: rows of near numbers often share one. Every 29-th
 * row is alone in all of its cells where `has_zeros`. */
static inline int64_t random_cell(int64_t n, int64_t psi, bool has_zeros, int64_t row, int64_t p) {
    const int64_t zeros = has_zeros ? (n + 28) / 29 : 0;
    if (has_zeros && row % 29 == 0) return psi - 1 - row / 29;
    const int64_t shared = psi - zeros;
    const int64_t shift = ikt_rng_below(1, IKT_RNG_TEST, row, (uint64_t)p, 1 + n / 10);
    const int64_t offset = ikt_rng_below(1, IKT_RNG_TEST, n + p, 0, n);
    return (row + shift + offset) % n * shared / n;
}

/* LOCAL. Codes of the own rows, owned by the caller. */
static inline ikt_codes random_codes(ikt_context *ctx, const ikt_rows *rows, int64_t psi, int64_t t,
                                     bool has_zeros) {
    ikt_codes codes = {.n_local = rows->count, .t = t, .width = ikt_code_width(psi)};
    codes.stride = (t * codes.width + 63) / 64 * 64;
    ikt_alloc(ctx, &codes.code, rows->count * codes.stride, 1, "test");
    for (int64_t i = 0; i < rows->count; i++)
        for (int64_t p = 0; p < t; p++) {
            const int64_t cell = random_cell(rows->n, psi, has_zeros, rows->first + i, p);
            ikt_code_set(&codes, i, p, (uint32_t)cell);
        }
    return codes;
}

#endif
