/* The forces on a tile in plain C, and the choice among the instruction sets. */
#include "sampled/tile_forces.h"

#define LANE_WIDTH 4
#include "base/lanes.h"
#include "sampled/edge_ends_body.h"
#include "sampled/tile_forces_body.h"

const ikt_tile_kernel ikt_tile_kernel_portable = {forces, ends};

const ikt_tile_kernel *ikt_tile_kernel_for(ikt_isa isa) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512) return &ikt_tile_kernel_avx512;
    if (isa == IKT_ISA_AVX2) return &ikt_tile_kernel_avx2;
#endif
    (void)isa;
    return &ikt_tile_kernel_portable;
}
