/* The uint8 kernel on AVX-512 with VNNI: four products a lane in one instruction. */
#include "isolation/codes_kernel.h"

#if defined(__x86_64__)
#define LANE_WIDTH 16
#define LANES_VNNI
#include "isolation/kernel_body.h"

const ikt_codes_kernel ikt_kernel_u8_vnni = U8_KERNEL("uint8 avx512_vnni", IKT_ISA_AVX512_VNNI);
const ikt_codes_kernel ikt_kernel_u8_l1_vnni =
    U8_L1_KERNEL("uint8 manhattan avx512_vnni", IKT_ISA_AVX512_VNNI);
#endif
