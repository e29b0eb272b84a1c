/* The float32 kernel in plain C: for processors without the others, and to compare with. */
#include "isolation/codes_kernel.h"
#include "isolation/lanes_portable.h"

#include "isolation/kernel_f32_body.h"

const ikt_codes_kernel ikt_kernel_f32_portable = {.name = "float32 portable",
                                                  .isa = IKT_ISA_PORTABLE,
                                                  .rows = BLOCK_ROWS,
                                                  .per_word = 1,
                                                  .multiple = 1,
                                                  .assign = assign,
                                                  .score = score};
