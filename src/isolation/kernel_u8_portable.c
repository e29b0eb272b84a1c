/* The uint8 kernel in plain C: for processors without the others, and to compare with. */
#include "isolation/codes_kernel.h"
#include "isolation/lanes_portable.h"

enum { COORDINATES = 2 };

LANES_INLINE ints ints_dot(ints sum, ints x, ints c) {
    return ints_dot2(sum, x, c);
}

#include "isolation/kernel_u8_body.h"

const ikt_codes_kernel ikt_kernel_u8_portable = {.name = "uint8 portable",
                                                 .isa = IKT_ISA_PORTABLE,
                                                 .is_u8 = true,
                                                 .rows = BLOCK_ROWS,
                                                 .per_word = COORDINATES,
                                                 .multiple = 1,
                                                 .assign = assign,
                                                 .score = score};
