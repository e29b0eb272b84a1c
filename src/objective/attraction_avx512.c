/* The attraction kernels on AVX-512. */
#include "objective/attraction.h"

#if defined(__x86_64__)
#define LANE_WIDTH 16
#include "base/lanes.h"
#include "objective/attraction_body.h"

const ikt_attraction_kernel ikt_attraction_avx512 = {sparse, dense};
#endif
