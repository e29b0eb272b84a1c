/* The forces on a tile on AVX-512. */
#include "sampled/tile_forces.h"

#if defined(__x86_64__)
#define LANE_WIDTH 16
#include "base/lanes.h"
#include "sampled/edge_ends_body.h"
#include "sampled/tile_forces_body.h"

const ikt_tile_kernel ikt_tile_kernel_avx512 = {forces, ends};
#endif
