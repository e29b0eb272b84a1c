/* Cell codes as scores: the number of partitionings in which two rows fall into different cells. */
#include <string.h>

#include "base/cpu.h"
#include "isolation/similarity.h"
#include "neighbours/scorers.h"

enum { STRIP = 512 }; /* rows of the block counted at a time; their counts stay on the stack */

static size_t packed_bytes(const void *self, int64_t count) {
    const ikt_codes *codes = self;
    return (size_t)(count * codes->stride);
}

static const char *row_of(const ikt_codes *codes, int64_t i) {
    return (const char *)codes->code + i * codes->stride;
}

static void pack(const void *self, int64_t first, int64_t count, void *packed) {
    if (count > 0) memcpy(packed, row_of(self, first), packed_bytes(self, count));
}

/* Counts of equal entries become numbers of different ones: smaller is more similar. */
static void score(const void *self, int64_t first, int64_t na, const void *packed, int64_t nb,
                  float *out) {
    const ikt_codes *codes = self;
    const ikt_code_shape shape = {codes->t, codes->stride, codes->width};
    uint16_t equal[4 * STRIP];
    ikt_isa isa = ikt_cpu_isa();
    for (int64_t strip = 0; strip < nb; strip += STRIP) {
        int64_t width = nb - strip < STRIP ? nb - strip : STRIP;
        const char *b = (const char *)packed + strip * codes->stride;
        for (int64_t a = 0; a < na; a += 4) {
            int64_t rows = na - a < 4 ? na - a : 4;
            ikt_similarity_block(isa, shape, row_of(codes, first + a), rows, b, width, equal,
                                 STRIP);
            for (int64_t r = 0; r < rows; r++)
                for (int64_t j = 0; j < width; j++)
                    out[(a + r) * ikt_score_stride(nb) + strip + j] =
                        (float)(codes->t - equal[r * STRIP + j]);
        }
    }
}

ikt_scorer ikt_scorer_codes(const ikt_codes *codes, const ikt_rows *rows) {
    ikt_scorer scorer = {NULL, *rows, packed_bytes, pack, score};
    memcpy(&scorer.self, &codes, sizeof codes); /* only read; the member is shared with writers */
    return scorer;
}
