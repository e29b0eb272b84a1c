/* The filter on AVX2. See filter.h. */
#include "metric/filter.h"

#if defined(__x86_64__)
#define LANE_WIDTH 8
#include "metric/filter_body.h"

const ikt_filter_kernel ikt_filter_avx2 = {block, thin};
#endif
