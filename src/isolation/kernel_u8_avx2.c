/* The uint8 kernel on AVX2: two 16-bit products a lane. */
#include "isolation/codes_kernel.h"

#if defined(__x86_64__)
#include "isolation/lanes_avx2.h"

enum { COORDINATES = 2 };

LANES_INLINE ints ints_dot(ints sum, ints x, ints c) {
    return ints_dot2(sum, x, c);
}

#include "isolation/kernel_u8_body.h"

const ikt_codes_kernel ikt_kernel_u8_avx2 = {.name = "uint8 avx2",
                                             .isa = IKT_ISA_AVX2,
                                             .is_u8 = true,
                                             .rows = BLOCK_ROWS,
                                             .per_word = COORDINATES,
                                             .multiple = 1,
                                             .assign = assign,
                                             .score = score};
#endif
