/* Partition-free checksum: hash of (row number, bytes), added over rows modulo 2^64. */
#include "base/row_hash.h"

#include <string.h>

#include "base/comm.h"

/* Finaliser of splitmix64: every input bit changes every output bit with probability one half. */
static uint64_t mix(uint64_t x) {
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9u;
    x ^= x >> 27;
    x *= 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

uint64_t ikt_hash_bytes(const void *data, size_t bytes, uint64_t seed) {
    const unsigned char *byte = data;
    uint64_t state = mix(seed + 0x9E3779B97F4A7C15u * (bytes + 1));
    while (bytes > 0) {
        uint64_t word = 0;
        size_t now = bytes < sizeof word ? bytes : sizeof word;
        memcpy(&word, byte, now);
        state = mix(state ^ word) + 0x9E3779B97F4A7C15u;
        byte += now;
        bytes -= now;
    }
    return mix(state);
}

uint64_t ikt_hash_entry(int64_t row, int64_t column, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t low = (uint64_t)(row < column ? row : column);
    const uint64_t high = (uint64_t)(row < column ? column : row);
    const uint64_t hash = mix(mix(low << 32 ^ high) + 0x9E3779B97F4A7C15u + bits);
    return row < column ? hash : row > column ? 0 - hash : 0;
}

uint64_t ikt_row_hash_local(ikt_context *ctx, const void *rows, int64_t first_row, int64_t n_local,
                            size_t row_bytes) {
    uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < n_local; i++)
        sum += ikt_hash_bytes((const char *)rows + (size_t)i * row_bytes, row_bytes,
                              (uint64_t)(first_row + i));
    return sum;
}

uint64_t ikt_hash_total(ikt_context *ctx, uint64_t mine) {
    int64_t sum;
    memcpy(&sum, &mine, sizeof sum);
    sum = ikt_sum_one(ctx, sum); /* two's complement addition is addition modulo 2^64 */
    memcpy(&mine, &sum, sizeof mine);
    return mine;
}

uint64_t ikt_row_hash(ikt_context *ctx, const void *rows, int64_t first_row, int64_t n_local,
                      size_t row_bytes) {
    return ikt_hash_total(ctx, ikt_row_hash_local(ctx, rows, first_row, n_local, row_bytes));
}
