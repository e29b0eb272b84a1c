/* The kernels in plain C: for processors without the others, and to compare with. */
#include "isolation/codes_kernel.h"

#define LANE_WIDTH 4
#include "isolation/kernel_body.h"

const ikt_codes_kernel ikt_kernel_f32_portable = F32_KERNEL("float32 portable", IKT_ISA_PORTABLE);
const ikt_codes_kernel ikt_kernel_u8_portable = U8_KERNEL("uint8 portable", IKT_ISA_PORTABLE);
const ikt_codes_kernel ikt_kernel_f32_l1_portable =
    F32_L1_KERNEL("float32 manhattan portable", IKT_ISA_PORTABLE);
const ikt_codes_kernel ikt_kernel_u8_l1_portable =
    U8_L1_KERNEL("uint8 manhattan portable", IKT_ISA_PORTABLE);
