/* The forces on a tile on AVX2. */
#include "sampled/tile_forces.h"

#if defined(__x86_64__)
#define LANE_WIDTH 8
#include "base/lanes.h"
#include "sampled/tile_forces_body.h"

TARGET void ikt_tile_forces_avx2(const ikt_tile_job *job) {
    tile_forces_chosen(job);
}
#endif
