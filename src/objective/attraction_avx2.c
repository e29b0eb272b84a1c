/* The attraction kernels on AVX2. */
#include "objective/attraction.h"

#if defined(__x86_64__)
#define LANE_WIDTH 8
#include "base/lanes.h"
#include "objective/attraction_body.h"

const ikt_attraction_kernel ikt_attraction_avx2 = {sparse, dense};
#endif
