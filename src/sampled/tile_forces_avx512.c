/* The forces on a tile on AVX-512. */
#include "sampled/tile_forces.h"

#if defined(__x86_64__)
#define LANE_WIDTH 16
#include "base/lanes.h"
#include "sampled/tile_forces_body.h"

TARGET void ikt_tile_forces_avx512(const ikt_tile_job *job) {
    tile_forces_chosen(job);
}
#endif
