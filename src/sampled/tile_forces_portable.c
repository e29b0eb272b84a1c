/* The forces on a tile in plain C, and the choice among the instruction sets. */
#include "sampled/tile_forces.h"

#define LANE_WIDTH 4
#include "base/lanes.h"
#include "sampled/tile_forces_body.h"

TARGET void ikt_tile_forces_portable(const ikt_tile_job *job) {
    tile_forces_chosen(job);
}

ikt_tile_forces *ikt_tile_forces_for(ikt_isa isa) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512) return ikt_tile_forces_avx512;
    if (isa == IKT_ISA_AVX2) return ikt_tile_forces_avx2;
#endif
    (void)isa;
    return ikt_tile_forces_portable;
}
