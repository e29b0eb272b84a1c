/* The uint8 kernel on AVX-512 with VNNI: four products a lane in one instruction. */
#include "isolation/codes_kernel.h"

#if defined(__x86_64__)
#include "isolation/lanes_avx512.h"

enum { COORDINATES = 4 };

#undef TARGET
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

/* Written as assembly because GCC 12 takes the intrinsic for a call that could look at memory, and
 * stores all sums at every step: half the rate. */
LANES_INLINE ints ints_dot(ints sum, ints x, ints c) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(c));
    return sum;
}

#include "isolation/kernel_u8_body.h"

const ikt_codes_kernel ikt_kernel_u8_vnni = {.name = "uint8 avx512_vnni",
                                             .isa = IKT_ISA_AVX512_VNNI,
                                             .is_u8 = true,
                                             .rows = BLOCK_ROWS,
                                             .per_word = COORDINATES,
                                             .multiple = 1,
                                             .assign = assign,
                                             .score = score};
#endif
