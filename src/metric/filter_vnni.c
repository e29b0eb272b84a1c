/* The filter on AVX-512 with VNNI: two products a lane in one instruction. See filter.h. */
#include "metric/filter.h"

#if defined(__x86_64__)
#define LANE_WIDTH 16
#define LANES_VNNI
#include "metric/filter_body.h"

const ikt_filter_kernel ikt_filter_vnni = {block, thin};
#endif
