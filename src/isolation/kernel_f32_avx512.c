/* The float32 kernel on AVX-512. */
#include "isolation/codes_kernel.h"

#if defined(__x86_64__)
#include "isolation/lanes_avx512.h"

#include "isolation/kernel_f32_body.h"

const ikt_codes_kernel ikt_kernel_f32_avx512 = {.name = "float32 avx512",
                                                .isa = IKT_ISA_AVX512,
                                                .rows = BLOCK_ROWS,
                                                .per_word = 1,
                                                .multiple = 1,
                                                .assign = assign,
                                                .score = score};
#endif
