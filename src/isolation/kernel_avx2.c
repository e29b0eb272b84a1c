/* The kernels on AVX2, uint8 with two 16-bit products a lane. */
#include "isolation/codes_kernel.h"

#if defined(__x86_64__)
#define LANE_WIDTH 8
#include "isolation/kernel_body.h"

const ikt_codes_kernel ikt_kernel_f32_avx2 = F32_KERNEL("float32 avx2", IKT_ISA_AVX2);
const ikt_codes_kernel ikt_kernel_u8_avx2 = U8_KERNEL("uint8 avx2", IKT_ISA_AVX2);
const ikt_codes_kernel ikt_kernel_f32_l1_avx2 =
    F32_L1_KERNEL("float32 manhattan avx2", IKT_ISA_AVX2);
const ikt_codes_kernel ikt_kernel_u8_l1_avx2 = U8_L1_KERNEL("uint8 manhattan avx2", IKT_ISA_AVX2);
#endif
