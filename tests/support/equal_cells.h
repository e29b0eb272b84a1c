/* How many cells two coded rows share, for tests. */
#ifndef IKT_TEST_EQUAL_CELLS_H
#define IKT_TEST_EQUAL_CELLS_H

#include "base/cpu.h"
#include "isolation/codes.h"
#include "isolation/similarity.h"

/* LOCAL. Partitionings in which rows i and k of this rank fall into the same cell. */
static inline int64_t equal_cells(const ikt_codes *codes, int64_t i, int64_t k) {
    const ikt_code_shape shape = {codes->t, codes->stride, codes->width};
    const char *code = codes->code;
    uint16_t equal;
    ikt_similarity_block(ikt_cpu_isa(), shape, code + i * codes->stride, 1,
                         code + k * codes->stride, 1, &equal, 1);
    return equal;
}

#endif
